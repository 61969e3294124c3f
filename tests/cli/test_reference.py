"""The reference says what the program says."""

from __future__ import annotations

from tests.cli.reference import PAGE, command_lines, page
from workbench.cli.failures import STATUSES


def test_the_reference_is_the_programs_own_help() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "write it anew with: make docs"


def test_every_command_and_every_exit_status_is_in_the_reference() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for words in command_lines():
        assert f"## `{' '.join(['mcp-workbench', *words])}`" in text
    for number, says in STATUSES:
        assert f"{number}  {says[:20]}" in text
