"""``sessions redact``: a copy of a recording without secrets, and what they were."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from workbench.cli import output
from workbench.cli.live import json_option
from workbench.cli.sessions.files import must_be_new
from workbench.errors import EXIT_MISMATCH, EXIT_OK, UsageError

if TYPE_CHECKING:
    from workbench.core.redact import Redactor
    from workbench.store.redact import Redacted


@click.command()
@click.argument("recording")
@click.option("-o", "--output", "target", metavar="COPY", help="Write a copy without them.")
@click.option(
    "--secret",
    "secrets",
    multiple=True,
    metavar="env:NAME",
    help="Look for the value of this variable too (8 characters or more).",
)
@click.option("--pattern", "patterns", multiple=True, metavar="REGEX", help="Look for what matches this too.")
@json_option
def redact(
    recording: str, target: str | None, secrets: tuple[str, ...], patterns: tuple[str, ...], as_json: bool
) -> int:
    """Look for secrets in a recording, and take them out of a copy.

    RECORDING is a FILE, and is never changed. Tells what would be redacted and where, by placeholder and
    JSON pointer, never the secret itself. Without -o nothing is written, and the exit status is 6 if
    there is anything to redact. A COPY that ends in .jsonl gets the text form.
    """
    from workbench.store.library import resolve
    from workbench.store.redact import redact as redact_recording

    if target is not None:
        must_be_new(target)
    redacted = redact_recording(resolve(recording).path, _redactor(secrets, patterns), target)
    if as_json:
        output.json_document(
            {
                "path": target,
                "found": redacted.found,
                "places": [place._asdict() for place in redacted.places],
            }
        )
    else:
        _print(redacted, target)
    return EXIT_MISMATCH if redacted.places and target is None else EXIT_OK


def _redactor(secrets: tuple[str, ...], patterns: tuple[str, ...]) -> Redactor:
    import re

    from workbench.config.redaction import own_redactor

    redactor = own_redactor()
    for given in secrets:
        name = given.removeprefix("env:")
        value = os.environ.get(name, "")
        if name == given:
            raise UsageError("--secret takes env:NAME, so that no secret stands on a command line")
        if not redactor.add_value(name, value):
            raise UsageError(f"the variable {name} is not set, or shorter than 8 characters; set it first")
    for pattern in patterns:
        try:
            redactor.add_pattern(pattern)
        except re.error as error:
            raise UsageError(f"--pattern {pattern!r} is no regular expression: {error}; correct it") from None
    return redactor


def _print(redacted: Redacted, target: str | None) -> None:
    several = len({place.session for place in redacted.places}) > 1
    rows = [
        (
            f"{f'session {place.session} ' if several else ''}{place.what} {place.number}",
            place.pointer,
            place.placeholder,
        )
        for place in redacted.places
    ]
    if rows:
        output.table(("where", "at", "what"), rows)
        kinds = ", ".join(f"{label} {times}×" for label, times in sorted(redacted.found.items()))
        output.line(f"{len(rows)} places {'redacted' if target else 'to redact'}: {kinds}")
    else:
        output.line("nothing to redact")
    if target is not None:
        output.note(f"the copy is {target}")
