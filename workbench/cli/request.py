"""``request`` and its shorthands ``call``, ``read``, ``prompt`` and ``complete``."""

from __future__ import annotations

import functools
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

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

#: What makes a task of a request ("Tasks", 2025-11-25), on every command that sends one.
_task_option = click.option(
    "--task",
    is_flag=True,
    help="Ask the server to make it a task, follow that and show its result; ctrl-C cancels it.",
)
_ttl_option = click.option(
    "--task-ttl",
    "ttl",
    type=click.FloatRange(min=0),
    metavar="S",
    help="The same, and ask it to keep the task for so many seconds.",
)


class Sending(NamedTuple):
    """How a request is sent and its answer shown."""

    as_json: bool
    record: str | None
    task: bool = False
    ttl: float | None = None


def _sending(command: Callable[..., int]) -> Callable[..., int]:
    """The options of every command that sends a request, given to it as one ``Sending``."""

    @json_option
    @record_option
    @_task_option
    @_ttl_option
    @functools.wraps(command)
    def with_options(
        *args: Any, as_json: bool, record: str | None, task: bool, ttl: float | None, **given: Any
    ) -> int:
        how = Sending(as_json, record, task or ttl is not None, ttl)
        return command(*args, how=how, **given)

    return with_options


#: Shorthands that ``request`` takes in place of a method.
_SHORTHANDS = ("call", "read", "prompt", "complete")


@click.command(cls=TargetCommand)
@click.argument("method")
@click.argument("params", nargs=-1)
@_sending
def request(method: str, params: tuple[str, ...], how: Sending) -> int:
    """Send any request and show its answer.

    METHOD is sent as it is, PARAMS is one JSON object, sent as it stands (- reads it from stdin).
    `request call NAME k=v`, `request read URI`, `request prompt NAME k=v` and `request complete …`
    are the same as the commands of those names.
    """
    if method in _SHORTHANDS:
        return _shorthand(method, params, how)
    if len(params) > 1:
        raise UsageError("PARAMS must be one word; quote it for the shell, as in '{\"a\": 1}'")
    text = object_text(sys.stdin.read() if params[0] == "-" else params[0], "PARAMS") if params else None
    return _send(method, _fixed(text), how)


def _shorthand(name: str, words: tuple[str, ...], how: Sending) -> int:
    if not words:
        raise UsageError(f"{name} needs more: see mcp-workbench {name} --help")
    if name == "read" and len(words) > 1:
        raise UsageError("read takes one URI; run it once for each resource")
    first, rest = words[0], words[1:]
    if name == "read":
        return _read(first, how)
    return {"call": _call, "prompt": _prompt, "complete": _complete}[name](first, rest, how)


@click.command(cls=TargetCommand)
@click.argument("name")
@click.argument("words", nargs=-1, metavar="[K=V|K:=JSON]…")
@_sending
def call(name: str, words: tuple[str, ...], how: Sending) -> int:
    """Call a tool and show its result.

    K=V is sent as the tool's schema says: text as text, numbers with the digits as typed; an
    array may be given several times. K:=JSON is sent as it stands. The exit status is 5 when the
    tool reports an error.
    """
    return _call(name, words, how)


def _call(name: str, words: tuple[str, ...], how: Sending) -> int:
    async def params(connection: Connection) -> str:
        # The schema is needed only where it decides how a value is written.
        schema = await _input_schema(connection, name) if any(":=" not in word for word in words) else None
        return f'{{"name":{dumps(name)},"arguments":{arguments_text(words, schema)}}}'

    return _send("tools/call", params, how)


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
@_sending
def read(uri: str, how: Sending) -> int:
    """Read a resource and show its contents."""
    return _read(uri, how)


def _read(uri: str, how: Sending) -> int:
    return _send("resources/read", _fixed(f'{{"uri":{dumps(uri)}}}'), how)


@click.command(cls=TargetCommand)
@click.argument("name")
@click.argument("words", nargs=-1, metavar="[K=V]…")
@_sending
def prompt(name: str, words: tuple[str, ...], how: Sending) -> int:
    """Get a prompt and show its messages."""
    return _prompt(name, words, how)


def _prompt(name: str, words: tuple[str, ...], how: Sending) -> int:
    arguments = f',"arguments":{strings_text(words)}' if words else ""
    return _send("prompts/get", _fixed(f'{{"name":{dumps(name)}{arguments}}}'), how)


@click.command(cls=TargetCommand)
@click.argument("reference", metavar="PROMPT|TEMPLATE")
@click.argument("typed", nargs=-1, metavar="[K=V]… K=TYPED")
@_sending
def complete(reference: str, typed: tuple[str, ...], how: Sending) -> int:
    """Complete an argument of a prompt or a resource template.

    The last K=TYPED is completed, those before it are given as context. A reference with :// is a
    template, anything else a prompt.
    """
    return _complete(reference, typed, how)


def _complete(reference: str, typed: tuple[str, ...], how: Sending) -> int:
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
    return _send("completion/complete", _fixed(text), how)


def _fixed(text: str | None) -> Params:
    async def params(_connection: Connection) -> str | None:
        return text

    return params


def _send(method: str, params: Params, how: Sending) -> int:
    target = target_line(click.get_current_context()).only()

    async def work(_session: Session, connection: Connection) -> int:
        from workbench.cli.exchange import exchange, failed_data
        from workbench.core.lifecycle import State
        from workbench.errors import ConnectionFailed

        try:
            await connection.ready()
        except ConnectionFailed as failure:
            if how.as_json:
                output.json_document(failed_data(method, connection.view, failure))
            if connection.view.state is not State.EXITED:  # its sentence has them already
                for _, words in connection.view.stderr[-LAST_WORDS:]:
                    output.note(f"stderr: {words}")
            raise
        text = await params(connection)
        return await exchange(connection, method, text, how.as_json, task=how.task, ttl=how.ttl)

    return with_connection(target, work, how.record)
