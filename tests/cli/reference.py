"""Writes docs/reference.md from the command line's own help: ``python -m tests.cli.reference``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from tests.cli.command import workbench
from workbench.cli.program import COMMANDS, NAME, program

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference.md"

HEAD = """# Command reference

Made from the program's own `--help` with `make docs`; a test fails when the two differ.
"""

#: Columns of the help in the page, whatever terminal it was made in.
WIDTH = 90


def command_lines() -> Iterator[list[str]]:
    """The words of every command that has a help, groups before their members."""
    yield []
    context = click.Context(program)
    for name in COMMANDS:
        yield [name]
        command = program.get_command(context, name)
        if isinstance(command, click.Group):
            yield from ([name, inner] for inner in command.list_commands(context))


def page() -> str:
    """The whole page, as it should be."""
    parts = [HEAD]
    for words in command_lines():
        done = workbench(*words, "--help", env={"COLUMNS": str(WIDTH)})
        assert done.returncode == 0, f"{words}: {done.stderr}"
        parts.append(f"## `{' '.join([NAME, *words])}`\n\n```text\n{done.stdout.rstrip()}\n```\n")
    return "\n".join(parts)


def main() -> int:
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
