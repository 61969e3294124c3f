"""The era on the command line: chosen, found out, and what a call in several rounds tells."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from tests.cli.command import workbench


def stateless(*odd: str) -> tuple[str, ...]:
    return ("--", sys.executable, "-m", "tests.servers.stateless", *odd)


@pytest.mark.parametrize(
    ("words", "server", "era", "revision"),
    [
        ((), stateless(), "modern", "2026-07-28"),
        (("--era", "auto"), stateless("legacy-only"), "legacy", "2025-11-25"),
        (("--era", "modern"), stateless("handshake"), "modern", "2026-07-28"),
        (("--era", "legacy"), stateless("handshake"), "legacy", "2025-11-25"),
        (("--protocol-version", "2025-06-18"), stateless("handshake"), "legacy", "2025-06-18"),
        (("--protocol-version", "2026-07-28"), stateless("handshake"), "modern", "2026-07-28"),
    ],
)
def test_a_server_is_probed_in_the_era_that_was_chosen_or_found(
    words: Any, server: Any, era: str, revision: str
) -> None:
    told = json.loads(workbench("probe", "--json", *words, *server).stdout)
    assert (told["ok"], told["era"], told["revision"]) == (True, era, revision)


def test_a_server_of_the_other_era_is_told_with_the_way_out() -> None:
    for era, odd, step in (("legacy", (), "--era modern"), ("modern", ("legacy-only",), "--era legacy")):
        done = workbench("call", "echo", "text=x", "--era", era, *stateless(*odd))
        assert done.returncode == 3
        assert step in done.stderr


def test_a_call_in_several_rounds_is_one_call_that_tells_of_them() -> None:
    rule = 'elicitation/create={"action":"accept","content":{"n":"x"}}'
    done = workbench("call", "ask", "who=Ann", "--json", "--answer", rule, *stateless())
    told = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert told["result"]["content"][0]["text"].startswith("two of Ann")
    assert [each["asked"] for each in told["rounds"]] == [
        [["name", "elicitation/create"], ["roots", "roots/list"]],
        [],
    ]


def test_a_call_that_asks_for_what_is_not_offered_ends_with_a_sentence() -> None:
    done = workbench("call", "ask", "who=Ann", "--no-capability", "roots", *stateless())
    assert done.returncode == 4
    assert "roots/list" in done.stderr
