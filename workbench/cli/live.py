"""One live connection for the length of a command."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any

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
    status = anyio.run(_run, target, work, record, listing)
    if record:
        tell_recorded(record)
    return status


def tell_recorded(path: str) -> None:
    """Tell the person at a terminal where the session is, and whether it replays."""
    from workbench.cli.questions import on_a_terminal

    if not on_a_terminal():
        return
    from workbench.cli import output
    from workbench.cli.sessions.verifying import checked_lines
    from workbench.keep import check

    output.note(f"recorded to {path}")
    for line in checked_lines(check(path)):
        output.note(line)


async def _run(target: Target, work: Work, record: str | None, listing: bool) -> int:
    from workbench.cli.questions import attend, on_a_terminal
    from workbench.session.live import ANSWERABLE, Session

    held = ANSWERABLE if on_a_terminal() else ()
    async with Session.open(record=bool(record), path=record, origin="command", held=held) as session:
        connection = session.connect(target, listing=listing)
        if not held:
            return await work(session, connection)
        return await _beside(partial(work, session, connection), partial(attend, session, connection))


async def _beside(work: Callable[[], Awaitable[int]], other: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Do ``work`` while ``other`` goes on beside it; what it raises comes out as it is."""
    import anyio

    failure: Exception | None = None
    status = 0
    async with anyio.create_task_group() as group:
        group.start_soon(other)
        try:
            status = await work()
        except Exception as error:
            failure = error
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return status
