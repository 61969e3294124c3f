"""``replay server FILE --listen HOST:PORT``: a recording stands in for its server, over HTTP."""

from __future__ import annotations

import signal
import sys
from contextlib import ExitStack
from functools import partial

import anyio
from anyio.abc import TaskStatus

from workbench.cli.replay_arguments import Arguments
from workbench.cli.replay_verdict import ReportFiles, tell
from workbench.core.frame import StreamSink
from workbench.errors import EXIT_MISMATCH, EXIT_OK, UsageError, WorkbenchError
from workbench.mock import cast_of
from workbench.replay.cast import Cast
from workbench.store.chosen import choose_all
from workbench.wire import ready
from workbench.wire.serve import Pipes
from workbench.wire.serving_http import serve_http
from workbench.wire.serving_mock import Host, NoSink
from workbench.wire.serving_site import Manner
from workbench.wire.tap import Tap
from workbench.wire.transport import Serving, Taps

#: Where clients find each transport.
_PATHS = {"http": "/mcp", "sse": "/sse"}

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def listen(arguments: Arguments) -> int:
    """Serve until a signal comes; returns the exit status. Raises ``WorkbenchError``."""
    ready.forget(arguments.values.get("--ready-file"))
    chosen = choose_all(arguments.file)
    with chosen[0]:
        again = partial(choose_all, arguments.file)
        cast = cast_of(
            chosen, arguments.options, at_once=arguments.reports, lines=False, again=again, stays_open=True
        )
        which = arguments.values.get("--connections", "each")
        if which != "each":
            cast.fix(which.removeprefix("fixed:"))
        transport = arguments.values.get("--transport", "http")
        if transport == "sse" and "legacy" not in cast.eras:
            raise UsageError(
                "This recording is of the stateless era, which HTTP with SSE has not; use --transport http."
            )
        values = arguments.values
        files = ReportFiles(cast.value, values.get("--report"), values.get("--junit"))
        try:
            anyio.run(partial(_Command(cast, files, arguments, chosen[0].name).run, _PATHS[transport]))
        finally:
            cast.finish()
            files.write()
    if cast.agrees():
        return EXIT_OK
    told = cast.value()
    tell(told["misses"], told["missed"], told["differing_answers"], lambda: told["unused_count"])
    return EXIT_MISMATCH


class _Command:
    """The mock at work."""

    def __init__(self, cast: Cast, files: ReportFiles, arguments: Arguments, name: str) -> None:
        self._cast = cast
        self._files = files
        self._arguments = arguments
        self._name = name
        self._over = anyio.Event()
        self._trouble: WorkbenchError | None = None

    async def run(self, path: str) -> None:
        several, values = self._arguments.several, self._arguments.values
        manner = Manner(
            eras=self._cast.eras,
            checks="--no-header-checks" not in values,
            anywhere="--anywhere" in values,
            hosts=tuple(several["--host"]),
        )
        checkpoint = self._files.write if self._arguments.reports else lambda: None
        host = Host(self._cast, checkpoint, self._failed, Pipes().complain)
        with ExitStack() as stack:
            taps = self._taps(stack)
            async with (
                serve_http(values["--listen"], host.serve, taps, manner, path=path) as serving,
                anyio.create_task_group() as group,
            ):
                # Who is told where it is may end it at once.
                await group.start(self._wait_for_signal)
                self._tell(serving)
                await self._over.wait()
                group.cancel_scope.cancel()
        if self._trouble is not None:
            raise self._trouble

    def _taps(self, stack: ExitStack) -> Taps:
        path = self._arguments.values.get("--output")
        if path is None:
            sink: StreamSink = NoSink()
            return lambda _name: Tap(sink, 1)
        from workbench.cli.replay_recording import HttpRecording

        recording = HttpRecording(path, self._name, self._arguments.file)
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
