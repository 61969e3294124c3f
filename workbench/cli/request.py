"""``request`` and its shorthands ``call``, ``read``, ``prompt`` and ``complete``."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import click

from workbench.cli import output
from workbench.cli.arguments import arguments_text, object_text, strings_text
from workbench.cli.live import json_option, record_option, with_connection
from workbench.cli.targets import TargetCommand, target_line
from workbench.core.jsonrpc import dumps
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.session import Session
    from workbench.wire.connection import Connection

#: Makes the params' JSON text, when the connection is ready.
Params = Callable[["Connection"], Awaitable[str | None]]

#: Lines of a server's stderr that are told when it cannot be used.
LAST_WORDS = 5

#: Shorthands that ``request`` takes in place of a method.
_SHORTHANDS = ("call", "read", "prompt", "complete")


@click.command(cls=TargetCommand)
@click.argument("method")
@click.argument("params", nargs=-1)
@json_option
@record_option
@click.pass_context
def request(
    ctx: click.Context, method: str, params: tuple[str, ...], as_json: bool, record: str | None
) -> int:
    """Send any request and show its answer.

    METHOD is sent as it is, PARAMS is one JSON object, sent as it stands (- reads it from stdin).
    `request call NAME k=v`, `request read URI`, `request prompt NAME k=v` and `request complete …`
    are the same as the commands of those names.
    """
    if method in _SHORTHANDS:
        return _shorthand(ctx, method, params, as_json, record)
    if len(params) > 1:
        raise UsageError("PARAMS must be one word; quote it for the shell, as in '{\"a\": 1}'")
    text = object_text(sys.stdin.read() if params[0] == "-" else params[0], "PARAMS") if params else None
    return _send(ctx, method, _fixed(text), as_json, record)


def _shorthand(
    ctx: click.Context, name: str, words: tuple[str, ...], as_json: bool, record: str | None
) -> int:
    command = {"call": call, "read": read, "prompt": prompt, "complete": complete}[name]
    if not words:
        raise UsageError(f"{name} needs more: see mcp-workbench {name} --help")
    assert command.callback is not None
    given = {"read": {"uri": words[0]}, "complete": {"reference": words[0]}}.get(name, {"name": words[0]})
    if name == "read" and len(words) > 1:
        raise UsageError("read takes one URI; run it once for each resource")
    if name != "read":
        given["words" if name != "complete" else "typed"] = words[1:]  # type: ignore[assignment]
    status: int = ctx.invoke(command, **given, as_json=as_json, record=record)
    return status


@click.command(cls=TargetCommand)
@click.argument("name")
@click.argument("words", nargs=-1, metavar="[K=V|K:=JSON]…")
@json_option
@record_option
@click.pass_context
def call(ctx: click.Context, name: str, words: tuple[str, ...], as_json: bool, record: str | None) -> int:
    """Call a tool and show its result.

    K=V is sent as the tool's schema says: text as text, numbers with the digits as typed; an
    array may be given several times. K:=JSON is sent as it stands. The exit status is 5 when the
    tool reports an error.
    """

    async def params(connection: Connection) -> str:
        # The schema is needed only where it decides how a value is written.
        schema = await _input_schema(connection, name) if any(":=" not in word for word in words) else None
        return f'{{"name":{dumps(name)},"arguments":{arguments_text(words, schema)}}}'

    return _send(ctx, "tools/call", params, as_json, record)


async def _input_schema(connection: Connection, name: str) -> dict[str, object] | None:
    from workbench.errors import WorkbenchError

    try:
        tools = await connection.list("tools/list")
    except WorkbenchError:
        return None
    for tool in tools:
        if tool.get("name") == name and isinstance(tool.get("inputSchema"), dict):
            schema: dict[str, object] = tool["inputSchema"]
            return schema
    return None


@click.command(cls=TargetCommand)
@click.argument("uri")
@json_option
@record_option
@click.pass_context
def read(ctx: click.Context, uri: str, as_json: bool, record: str | None) -> int:
    """Read a resource and show its contents."""
    return _send(ctx, "resources/read", _fixed(f'{{"uri":{dumps(uri)}}}'), as_json, record)


@click.command(cls=TargetCommand)
@click.argument("name")
@click.argument("words", nargs=-1, metavar="[K=V]…")
@json_option
@record_option
@click.pass_context
def prompt(ctx: click.Context, name: str, words: tuple[str, ...], as_json: bool, record: str | None) -> int:
    """Get a prompt and show its messages."""
    arguments = f',"arguments":{strings_text(words)}' if words else ""
    return _send(ctx, "prompts/get", _fixed(f'{{"name":{dumps(name)}{arguments}}}'), as_json, record)


@click.command(cls=TargetCommand)
@click.argument("reference", metavar="PROMPT|TEMPLATE")
@click.argument("typed", nargs=-1, metavar="[K=V]… K=TYPED")
@json_option
@record_option
@click.pass_context
def complete(
    ctx: click.Context, reference: str, typed: tuple[str, ...], as_json: bool, record: str | None
) -> int:
    """Complete an argument of a prompt or a resource template.

    The last K=TYPED is completed, those before it are given as context. A reference with :// is a
    template, anything else a prompt.
    """
    if not typed:
        raise UsageError("what was typed is missing; write for example city=Lo")
    argument, _, value = typed[-1].partition("=")
    kind = (
        {"type": "ref/resource", "uri": reference}
        if "://" in reference
        else {"type": "ref/prompt", "name": reference}
    )
    context = f',"context":{{"arguments":{strings_text(typed[:-1])}}}' if typed[1:] else ""
    text = f'{{"ref":{dumps(kind)},"argument":{dumps({"name": argument, "value": value})}{context}}}'
    return _send(ctx, "completion/complete", _fixed(text), as_json, record)


def _fixed(text: str | None) -> Params:
    async def params(_connection: Connection) -> str | None:
        return text

    return params


def _send(ctx: click.Context, method: str, params: Params, as_json: bool, record: str | None) -> int:
    target = target_line(ctx).only()

    async def work(_session: Session, connection: Connection) -> int:
        from workbench.cli.exchange import exchange, failed_data
        from workbench.core.lifecycle import State
        from workbench.errors import ConnectionFailed

        try:
            await connection.ready()
        except ConnectionFailed as failure:
            if as_json:
                output.json_document(failed_data(method, connection.view, failure))
            if connection.view.state is not State.EXITED:  # its sentence has them already
                for _, words in connection.view.stderr[-LAST_WORDS:]:
                    output.note(f"stderr: {words}")
            raise
        return await exchange(connection, method, await params(connection), as_json)

    return with_connection(target, work, record)
