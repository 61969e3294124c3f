"""``probe``: connect, list everything, disconnect, and tell all of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli import output
from workbench.cli.live import json_option, record_option, with_connection
from workbench.cli.targets import TargetCommand, target_line

if TYPE_CHECKING:
    from workbench.session import Session
    from workbench.wire.connection import Connection


@click.command(cls=TargetCommand)
@json_option
@record_option
@click.pass_context
def probe(ctx: click.Context, as_json: bool, record: str | None) -> int:
    """Connect to a server and tell what it is and has.

    Shows the lifecycle from start to shutdown with its times, the capabilities of both sides,
    the tools, resources, templates and prompts with their arguments, and the rules of the protocol
    that the messages of either side break, each with its source.
    """
    target = target_line(ctx).only()

    async def work(_session: Session, connection: Connection) -> int:
        from workbench.cli.report import as_data, print_report
        from workbench.errors import ConnectionFailed

        failure: ConnectionFailed | None = None
        try:
            await connection.ready()
            await connection.refresh()
        except ConnectionFailed as error:
            failure = error
        await connection.close()
        view = connection.view
        found = connection.findings
        remarks = list(connection.dealings.remarks)
        if as_json:
            data = as_data(view, found, ok=failure is None)
            output.json_document({**data, "remarks": remarks} if remarks else data)
        else:
            print_report(view, found)
            for remark in remarks:
                output.note(f"mcp-workbench: {remark}")
        if failure is not None:
            raise failure
        if view.why:
            output.note(f"mcp-workbench: {view.name}: {view.why} {view.next_step}".rstrip())
        return 0

    return with_connection(target, work, record, listing=True)
