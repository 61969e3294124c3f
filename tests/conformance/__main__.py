"""``make conformance``: run the official suite offline and print every verdict.

First our client, then what stands between: the suite's server scenarios against
a fixture that passes them, without the stand-in and with it (``between``), which
must come to the same.

For a client the suite starts a mock server for each scenario and our client
(``tests.conformance.client``) against it, and judges what it saw on the wire.
The exit status is 0 when every required scenario passes, and no server scenario
comes to anything else with the stand-in. Scenarios of extensions are run and
listed, and do not count. Words after the command are the scenarios to run.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from tests.conformance import between
from tests.peers.install import CONFORMANCE, PeerUnavailable, node_folder, npm_folder

ROOT = Path(__file__).resolve().parents[2]

REVISIONS = ("2025-11-25", "2026-07-28")

#: How many server scenarios may go otherwise against a mock made of a recording of them.
MOCK_DIFFERS = {"2025-11-25": 1, "2026-07-28": 2}

#: How long the suite waits for our client (milliseconds); machines may be slow.
PATIENCE_MS = 60_000

_REQUIRED = "required"
_NOT_SCORED = "not scored"


class Verdict(NamedTuple):
    """How a scenario went: ``passed``, ``failed`` or ``skipped``, and the suite's own words."""

    scenario: str
    revision: str
    required: bool
    word: str
    checks: str


def main(chosen: list[str]) -> int:
    try:
        script = npm_folder("conformance", CONFORMANCE) / "node_modules" / "@modelcontextprotocol"
        suite = [str(node_folder() / "node"), str(script / "conformance" / "dist" / "index.js")]
    except PeerUnavailable as trouble:
        print(trouble, file=sys.stderr)
        return 1
    verdicts = []
    for revision in REVISIONS:
        for scenario, required in scenarios(suite, revision):
            if not chosen or scenario in chosen:
                verdict = run(suite, scenario, revision, required)
                print(f"{verdict.word:8} {revision} {scenario} {verdict.checks}", file=sys.stderr, flush=True)
                verdicts.append(verdict)
    many = False
    beside = list(between.run(suite, REVISIONS, chosen))
    Console().print(table(verdicts))
    Console().print(table_between(beside))
    failed = [each for each in verdicts if each.required and each.word != "passed"]
    print(sentence(verdicts, failed))
    for revision, most in MOCK_DIFFERS.items():
        unlike = [
            each.scenario for each in beside if each.revision == revision and each.mocked != each.without
        ]
        print(
            f"{len(unlike)} of {revision} differ against the mock (at most {most}): {', '.join(unlike) or 'none'}."
        )
        many = many or len(unlike) > most
    wrong = [each for each in beside if not (each.passes and each.agrees)]
    print(
        f"{len(beside) - len(wrong)} required server scenarios passed, with the same outcome of each check with "
        f"the stand-in between as without; {len(wrong)} did not."
    )
    return 1 if failed or wrong or many or not (verdicts or beside) else 0


def sentence(verdicts: list[Verdict], failed: list[Verdict]) -> str:
    """What it comes to."""
    passed = sum(each.required and each.word == "passed" for each in verdicts)
    others = [each for each in verdicts if not each.required]
    good = sum(each.word == "passed" for each in others)
    return (
        f"{passed} required scenarios passed, {len(failed)} failed; "
        f"{good} of {len(others)} that are not scored passed."
    )


def scenarios(suite: list[str], revision: str) -> list[tuple[str, bool]]:
    """The client scenarios of a revision, and whether each is required."""
    told = subprocess.run(
        [*suite, "list", "--requirements", revision], capture_output=True, text=True, check=True
    ).stdout
    required, _, rest = told.partition("Client scenarios")[2].partition("Run and reported")
    names = [(name, True) for name in re.findall(r"^\s+- (\S+)", required, re.MULTILINE)]
    return names + [(name, False) for name in re.findall(r"^\s+- (\S+) \[client\]", rest, re.MULTILINE)]


def run(suite: list[str], scenario: str, revision: str, required: bool) -> Verdict:
    """Run one scenario. Our client's own exit status counts, as the suite has it for one scenario."""
    client = f"{sys.executable} -m tests.conformance.client"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                *(*suite, "client", "--command", client, "--scenario", scenario),
                *("--spec-version", revision, "--timeout", str(PATIENCE_MS), "-o", folder),
                # Extensions belong to no revision.
                *(() if required else ("--force",)),
            ],
            capture_output=True,
            text=True,
            cwd=ROOT,
            check=False,
        )
    told = done.stdout + done.stderr
    if "OVERALL: PASSED" in told and done.returncode == 0:
        word = "passed"
    else:
        word = "skipped" if "OVERALL: SKIPPED" in told or "\nSKIPPED: " in f"\n{told}" else "failed"
    return Verdict(scenario, revision, required, word, checks(told))


def checks(told: str) -> str:
    """How many of the suite's checks passed, or the last thing it said."""
    counted = re.findall(r"Passed: \S+, \d+ failed, \d+ warnings?", told)
    return counted[-1] if counted else "".join(told.strip().splitlines()[-1:])[:80]


def table(verdicts: list[Verdict]) -> Table:
    """All verdicts, for a terminal or a log."""
    drawn = Table("revision", "scenario", "counts", "verdict", "checks", box=None)
    for each in verdicts:
        counts = _REQUIRED if each.required else _NOT_SCORED
        drawn.add_row(each.revision, each.scenario, counts, each.word, each.checks)
    return drawn


def table_between(beside: list[between.Outcomes]) -> Table:
    """The scenarios, and which checks did not come to the same."""
    drawn = Table(
        "revision", "server scenario", "the fixture", "with the stand-in", "the mock", "checks", box=None
    )
    for each in beside:
        same = [
            f"otherwise: {', '.join(names)}" if (names := each.differing(other)) else "the same"
            for other in (each.between, each.mocked)
        ]
        fixture = "passed" if each.passes else "failed"
        drawn.add_row(each.revision, each.scenario, fixture, *same, str(len(each.without)))
    return drawn


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
