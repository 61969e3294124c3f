"""``sessions``: what was recorded, looked at, kept and passed on."""

from __future__ import annotations

import click

from workbench.cli.program import EXIT_STATUSES
from workbench.cli.sessions.editing import edit
from workbench.cli.sessions.files import copy, export, import_text
from workbench.cli.sessions.frames import frames
from workbench.cli.sessions.keeping import keep
from workbench.cli.sessions.listing import list_sessions, show
from workbench.cli.sessions.redacting import redact
from workbench.cli.sessions.verifying import verify


@click.group(
    epilog=f"""\b
FILE is a recording in either form (SQLite, or text as JSON lines), or the name of
a session in the store, or the beginning of one; "last" is the newest there.
FILE#n and FILE#NAME choose a session of a file that holds several, and
FILE#NAME/CONNECTION a connection of it.

{EXIT_STATUSES}"""
)
def sessions() -> None:
    """Recorded sessions: list, show, keep, verify, edit, redact, copy, export,
    import.

    The store is the folder that every session without a file of its own goes to
    (MCP_WORKBENCH_STORE names another one).
    """


for _command in (list_sessions, show, frames, keep, verify, edit, redact, copy, export, import_text):
    sessions.add_command(_command)
