"""``replay server FILE``: a recording stands in for its server, over stdio.

Dispatched before click is imported: a client waits for the answer to
``initialize``, and starts one of these for every test. Over HTTP it is ``replay_listen``.
"""

from __future__ import annotations

import signal
import sys
import time
from typing import TYPE_CHECKING

from workbench.cli.replay_arguments import HELP, Arguments
from workbench.cli.replay_verdict import ReportFiles, tell
from workbench.errors import EXIT_MISMATCH
from workbench.replay.report import Report
from workbench.replay.script import build
from workbench.replay.server import MockServer
from workbench.store.chosen import Chosen, choose
from workbench.wire.serve import Pipes, Stopped, serve

if TYPE_CHECKING:
    from workbench.cli.replay_recording import Recording


def main(argv: list[str]) -> int:
    """Run the command; returns its exit status. Raises ``WorkbenchError``."""
    if "--help" in argv or "-h" in argv:
        sys.stdout.write(HELP)
        return 0
    arguments = Arguments(argv)
    if arguments.http or arguments.live:
        from workbench.cli.replay_listen import listen

        return listen(arguments)
    options = arguments.options
    with choose(arguments.file) as chosen:
        # A report is complete from the first answer on, so all of the recording is read before it.
        script = build(
            chosen.frames(),
            at_once=arguments.reports,
            head=chosen.stream,
            ending=chosen.process,
            fetch=chosen.body,
        )
        options = options.keeping(chosen.rules())
        server = MockServer(script, Report(chosen.path, chosen.name), options, clock=time.monotonic)
        values = arguments.values
        report = ReportFiles(server.report_value, values.get("--report"), values.get("--junit"))
        return _run(server, report if arguments.reports else None, _recording(arguments, chosen))


def _recording(arguments: Arguments, chosen: Chosen) -> Recording | None:
    path = arguments.values.get("--output")
    if path is None:
        return None
    from workbench.cli.replay_recording import Recording

    return Recording(path, chosen.name, arguments.file)


def _run(server: MockServer, report: ReportFiles | None, recording: Recording | None) -> int:
    pipes = Pipes()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: pipes.stop(number))
    ended, code = "closed", None
    try:
        code = serve(
            server,
            pipes,
            tap=recording.tap if recording else None,
            checkpoint=report.write if report else None,
        )
        server.closed()
        status = server.status() if code is None else code
    except Stopped as stopped:
        ended = f"signal:{signal.Signals(stopped.number).name[3:]}"
        status = 128 + stopped.number
        server.report.ended = server.report.ended or f"ended by signal {ended[7:]}"
    finally:
        if report is not None:
            report.write()
        if recording is not None:
            recording.close(ended, code)
    if server.agrees():
        return status
    told = server.report
    tell(told.misses, told.missed, told.differing, lambda: server.unused().number)
    return EXIT_MISMATCH
