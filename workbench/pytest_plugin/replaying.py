"""The three ways a recording stands in for a server: a command, a URL, a pair of streams."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from workbench.cli.replay_arguments import Arguments
from workbench.cli.replay_recording import HttpRecording
from workbench.core.jsonrpc import loads
from workbench.mock import whole_cast
from workbench.pytest_plugin.marked import Marked
from workbench.pytest_plugin.verdict import joined
from workbench.replay.cast import Cast
from workbench.store.chosen import choose

if TYPE_CHECKING:
    from workbench.pytest_plugin.acting import StandIn

#: How the command line is started, wherever its client is: what lies in the folder it is started in
#: cannot take the place of a module of ours.
PROGRAM = (sys.executable, "-P", "-m", "workbench")


def replaying(kind: str, how: Marked, folder: str) -> StandIn:
    """What stands in. Raises ``WorkbenchError`` where a recording or an option is wrong."""
    kinds: dict[str, Callable[[Marked, str], StandIn]] = {
        "command": Command,
        "url": Site,
        "streams": Streams,
    }
    return kinds[kind](how, folder)


class Command:
    """Over stdio: whoever starts the command has a process of its own, with a report and a recording."""

    def __init__(self, how: Marked, folder: str) -> None:
        self._how = how
        self._folder = folder
        Arguments([*how.words, how.path])
        with choose(how.file):
            """Whatever is wrong with the recording is told here, and not to the client's stderr."""
        each = os.path.join(folder, "replay-%p")
        written = ["--report", f"{each}.json", "--output", f"{each}.db"]
        self.value: Any = [*PROGRAM, "replay", "server", *how.words, *written, how.file]

    def report(self) -> dict[str, Any] | None:
        """What all starts together have done, whether or not they have ended."""
        reports = []
        for path in self._written("json"):
            with open(path, "rb") as file:
                reports.append(loads(file.read()))
        if reports:
            return joined(reports, strict=self._how.strict)
        cast = _cast(self._how, lines=True)
        cast.finish()
        return cast.value()

    def recordings(self) -> list[str]:
        return self._written("db")

    def close(self, *, kept: bool) -> str:  # noqa: ARG002
        """Nothing: whoever has started it ends it."""
        return ""

    def _written(self, suffix: str) -> list[str]:
        found = glob.glob(os.path.join(glob.escape(self._folder), f"replay-*.{suffix}"))
        return sorted(found, key=os.path.getmtime)


class _Within:
    """A recording that is replayed in this process; its own recording is begun with the first client."""

    def __init__(self, how: Marked, folder: str, transport: str) -> None:
        self._cast = _cast(how, lines=transport == "memory")
        self._path = os.path.join(folder, "replay.db")
        self._about = how.name, how.path, transport
        self._recording: HttpRecording | None = None

    def tap(self, name: str) -> Any:
        if self._recording is None:
            self._recording = HttpRecording(self._path, *self._about)
        return self._recording.tap(name)

    def report(self) -> dict[str, Any]:
        if self._cast.idle:
            self._cast.finish()
        return self._cast.value()

    def recordings(self) -> list[str]:
        return [self._path] if self._recording is not None else []

    def close(self, *, kept: bool) -> str:  # noqa: ARG002
        if self._recording is not None:
            self._recording.close()
        return ""


class Streams(_Within):
    """In process, for clients of the official SDK."""

    def __init__(self, how: Marked, folder: str) -> None:
        super().__init__(how, folder, "memory")
        self.value = self._streams

    def _streams(self) -> Any:
        from workbench.wire.sdk_streams import sdk_streams
        from workbench.wire.serving_mock import Host

        return sdk_streams(Host(self._cast).serve, self.tap(""))


class Site(_Within):
    """Over HTTP, served by a thread of this process: the test may block, or have a loop of its own."""

    def __init__(self, how: Marked, folder: str) -> None:
        super().__init__(how, folder, "http")
        from anyio.from_thread import start_blocking_portal

        from workbench.wire.serving_http import serve_http
        from workbench.wire.serving_mock import Host
        from workbench.wire.serving_site import Manner

        manner = Manner(eras=self._cast.eras)
        path = "/sse" if how.transport == "sse" else "/mcp"
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal())
            self._call = portal.call
            serving = stack.enter_context(
                portal.wrap_async_context_manager(
                    serve_http("127.0.0.1:0", Host(self._cast).serve, self.tap, manner, path=path)
                )
            )
            self.value = serving.address
            self._stack: ExitStack | None = stack.pop_all()

    def report(self) -> dict[str, Any]:
        """The clients belong to the other thread, so it is asked while it runs."""
        return super().report() if self._stack is None else self._call(super().report)

    def close(self, *, kept: bool) -> str:
        if self._stack is not None:
            self._stack.close()
            self._stack = None
        return super().close(kept=kept)


def _cast(how: Marked, *, lines: bool) -> Cast:
    """The recording, read whole, with the options of the marker."""
    options = Arguments([*how.words, how.path]).options
    cast = whole_cast(how.path, options, lines=lines)
    if how.connection:
        cast.fix(how.connection)
    return cast
