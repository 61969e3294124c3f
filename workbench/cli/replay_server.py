"""``replay server FILE``: a recording stands in for its server, over stdio.

Dispatched before click is imported: a client waits for the answer to
``initialize``, and starts one of these for every test.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

from workbench.core.jsonrpc import dumps
from workbench.errors import EXIT_MISMATCH, RecordingError, UsageError
from workbench.replay.matching import AFTER, MODES, parse_ignore
from workbench.replay.report import Report, sentence
from workbench.replay.script import build
from workbench.replay.server import MockServer, Options
from workbench.store.chosen import Chosen, choose
from workbench.wire.serve import Pipes, Stopped, serve

if TYPE_CHECKING:
    from workbench.cli.replay_recording import Recording

HELP = """\
Usage: mcp-workbench replay server [OPTIONS] FILE

  Answer a live client over stdio with a recording. FILE is a recording in
  either form or a name in the store; FILE#3 names a session of it and
  FILE#3/NAME, or FILE#/NAME, a connection.

Options:
  --match exact|strict|name|method   how requests are compared (exact)
  --ignore [METHOD[:NAME]=]POINTER   leave a place in params out of the
                                     comparison; may be repeated
  --after last|error|cycle           what a request asked for more often than
                                     recorded gets (error for tools/call and
                                     tasks/cancel, last for the rest)
  --on-answer warn|ignore|fail       when the client answers a request of the
                                     server otherwise than recorded (warn)
  --order causal|recorded            answer as soon as asked, or overlapping
                                     requests in recorded order (causal)
  --strict                           unused recorded requests count too
  --report FILE                      write what happened as JSON
  -o, --output FILE                  record the replay
  --help                             show this and exit

  Exit status: that of the recorded server; 6 when something was asked for
  that was not recorded (or with --strict not everything was asked for),
  2 usage, 7 the recording cannot be read.
"""

#: Options with a value, and the values they take (any, where there are none).
_VALUED: dict[str, tuple[str, ...]] = {
    "--match": MODES,
    "--after": AFTER,
    "--on-answer": ("warn", "ignore", "fail"),
    "--order": ("causal", "recorded"),
    "--ignore": (),
    "--report": (),
    "--output": (),
}


class Arguments:
    """The command line, read by hand."""

    def __init__(self, argv: list[str]) -> None:
        self.file = ""
        self.strict = False
        self.ignores: list[str] = []
        self.values: dict[str, str] = {}
        rest = list(argv)
        while rest:
            self._take(rest.pop(0), rest)
        if not self.file:
            raise UsageError("replay server needs a recording: mcp-workbench replay server FILE.")

    def _take(self, word: str, rest: list[str]) -> None:
        name, equals, value = word.partition("=")
        name = "--output" if name == "-o" else name
        if not word.startswith("-") or word == "-":
            if self.file:
                raise UsageError(f"replay server takes one recording, and got {self.file} and {word}.")
            self.file = word
        elif word == "--strict":
            self.strict = True
        elif name in _VALUED:
            if not equals:
                if not rest:
                    raise UsageError(f"{name} needs a value; see mcp-workbench replay server --help.")
                value = rest.pop(0)
            self._set(name, value)
        else:
            raise UsageError(f"There is no option {name}; see mcp-workbench replay server --help.")

    def _set(self, name: str, value: str) -> None:
        known = _VALUED[name]
        if known and value not in known:
            raise UsageError(f"{name} is one of {', '.join(known)}, not {value}.")
        if name == "--ignore":
            self.ignores.append(value)
        else:
            self.values[name] = value

    @property
    def options(self) -> Options:
        return Options(
            match=self.values.get("--match", "exact"),
            after=self.values.get("--after", ""),
            ignores=tuple(parse_ignore(text) for text in self.ignores),
            on_answer=self.values.get("--on-answer", "warn"),
            order=self.values.get("--order", "causal"),
            strict=self.strict,
        )


def main(argv: list[str]) -> int:
    """Run the command; returns its exit status. Raises ``WorkbenchError``."""
    if "--help" in argv or "-h" in argv:
        sys.stdout.write(HELP)
        return 0
    arguments = Arguments(argv)
    options = arguments.options
    with choose(arguments.file) as chosen:
        written = arguments.values.get("--report")
        # A report is complete from the first answer on, so all of the recording is read before it.
        script = build(chosen.frames(), at_once=written is not None)
        server = MockServer(script, Report(chosen.path, chosen.name), options)
        report = _ReportFile(written, server) if written is not None else None
        return _run(server, report, _recording(arguments, chosen))


def _recording(arguments: Arguments, chosen: Chosen) -> Recording | None:
    path = arguments.values.get("--output")
    if path is None:
        return None
    from workbench.cli.replay_recording import Recording

    return Recording(path, chosen.name, arguments.file)


def _run(server: MockServer, report: _ReportFile | None, recording: Recording | None) -> int:
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
        after = server.closed()
        status = after if code is None else code
    except Stopped as stopped:
        ended = f"signal:{signal.Signals(stopped.number).name[3:]}"
        status = 128 + stopped.number
        server.report.ended = server.report.ended or f"ended by signal {ended[7:]}"
    finally:
        if report is not None:
            report.write()
        if recording is not None:
            recording.close(ended, code)
    _tell(server)
    return status if server.agrees() else EXIT_MISMATCH


class _ReportFile:
    """The report on disk: whole at any moment, because a new one takes the place of the old."""

    def __init__(self, path: str, server: MockServer) -> None:
        self._path = path
        self._server = server
        self._failed = False
        try:
            self._put()
        except OSError as error:
            raise RecordingError(
                f"The report {path} cannot be written ({error.strerror}); choose another place."
            ) from None

    def write(self) -> None:
        """Write what is known now; trouble is told once and stops nothing."""
        try:
            self._put()
        except OSError as error:
            if not self._failed:
                sys.stderr.write(f"mcp-workbench: the report cannot be written ({error.strerror})\n")
            self._failed = True

    def _put(self) -> None:
        beside = f"{self._path}.{os.getpid()}"
        with open(beside, "w", encoding="utf-8", errors="backslashreplace") as out:
            out.write(dumps(self._server.report_value()) + "\n")
        os.replace(beside, self._path)


def _tell(server: MockServer) -> None:
    """A word on stderr, only where something did not agree."""
    report = server.report
    told = [f"miss: {sentence(miss)}" for miss in report.misses[:10]]
    if report.missed > 10:
        told.append(f"and {report.missed - 10} misses more")
    if report.differing:
        told.append(f"{report.differing} answers of the client were not the recorded ones")
    if not told and not server.agrees():
        told.append(f"{len(server.unused())} recorded requests were not asked for")
    if told:
        from workbench.core.printable import printable

        sys.stderr.write("".join(f"{printable(line)}\n" for line in told))
