"""``sessions copy``, ``export`` and ``import``: recordings from one file and form to another."""

from __future__ import annotations

import io
import os
import sys
from typing import cast

import click

from workbench.cli import output
from workbench.cli.sessions.verifying import checked_lines
from workbench.errors import UsageError


@click.command()
@click.argument("file")
@click.argument("target")
def copy(file: str, target: str) -> int:
    """Copy a recording, in whatever state it is.

    This is the safe way to take one that is being written, or whose writer was killed: the
    copy is closed and whole. A TARGET that ends in .jsonl gets the text form.
    """
    from workbench.store.copying import copy as copy_recording
    from workbench.store.library import resolve

    must_be_new(target)
    copy_recording(resolve(file).path, target)
    output.note(f"copied to {target}")
    return 0


@click.command()
@click.argument("file")
@click.option("-o", "--output", "target", metavar="OUT", help="Write to this file, not to stdout.")
def export(file: str, target: str | None) -> int:
    """Write a recording as text (JSON lines).

    The text form is made to be reviewed and kept in git. With -o the command says whether the
    recording replays.
    """
    from workbench.keep import check
    from workbench.store.copying import export as export_recording
    from workbench.store.library import resolve

    selection = resolve(file)
    if target is None:
        stdout = cast("io.TextIOWrapper", sys.stdout)
        stdout.reconfigure(encoding="utf-8", newline="\n")
        export_recording(selection.path, stdout, session=selection.session)
        return 0
    must_be_new(target)
    with open(target, "x", encoding="utf-8", newline="\n") as out:
        export_recording(selection.path, out, session=selection.session)
    output.note(f"exported to {target}")
    for line in checked_lines(check(target)):
        output.note(line)
    return 0


@click.command("import")
@click.argument("text")
@click.option("-o", "--output", "target", metavar="FILE", required=True, help="The recording to make.")
def import_text(text: str, target: str) -> int:
    """Make a recording from its text form.

    TEXT may be written by hand: times, numbers and all that follows from the frames may be missing.
    """
    from workbench.store.copying import import_file

    must_be_new(target)
    import_file(text, target)
    output.note(f"imported to {target}")
    return 0


def must_be_new(target: str) -> None:
    """Raise ``UsageError`` unless a file can be made there."""
    if os.path.exists(target):
        raise UsageError(f"{target} exists already; name another file, or remove it first")
    folder = os.path.dirname(os.path.abspath(target))
    if not os.path.isdir(folder):
        raise UsageError(f"the folder {folder} does not exist; make it first")
