"""``doctor``: what this machine and terminal can do, and which step of connecting fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from workbench.cli import output
from workbench.cli.live import json_option
from workbench.cli.targets import TargetCommand, target_line
from workbench.errors import EXIT_CONNECTION, EXIT_OK, ConnectionFailed

if TYPE_CHECKING:
    from workbench.config import Target
    from workbench.core.view import ConnectionView
    from workbench.wire.diagnose import Step


@click.command(cls=TargetCommand)
@json_option
@click.pass_context
def doctor(ctx: click.Context, as_json: bool) -> int:
    """Say what this machine can do, or which step of connecting to TARGET fails.

    Without a target: versions, terminal, places of settings and recordings, programs that
    servers are started with. With one: each step on the way to it, from the command or the
    host's name to its lists, the first that fails with what to do about it. The exit status is 3
    when a step fails.
    """
    import anyio

    if not target_line(ctx).targets:
        from workbench.cli.doctor_machine import machine

        steps = machine()
    else:
        steps = anyio.run(_walk, target_line(ctx).only())
    failed = [step for step in steps if step.verdict == "failed"]
    if as_json:
        output.json_document({"ok": not failed, "steps": [step._asdict() for step in steps]})
    else:
        _print(steps)
    return EXIT_CONNECTION if failed else EXIT_OK


async def _walk(target: Target) -> list[Step]:
    from workbench.wire.diagnose import FAILED, before_talking

    steps = [step async for step in before_talking(target)]
    if steps and steps[-1].verdict == FAILED:
        return steps
    return steps + await _talk(target)


async def _talk(target: Target) -> list[Step]:
    """Connect, list, and end; what the connection became is one step each."""
    from workbench.session import Session
    from workbench.wire.diagnose import FAILED, OK, Step

    async with Session.open(record=False, origin="command") as session:
        connection = session.connect(target, listing=False)
        try:
            await connection.ready()
        except ConnectionFailed:
            view = connection.view
            words = [f" stderr: {text}" for _, text in view.stderr[-3:]]
            return [
                *_told(view),
                Step(str(view.state).replace("_", " "), FAILED, view.why + "".join(words), view.next_step),
            ]
        view = connection.view
        steps = [*_told(view), Step("handshake", OK, _agreed(view), seconds=_seconds(view))]
        await connection.refresh()
        steps += _lists(connection.view, connection.listings.failures)
        await connection.close()
        view = connection.view
        ended = view.why or "ended in good order"
        steps.append(Step("shutdown", FAILED if view.why else OK, ended, view.next_step))
        return steps


def _told(view: ConnectionView) -> list[Step]:
    """The steps of the connection itself that are worth a line: how it was reached, redirected, probed."""
    from workbench.wire.diagnose import NOTED, Step

    worth = ("process", "redirect", "fallback", "era", "restart", "reconnect", "session")
    return [Step(step.label, NOTED, step.detail) for step in view.steps if step.label in worth][:10]


def _agreed(view: ConnectionView) -> str:
    server = " ".join(str(view.server_info.get(key, "")) for key in ("name", "version")).strip()
    return f"{server or 'a server without a name'}, revision {view.revision or 'unknown'}, {view.era} era"


def _seconds(view: ConnectionView) -> float | None:
    times = [step.mono_ns for step in view.steps]
    return (times[-1] - times[0]) / 1e9 if times else None


def _lists(view: ConnectionView, failures: dict[str, str]) -> list[Step]:
    from workbench.core.methods import LIST_METHODS
    from workbench.wire.diagnose import FAILED, OK, Step

    counts = {
        "tools/list": len(view.tools),
        "resources/list": len(view.resources),
        "resources/templates/list": len(view.templates),
        "prompts/list": len(view.prompts),
    }
    steps: list[Step] = []
    for method in LIST_METHODS:
        if method in failures:
            steps.append(Step(method, FAILED, failures[method], "Read the answer with probe."))
        elif method in view.listed:
            note = view.list_notes.get(method, "")
            steps.append(Step(method, OK, f"{counts[method]} entries{', ' + note if note else ''}"))
    return steps


def _print(steps: list[Any]) -> None:
    rows = []
    for step in steps:
        mark = {"ok": "ok", "failed": "FAILED", "noted": ""}[step.verdict]
        rows.append(
            (mark, step.name, "" if step.seconds is None else output.seconds(step.seconds), step.says)
        )
        if step.verdict == "failed" and step.next:
            rows.append(("", "", "", step.next))
    output.table(("", "", "", ""), rows, header=False)
