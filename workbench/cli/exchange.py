"""One request on a live connection: sent, watched, and its end shown."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import anyio

from workbench.cli import output
from workbench.cli.results import print_result
from workbench.core.printable import printable
from workbench.core.tasks import NO_TASKS
from workbench.errors import EXIT_CONNECTION, EXIT_OK, EXIT_PROTOCOL, EXIT_TOOL_ERROR, UsageError

if TYPE_CHECKING:
    from workbench.core.actions import Outcome
    from workbench.core.view import ConnectionView
    from workbench.errors import ConnectionFailed
    from workbench.wire.calls import Call
    from workbench.wire.connection import Connection

#: Findings that are told with a request; ``probe`` and the recording tell them all.
MOST_FINDINGS = 5

#: How often a terminal is told of progress, in seconds.
GLANCE = 0.1


async def exchange(
    connection: Connection,
    method: str,
    params: str | None,
    as_json: bool,
    *,
    task: bool = False,
    ttl: float | None = None,
) -> int:
    """Send a request, wait for its end and show it; returns the exit status. With ``task`` it is
    sent to be made a task that is kept for ``ttl`` seconds, and the task's result is waited for.

    A session that the server has forgotten in the meantime is begun anew, once: the request was
    refused for that and nothing else, so it can be sent again. Raises ``ConnectionFailed``, and
    ``UsageError`` for a task where there is no handshake.
    """
    if task and connection.view.era == "modern":
        raise UsageError(NO_TASKS)
    before = list(connection.dealings.remarks)
    call, outcome = await _ended(connection, method, params, task, ttl)
    if outcome.how == "lost" and connection.view.state == "session_lost":
        output.note(f"mcp-workbench: {outcome.why} It is connected again, and {method} is repeated.")
        connection = await connection.reconnect()
        await connection.ready()
        call, outcome = await _ended(connection, method, params, task, ttl)
    remarks = [*before, *call.remarks, *_findings(connection, call, outcome)]
    if as_json:
        output.json_document(as_data(call, outcome, remarks))
    else:
        _print(call, outcome, remarks)
    return status(outcome)


async def _ended(
    connection: Connection, method: str, params: str | None, task: bool, ttl: float | None
) -> tuple[Call, Outcome]:
    """Send a request and wait for its end. Being cancelled cancels it."""
    timeout = connection.target.timeouts.request
    call = connection.call(method, params, timeout=timeout, task=task, ttl=ttl)
    try:
        async with anyio.create_task_group() as tasks:
            if sys.stderr.isatty():
                tasks.start_soon(_watch, call)
            outcome = await call.wait()
            tasks.cancel_scope.cancel()
    except anyio.get_cancelled_exc_class():
        call.cancel()
        raise
    return call, outcome


def _findings(connection: Connection, call: Call, outcome: Outcome) -> list[str]:
    """What is wrong with the answer; where there is no good one, with all that came in the meantime."""
    asked = call.request_seq or 0
    told = [
        f"frame {each.seq}: {each.rule.explanation} ({each.rule.id})"
        for each in connection.findings
        if each.rule.severity != "info"
        and (each.seq == outcome.seq or (outcome.how != "result" and each.seq > asked))
    ]
    return list(dict.fromkeys(told))[:MOST_FINDINGS]


def status(outcome: Outcome) -> int:
    """The exit status of a request's end."""
    if outcome.how == "result":
        return EXIT_TOOL_ERROR if outcome.is_tool_error else EXIT_OK
    return EXIT_PROTOCOL if outcome.how in ("error", "refused") else EXIT_CONNECTION


async def _watch(call: Call) -> None:
    """Keep one line of stderr at how the call goes."""
    shown = ""
    try:
        while True:
            await anyio.sleep(GLANCE)
            text = _glance(call)
            if call.connection.inbox:
                shown = ""  # a question has the line now
            elif text and text != shown:
                sys.stderr.write(f"\r\x1b[K{text}")
                sys.stderr.flush()
                shown = text
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _glance(call: Call) -> str:
    """How a call goes: its progress, else what its task says; empty if neither is known."""
    if call.progress:
        last = call.progress[-1]
        total = f"/{last.total:g}" if last.total is not None else ""
        return f"{last.progress:g}{total} {printable(last.message or '')}"[:70]
    task = call.connection.tasks.get(call.task or "")
    return "" if task is None else printable(f"{task.status} {task.message}")[:70]


def as_data(call: Call, outcome: Outcome, remarks: Sequence[str]) -> dict[str, Any]:
    """The end of a request as one JSON value: ``how`` says which of result, error and why is set."""
    data: dict[str, Any] = {"method": call.method, "how": outcome.how, "seconds": round(outcome.seconds, 6)}
    if outcome.how == "result":
        data["result"] = outcome.result
    elif outcome.how == "error":
        data["error"] = outcome.error
    else:
        data["why"] = outcome.why
    if call.rounds:
        data["rounds"] = [
            {"frame": each.request_seq, "after": each.asked_seq, "asked": [list(pair) for pair in each.asked]}
            for each in call.rounds
        ]
    if remarks:
        data["remarks"] = remarks
    return data


def failed_data(method: str, view: ConnectionView, failure: ConnectionFailed) -> dict[str, Any]:
    """The same for a request that was never sent, because there was no connection."""
    return {"method": method, "how": "failed", "state": str(view.state), "why": str(failure)}


def _print(call: Call, outcome: Outcome, remarks: Sequence[str]) -> None:
    for remark in remarks:
        output.note(f"mcp-workbench: {remark}")
    if outcome.how == "result":
        print_result(call.method, outcome)
        if outcome.is_tool_error:
            output.note("mcp-workbench: the tool reports an error")
    else:
        output.note(f"mcp-workbench: {call.method}: {outcome.sentence}")
        if outcome.how == "error" and isinstance(outcome.error, dict) and "data" in outcome.error:
            output.json_text(_pretty_data(outcome.error["data"]))


def _pretty_data(data: Any) -> str:
    from workbench.core.jsonrpc import dumps
    from workbench.core.jsontext import pretty

    return pretty(dumps(data))
