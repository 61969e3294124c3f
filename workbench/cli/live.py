"""One live connection for the length of a command."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import click

from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.config import Target
    from workbench.session import Session
    from workbench.wire.connection import Connection

Work = Callable[["Session", "Connection"], Awaitable[int]]

#: What ``-o`` is on every command that talks to a server.
record_option = click.option(
    "-o",
    "--record",
    "record",
    metavar="FILE",
    help="Record the session to this file; without it nothing is kept.",
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="One JSON document on stdout, for programs."
)


def with_connection(target: Target, work: Work, record: str | None, *, listing: bool = False) -> int:
    """Run ``work`` on a connection that was begun and is closed afterwards, whatever happens.

    With ``listing`` the server's lists are read as soon as it is ready.
    """
    import anyio

    if record and os.path.exists(record):
        raise UsageError(f"{record} exists already; name a file that does not, or remove it")
    return anyio.run(_run, target, work, record, listing)


async def _run(target: Target, work: Work, record: str | None, listing: bool) -> int:
    from workbench.session import Session

    async with Session.open(record=bool(record), path=record, origin="command") as session:
        connection = session.connect(target, listing=listing)
        return await work(session, connection)
