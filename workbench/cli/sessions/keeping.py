"""``sessions keep``: a recording becomes a fixture of the current project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from workbench.cli import output
from workbench.cli.sessions.frames import connection_number
from workbench.cli.sessions.verifying import checked_data, checked_lines

if TYPE_CHECKING:
    from workbench.keep import Kept


@click.command()
@click.argument("session")
@click.argument("name")
@click.option("--connection", metavar="NAME", help="Keep only this connection (name or number).")
@click.option("--from", "first", type=click.IntRange(1), metavar="N", help="Keep from this frame on.")
@click.option("--to", "last", type=click.IntRange(1), metavar="N", help="Keep up to this frame.")
@click.option("--folder", default="sessions", metavar="DIR", help="Where to write it; sessions by default.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout, for programs.")
def keep(
    session: str,
    name: str,
    connection: str | None,
    first: int | None,
    last: int | None,
    folder: str,
    as_json: bool,
) -> int:
    """Keep a recording as a fixture.

    Writes sessions/NAME.jsonl of the current folder. SESSION is a FILE. Tells what was redacted in
    it, whether it replays, and how to use it. The handshake, and the answers to kept requests, come
    along with a part.
    """
    from workbench.keep import Part
    from workbench.keep import keep as keep_recording
    from workbench.store.library import resolve
    from workbench.store.reader import Reader

    selection = resolve(session)
    with Reader.open(selection.path, session=selection.session) as reader:
        names = {row.number: row.name for row in reader.connections()}
        number = connection_number(names, connection or selection.connection)
    kept = keep_recording(selection.path, name, Part(selection.session, number, first, last), folder)
    if as_json:
        output.json_document(_as_data(kept))
    else:
        _print(kept)
    return 0


def _as_data(kept: Kept) -> dict[str, Any]:
    from workbench.keep import uses

    return {
        "path": kept.path,
        "frames": kept.frames,
        "redacted": kept.redacted,
        "replays": kept.replays,
        "connections": [checked_data(each) for each in kept.checked],
        "uses": uses(kept.path),
    }


def _print(kept: Kept) -> None:
    from workbench.keep import uses

    output.line(f"kept {kept.frames} frames in {kept.path}")
    if kept.redacted:
        output.line("redacted:")
        rows = [(what, f"{times} times") for what, times in kept.redacted.items()]
        output.table(("", ""), rows, indent=2, header=False)
    else:
        output.line("nothing had to be redacted")
    for line in checked_lines(kept.checked):
        output.line(line)
    output.line("use it:")
    for line in uses(kept.path):
        output.line(f"  {line}")
