"""``sessions verify``: does a recording stand in for its server?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli import output
from workbench.cli.live import json_option
from workbench.cli.sessions.frames import connection_number
from workbench.errors import EXIT_MISMATCH, EXIT_OK

if TYPE_CHECKING:
    from workbench.keep import Checked


@click.command()
@click.argument("file")
@json_option
def verify(file: str, as_json: bool) -> int:
    """Replay a recording against itself.

    A client made of it talks to a server made of it, in this process: every frame of the server must
    come back as it was recorded, and every answer must be the recorded one. Nothing is started and
    nothing is sent. The exit status is 6 unless all of it does.
    """
    from workbench.keep import check
    from workbench.store.library import resolve
    from workbench.store.reader import Reader

    selection = resolve(file)
    with Reader.open(selection.path, session=selection.session) as reader:
        names = {row.number: row.name or str(row.number) for row in reader.connections()}
        only = connection_number(names, selection.connection)
        numbers = [reader.session] if selection.session else [row.number for row in reader.sessions()]
    checked = [
        each for number in numbers for each in check(selection.path, number) if only in (None, each.number)
    ]
    if as_json:
        output.json_document(
            {"path": selection.path, "connections": [checked_data(each) for each in checked]}
        )
    else:
        for line in checked_lines(checked):
            output.line(line)
    return EXIT_OK if all(each.verdict.whole for each in checked) else EXIT_MISMATCH


def checked_lines(checked: list[Checked] | tuple[Checked, ...]) -> list[str]:
    """Whether each connection replays, and what does not, in lines."""
    lines: list[str] = []
    for each in checked:
        lines.append(f"{each.connection} {each.verdict}")
        lines += [f"  {problem}" for problem in each.verdict.problems]
    return lines


def checked_data(each: Checked) -> dict[str, object]:
    """The same for programs."""
    return {
        "connection": each.connection,
        "whole": each.verdict.whole,
        "says": str(each.verdict),
        "frames": each.verdict.frames,
        "given": each.verdict.given,
        "problems": each.verdict.problems,
    }
