"""``sessions edit``: another answer, an exchange more or less, rules; or all of it in an editor."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import click

from workbench.cli import output
from workbench.cli.sessions.files import must_be_new
from workbench.cli.sessions.frames import connection_number
from workbench.cli.sessions.verifying import checked_lines
from workbench.errors import EXIT_OK, RecordingError, UsageError


@click.command()
@click.argument("file")
@click.option(
    "--answer",
    "answers",
    type=(click.IntRange(1), str),
    multiple=True,
    metavar="N JSON",
    help="Give the request N this result.",
)
@click.option(
    "--error",
    "errors",
    type=(click.IntRange(1), str),
    multiple=True,
    metavar="N JSON",
    help="Give the request N this error.",
)
@click.option(
    "--set",
    "sets",
    type=(click.IntRange(1), str, str),
    multiple=True,
    metavar="N POINTER JSON",
    help="Put this in a place of the frame N.",
)
@click.option(
    "--drop",
    "drops",
    type=click.IntRange(1),
    multiple=True,
    metavar="N",
    help="Drop the exchange of frame N.",
)
@click.option(
    "--add",
    "adds",
    type=(str, str, str),
    multiple=True,
    metavar="METHOD PARAMS RESULT",
    help="Add a request and its result.",
)
@click.option(
    "--add-error",
    "failures",
    type=(str, str, str),
    multiple=True,
    metavar="METHOD PARAMS ERROR",
    help="Add a request and its error.",
)
@click.option(
    "--after", type=click.IntRange(0), metavar="N", help="Add after frame N; at the end by default."
)
@click.option(
    "--match-ignore",
    "ignores",
    multiple=True,
    metavar="[METHOD[:NAME]=]POINTER",
    help="Keep a rule: mock servers leave this place in params out.",
)
@click.option(
    "--correlate",
    "follows",
    multiple=True,
    metavar="FROM=TO",
    help="Keep a rule: follow a value from one place to another.",
)
@click.option(
    "--no-correlate", "nevers", multiple=True, metavar="POINTER", help="Keep a rule: follow none from there."
)
@click.option(
    "--no-match-ignore", "forgotten", multiple=True, metavar="RULE", help="Keep such a rule no more."
)
@click.option(
    "-o", "--output", "target", metavar="OUT", help="Write to this new file, and leave FILE as it is."
)
def edit(
    file: str,
    answers: tuple[tuple[int, str], ...],
    errors: tuple[tuple[int, str], ...],
    sets: tuple[tuple[int, str, str], ...],
    drops: tuple[int, ...],
    adds: tuple[tuple[str, str, str], ...],
    failures: tuple[tuple[str, str, str], ...],
    after: int | None,
    ignores: tuple[str, ...],
    follows: tuple[str, ...],
    nevers: tuple[str, ...],
    forgotten: tuple[str, ...],
    target: str | None,
) -> int:
    """Change what a recording answers.

    N is the number of a frame as `sessions frames` shows it; all are those from before the edit. What is
    changed, and what is added, is marked as such. Without any of these options the text form opens in
    $VISUAL or $EDITOR. Tells whether the recording still replays; nothing is written that could not be
    read again.
    """
    from workbench.edit import Asked, apply, edit_of
    from workbench.keep import check
    from workbench.replay.correlate import KEPT_FOLLOW, KEPT_NEVER, NO_RULES
    from workbench.replay.matching import KEPT_IGNORE, parse_ignore
    from workbench.store.library import resolve
    from workbench.store.reader import Reader

    if target is not None:
        must_be_new(target)
    selection = resolve(file)
    for text in ignores:
        parse_ignore(text)
    correlations = [*((KEPT_FOLLOW, each) for each in follows), *((KEPT_NEVER, each) for each in nevers)]
    NO_RULES.and_kept(correlations)
    asked = Asked(
        sets,
        answers,
        errors,
        drops,
        [(*each, False) for each in adds] + [(*each, True) for each in failures],
        after,
        [*((KEPT_IGNORE, text) for text in ignores), *correlations],
        frozenset((KEPT_IGNORE, text) for text in forgotten),
    )
    if asked == Asked(after=after, adds=[], rules=[]):
        written = _in_editor(selection.path, target)
        if written is None:
            output.note("nothing was changed")
            return EXIT_OK
    else:
        with Reader.open(selection.path, session=selection.session) as reader:
            unknown = sorted(asked.forgotten - set(reader.rules()))
            if unknown:
                raise UsageError(f"no rule {unknown[0][1]} is kept with it; they are listed by sessions show")
            names = {row.number: row.name for row in reader.connections()}
            change = edit_of(reader, asked, connection_number(names, selection.connection))
            change = change._replace(session=reader.place)
        written = apply(selection.path, change, target)
    output.note(f"wrote {written}")
    for line in checked_lines(check(written, selection.session)):
        output.line(line)
    return EXIT_OK


def _in_editor(path: str, target: str | None) -> str | None:
    """Let the user change the text form; what was written, ``None`` if nothing was changed."""
    from workbench.edit import by_hand, text_of

    command = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not command or not sys.stdin.isatty():
        raise UsageError("say what to change (see sessions edit --help), or set EDITOR and use a terminal")
    before = text_of(path)
    made, place = tempfile.mkstemp(suffix=".jsonl", prefix="mcp-workbench-edit-")
    with os.fdopen(made, "wb") as out:
        out.write(before)
    status = _run(command, place)
    if status:
        raise UsageError(
            f"{command} ended with status {status}; nothing was changed ({place} is what it left)"
        )
    with open(place, "rb") as file:
        lines = file.read()
    if lines == before:
        os.remove(place)
        return None
    try:
        written = by_hand(path, lines, before, target)
    except RecordingError as error:
        raise RecordingError(f"{error} What you wrote is in {place}; {path} is as it was.") from None
    os.remove(place)
    return written


def _run(command: str, place: str) -> int:
    import shlex

    try:
        return subprocess.run([*shlex.split(command), place], check=False).returncode
    except (OSError, ValueError) as error:
        raise UsageError(f"{command} cannot be started ({error}); set EDITOR to another editor") from None
