"""``replay server FILE --listen HOST:PORT``: a recording stands in for its server, over HTTP.

Also over stdio, where a live server may be asked: that takes an event loop.
"""

from __future__ import annotations

import signal
import sys
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import partial
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskStatus

from workbench.cli.replay_arguments import Arguments
from workbench.cli.replay_verdict import ReportFiles, tell
from workbench.core.frame import StreamSink
from workbench.errors import EXIT_MISMATCH, EXIT_OK, UsageError, WorkbenchError
from workbench.mock import cast_of
from workbench.replay.cast import Cast
from workbench.store.chosen import Chosen, choose, choose_all
from workbench.wire import ready
from workbench.wire.serve import Pipes
from workbench.wire.serving_http import serve_http
from workbench.wire.serving_mock import Host, NoSink
from workbench.wire.serving_site import Manner
from workbench.wire.tap import Tap
from workbench.wire.transport import Serving, Taps

if TYPE_CHECKING:
    from workbench.cli.replay_live import Lived

#: Where clients find each transport.
_PATHS = {"http": "/mcp", "sse": "/sse"}

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def listen(arguments: Arguments) -> int:
    """Serve until a signal comes; returns the exit status. Raises ``WorkbenchError``."""
    values = arguments.values
    ready.forget(values.get("--ready-file"))
    chosen = choose_all(arguments.file) if arguments.http else [choose(arguments.file)]
    with chosen[0]:
        again = partial(choose_all, arguments.file) if arguments.http else None
        cast = cast_of(
            chosen,
            arguments.options,
            at_once=arguments.reports,
            lines=not arguments.http,
            again=again,
            stays_open=True,
        )
        which = values.get("--connections", "each")
        if which != "each":
            cast.fix(which.removeprefix("fixed:"))
        if values.get("--transport") == "sse" and "legacy" not in cast.eras:
            raise UsageError(
                "This recording is of the stateless era, which HTTP with SSE has not; use --transport http."
            )
        files = ReportFiles(cast.value, values.get("--report"), values.get("--junit"))
        command = _Command(cast, files, arguments, chosen[0].name)
        try:
            anyio.run(command.run)
        finally:
            cast.finish()
            files.write()
    if values.get("--on-miss") == "record" and command.lived:
        _add(chosen, command.lived)
    if cast.agrees():
        return EXIT_OK
    told = cast.value()
    tell(told["misses"], told["missed"], told["differing_answers"], lambda: told["unused_count"])
    return EXIT_MISMATCH


def _add(chosen: list[Chosen], lived: list[Lived]) -> None:
    """Add what a live server has answered to the recording."""
    from workbench.edit import Made, add

    numbers = {each.name: each.number for each in chosen}
    made = [Made(numbers.get(one.connection, chosen[0].number), *one[1:]) for one in lived]
    add(chosen[0].path, chosen[0].session, made)
    sys.stderr.write(
        f"mcp-workbench: {len(made)} answers of the live server were added to {chosen[0].path}\n"
    )


class _Command:
    """The mock at work. ``lived`` is what a live server answered in its place."""

    def __init__(self, cast: Cast, files: ReportFiles, arguments: Arguments, name: str) -> None:
        self._cast = cast
        self._files = files
        self._arguments = arguments
        self._name = name
        self._over = anyio.Event()
        self._trouble: WorkbenchError | None = None
        self.lived: list[Lived] = []

    async def run(self) -> None:
        async with AsyncExitStack() as stack:
            live = None
            if self._arguments.live:
                from workbench.cli.replay_live import falling

                behind = await stack.enter_async_context(falling(self._arguments.values["--live"]))
                live, self.lived = behind.server, behind.answered
            checkpoint = self._files.write if self._arguments.reports else lambda: None
            host = Host(self._cast, checkpoint, self._failed, Pipes().complain, live)
            taps = self._taps(stack)
            serving = await stack.enter_async_context(self._serve(host, taps))
            group = await stack.enter_async_context(anyio.create_task_group())
            # Who is told where it is may end it at once.
            await group.start(self._wait_for_signal)
            if self._arguments.http:
                self._tell(serving)
            else:
                group.start_soon(self._wait_for_client, serving)
            await self._over.wait()
            group.cancel_scope.cancel()
        if self._trouble is not None:
            raise self._trouble

    def _serve(self, host: Host, taps: Taps) -> AbstractAsyncContextManager[Serving]:
        several, values = self._arguments.several, self._arguments.values
        if not self._arguments.http:
            from workbench.wire.serving_stdio import serve_stdio

            return serve_stdio("", host.serve, taps)
        manner = Manner(
            eras=self._cast.eras,
            checks="--no-header-checks" not in values,
            anywhere="--anywhere" in values,
            hosts=tuple(several["--host"]),
        )
        path = _PATHS[values.get("--transport", "http")]
        return serve_http(values["--listen"], host.serve, taps, manner, path=path)

    async def _wait_for_client(self, serving: Serving) -> None:
        await serving.over.wait()
        self._over.set()

    def _taps(self, stack: AsyncExitStack) -> Taps:
        path = self._arguments.values.get("--output")
        if path is None:
            sink: StreamSink = NoSink()
            return lambda _name: Tap(sink, 1)
        from workbench.cli.replay_recording import HttpRecording

        transport = "http" if self._arguments.http else "stdio"
        recording = HttpRecording(path, self._name, self._arguments.file, transport)
        stack.callback(recording.close)
        return recording.tap

    def _tell(self, serving: Serving) -> None:
        """Tell where it is, now that it accepts."""
        ready.tell(self._arguments.values.get("--ready-file"), serving.address)
        sys.stdout.write(f"{serving.address}\n")
        sys.stdout.flush()

    async def _wait_for_signal(self, *, task_status: TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(*_SIGNALS) as signals:
            task_status.started()
            async for number in signals:
                self._cast.ended = f"ended by signal {signal.Signals(number).name[3:]}"
                self._over.set()
                return

    def _failed(self, error: WorkbenchError) -> None:
        self._trouble = self._trouble or error
        self._over.set()
