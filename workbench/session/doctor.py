"""The steps of connecting to a target, one after the other: which of them fails, and what to do then."""

from __future__ import annotations

from collections.abc import AsyncIterator

from workbench.config import Target
from workbench.core.methods import LIST_METHODS
from workbench.core.view import ConnectionView
from workbench.errors import ConnectionFailed
from workbench.session.live import Session
from workbench.wire.connection import Connection
from workbench.wire.diagnose import FAILED, NOTED, OK, Step, before_talking
from workbench.wire.oauth_logins import Logins

#: Steps of the connection itself that are told, and lines of stderr with a failure.
MAX_TOLD = 25
MAX_STDERR = 3

#: Those that say how it was reached, redirected, probed.
_WORTH = ("process", "redirect", "fallback", "era", "restart", "reconnect", "session", "auth")


async def walk(target: Target) -> AsyncIterator[Step]:
    """Go all the way to a target in a session of its own, which is not recorded; ends after the first
    step that failed. Each step is told when it is known."""
    step = None
    async for step in before_talking(target):
        yield step
    if step is not None and step.verdict == FAILED:
        return
    async with Session.open(record=False, origin="command", logins=Logins(looks=True)) as session:
        connection = session.connect(target, listing=False)
        try:
            await connection.ready()
        except ConnectionFailed:
            for step in _failed(connection.view):
                yield step
            return
        for step in _ready(connection.view):
            yield step
        await connection.refresh()
        for step in _lists(connection):
            yield step
        await connection.close()
        view = connection.view
        yield Step("shutdown", FAILED if view.why else OK, view.why or "ended in good order", view.next_step)


def _failed(view: ConnectionView) -> list[Step]:
    words = [f" stderr: {text}" for _, text in view.stderr[-MAX_STDERR:]]
    name = str(view.state).replace("_", " ")
    return [*_told(view), Step(name, FAILED, view.why + "".join(words), view.next_step)]


def _ready(view: ConnectionView) -> list[Step]:
    return [*_told(view), Step("handshake", OK, _agreed(view), seconds=_seconds(view))]


def _told(view: ConnectionView) -> list[Step]:
    """The steps of the connection itself that are worth a line."""
    return [Step(step.label, NOTED, step.detail) for step in view.steps if step.label in _WORTH][:MAX_TOLD]


def _agreed(view: ConnectionView) -> str:
    server = " ".join(str(view.server_info.get(key, "")) for key in ("name", "version")).strip()
    return f"{server or 'a server without a name'}, revision {view.revision or 'unknown'}, {view.era} era"


def _seconds(view: ConnectionView) -> float | None:
    times = [step.mono_ns for step in view.steps]
    return (times[-1] - times[0]) / 1e9 if times else None


def _lists(connection: Connection) -> list[Step]:
    view, failures = connection.view, connection.listings.failures
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
            listed = "1 entry" if counts[method] == 1 else f"{counts[method]} entries"
            steps.append(Step(method, OK, f"{listed}{', ' + note if note else ''}"))
    return steps
