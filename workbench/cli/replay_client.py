"""``replay client FILE TARGET``: the recorded client once more, against a live server."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from workbench.cli import output
from workbench.cli.live import json_option, record_option, tell_recorded
from workbench.cli.targets import TargetCommand, target_line
from workbench.cli.verified import print_verification
from workbench.core.jsonrpc import dumps
from workbench.errors import EXIT_MISMATCH, EXIT_OK, ConnectionFailed, RecordingError, UsageError

if TYPE_CHECKING:
    from workbench.config import Target
    from workbench.replay.levels import Levels
    from workbench.replay.manner import Manner


#: Kinds of rules that are kept with a recording for those who verify with it.
COMPARE, IGNORE = "verify-compare", "verify-ignore"


@click.command(cls=TargetCommand)
@click.argument("file")
@click.option(
    "--compare",
    "levels",
    multiple=True,
    metavar="[METHOD[:NAME]=]LEVEL",
    help="How alike answers must be: exact (the default), shape (keys and types), schema (what the tool "
    "declares), status (result or error). For all, a method or one tool; may be repeated.",
)
@click.option(
    "--ignore",
    "ignores",
    multiple=True,
    metavar="[METHOD[:NAME]=]POINTER",
    help="Leave a place in answers out of the comparison (* is one level); may be repeated.",
)
@click.option(
    "--correlate",
    "follows",
    multiple=True,
    metavar="FROM=TO",
    help="Follow a value from a place in answers to a place in params; may be repeated.",
)
@click.option(
    "--no-correlate",
    "nevers",
    multiple=True,
    metavar="POINTER",
    help="Follow none from this place in answers (* is one level); may be repeated.",
)
@click.option(
    "--slower",
    type=click.FloatRange(min=1),
    metavar="TIMES",
    help="An answer that takes more than so many times as long as recorded (and 0.25 s more) disagrees.",
)
@click.option(
    "--timing",
    default="none",
    metavar="none|recorded|FACTOR",
    help="Wait before each message as long as the recorded client did, or so many times as long (0.1x); "
    "without it each goes as soon as what it depends on has come.",
)
@click.option(
    "--connection",
    "connections",
    multiple=True,
    metavar="NAME",
    help="Only this recorded connection (name or number); may be repeated.",
)
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="N=env:NAME",
    help="What stands for <redacted:N …> in what is sent: the value of this variable.",
)
@click.option("--update", is_flag=True, help="Write the new answers into FILE, which is a text form.")
@click.option("--report", metavar="FILE", help="Write what came of it as JSON.")
@click.option("--junit", metavar="FILE", help="Write it as JUnit XML.")
@json_option
@record_option
def client(
    file: str,
    levels: tuple[str, ...],
    ignores: tuple[str, ...],
    follows: tuple[str, ...],
    nevers: tuple[str, ...],
    slower: float | None,
    timing: str,
    connections: tuple[str, ...],
    secrets: tuple[str, ...],
    update: bool,
    report: str | None,
    junit: str | None,
    as_json: bool,
    record: str | None,
) -> int:
    """Send what a recorded client sent to a live server, and compare the answers.

    FILE is a recording in either form or a name in the store. All connections of its session go at
    once, in their recorded order: to one TARGET, or each to its own where there are as many (by
    --name, else in order). The exit status is 6 unless every answer agrees.
    """
    import anyio

    from workbench.cli.sessions.verifying import checked_lines
    from workbench.keep import check
    from workbench.replay.correlate import KEPT_FOLLOW, KEPT_NEVER, NO_RULES
    from workbench.session.updating import update_recording
    from workbench.session.verifying import Verifying
    from workbench.store.whole import read_whole

    for path in (report, junit, record):
        _must_be_writable(path)
    if record and os.path.exists(record):
        raise UsageError(f"{record} exists already; name a file that does not, or remove it")
    whole = read_whole(file, connections)
    if update:
        _must_be_text(whole.path)
    targets = spread(target_line(click.get_current_context()).targets, whole.names)
    given = [*((COMPARE, each) for each in levels), *((IGNORE, each) for each in ignores)]
    given += [*((KEPT_FOLLOW, each) for each in follows), *((KEPT_NEVER, each) for each in nevers)]
    rules = NO_RULES.and_kept([*whole.rules, *given])
    manner = _manner(next(iter(targets.values())), _levels([*whole.rules, *given]), secrets)
    manner = manner._replace(slower=slower, pace=pace(timing), correlations=rules)
    verifying = Verifying(whole, targets, manner)
    told = anyio.run(verifying.run, record)
    if record is not None:
        tell_recorded(record)
    value = told.value()
    write_report(report, dumps(value) + "\n")
    if junit is not None:
        from workbench.replay.junit import document

        write_report(junit, document([value]))
    if as_json:
        output.json_document(value)
    else:
        print_verification(told, whole.names, _shown(targets))
    if verifying.unreached:
        raise ConnectionFailed(verifying.unreached)
    agrees = told.agrees
    if update:
        new = [rule for rule in given if rule not in whole.rules]
        updated = update_recording(verifying, told, _shown(targets), new)
        output.note(f"{whole.path}: {updated.sentence}")
        if updated.taken:
            for line in checked_lines(check(whole.path, whole.session)):
                output.note(line)
        agrees = updated.whole
    return EXIT_OK if agrees else EXIT_MISMATCH


def spread(targets: Sequence[Target], names: Mapping[int, str]) -> dict[int, Target]:
    """Which target is whose. Raises ``UsageError`` where that is not clear."""
    if not targets:
        raise UsageError("no TARGET was given; put -- and the server's command at the end of the line")
    if len(targets) == 1:
        return dict.fromkeys(names, targets[0])
    named = {target.name: target for target in targets}
    if all(name in named for name in names.values()):
        return {number: named[name] for number, name in names.items()}
    if len(targets) == len(names):
        return dict(zip(names, targets, strict=True))
    raise UsageError(
        f"the recording has {len(names)} connections ({', '.join(names.values())}) and there are "
        f"{len(targets)} targets; give one for all, or each its own with --name"
    )


def _levels(rules: Sequence[tuple[str, str]]) -> Levels:
    """The rules kept with the recording, then those of the command line."""
    from workbench.replay.levels import Levels, parse_level
    from workbench.replay.matching import parse_ignore

    return Levels(
        [parse_level(text) for what, text in rules if what == COMPARE],
        [parse_ignore(text) for what, text in rules if what == IGNORE],
    )


def pace(text: str) -> float:
    """How many times as long as recorded is waited. Raises ``UsageError``."""
    if text in ("none", "recorded"):
        return float(text == "recorded")
    try:
        factor = float(text.removesuffix("x"))
    except ValueError:
        factor = math.nan
    if not 0 <= factor < math.inf:
        raise UsageError(f"--timing is none, recorded or a factor such as 0.1x, not {text}")
    return factor


def _manner(target: Target, levels: Levels, secrets: Sequence[str]) -> Manner:
    from workbench.core.policy import Policy
    from workbench.replay.manner import Manner
    from workbench.wire.eras import plain

    timeouts = target.timeouts
    return Manner(
        levels=levels,
        timeout=timeouts.request,
        maximum=timeouts.maximum,
        start=timeouts.start,
        secrets=dict(map(_secret, secrets)),
        policy=Policy(roots=[plain(root) for root in target.roots], rules=target.rules),
    )


def _secret(text: str) -> tuple[str, str]:
    number, _, source = text.partition("=")
    kind, _, name = source.partition(":")
    if not number.isdecimal() or kind != "env" or not name:
        raise UsageError(f"--secret {text}: write N=env:NAME, for example --secret 1=env:API_TOKEN")
    value = os.environ.get(name)
    if not value:
        raise UsageError(f"--secret {text}: the variable {name} is not set; set it, or name another")
    return number, value


def _shown(targets: Mapping[int, Target]) -> str:
    from workbench.config import display

    return ", ".join(dict.fromkeys(map(display, targets.values())))


def _must_be_writable(path: str | None) -> None:
    folder = os.path.dirname(os.path.abspath(path or "."))
    if not os.path.isdir(folder):
        raise UsageError(f"the folder {folder} does not exist; make it first")


def _must_be_text(path: str) -> None:
    from workbench.store.formats.revising import is_text_form

    if not is_text_form(path):
        raise UsageError(
            f"--update needs a text form, and {path} is none; make one with "
            f"mcp-workbench sessions export {path} -o FILE.jsonl"
        )


def write_report(path: str | None, text: str) -> None:
    """Write a report, if it is wanted. Raises ``RecordingError``."""
    if path is None:
        return
    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as out:
            out.write(text)
    except OSError as error:
        raise RecordingError(
            f"The report {path} cannot be written ({error.strerror}); choose another place."
        ) from None
