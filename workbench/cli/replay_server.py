"""``replay server FILE``: a recording stands in for its server, over stdio.

Dispatched before click is imported: a client waits for the answer to
``initialize``, and starts one of these for every test.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING, Any

from workbench.core.frame import Channel, Direction, Ending, Unit
from workbench.core.jsonrpc import dumps
from workbench.errors import EXIT_MISMATCH, UsageError
from workbench.replay.matching import AFTER, MODES, parse_ignore
from workbench.replay.report import Report
from workbench.replay.script import build
from workbench.replay.server import MockServer, Options
from workbench.store.library import resolve
from workbench.store.reader import Reader
from workbench.wire.serve import Tap, serve

if TYPE_CHECKING:
    from workbench.store.recorder import Recorder

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
  --strict                           unused recorded requests count too
  --report FILE                      write what happened as JSON
  -o FILE                            record the replay
  --help                             show this and exit

  Exit status: that of the recorded server; 6 when something was asked for
  that was not recorded (or with --strict not everything was asked for),
  2 usage, 7 the recording cannot be read.
"""


class Arguments:
    """The command line, read by hand."""

    def __init__(self, argv: list[str]) -> None:
        self.file = ""
        self.report = ""
        self.output = ""
        self.strict = False
        self.ignores: list[str] = []
        self.match = "exact"
        self.after = ""
        self.on_answer = "warn"
        rest = list(argv)
        while rest:
            self._take(rest.pop(0), rest)
        if not self.file:
            raise UsageError("replay server needs a recording: mcp-workbench replay server FILE.")

    def _take(self, word: str, rest: list[str]) -> None:
        name, equals, value = word.partition("=")
        if not word.startswith("-") or word == "-":
            if self.file:
                raise UsageError(f"replay server takes one recording, and got {self.file} and {word}.")
            self.file = word
        elif word == "--strict":
            self.strict = True
        elif name in ("--match", "--after", "--on-answer", "--report", "--ignore", "-o", "--output"):
            if not equals:
                if not rest:
                    raise UsageError(f"{name} needs a value; see mcp-workbench replay server --help.")
                value = rest.pop(0)
            self._set(name, value)
        else:
            raise UsageError(f"There is no option {name}; see mcp-workbench replay server --help.")

    def _set(self, name: str, value: str) -> None:
        if name == "--ignore":
            self.ignores.append(value)
        elif name == "--report":
            self.report = value
        elif name in ("-o", "--output"):
            self.output = value
        elif name == "--match":
            self.match = _one_of(name, value, MODES)
        elif name == "--after":
            self.after = _one_of(name, value, AFTER)
        else:
            self.on_answer = _one_of(name, value, ("warn", "ignore", "fail"))


def main(argv: list[str]) -> int:
    """Run the command; returns its exit status. Raises ``WorkbenchError``."""
    if "--help" in argv or "-h" in argv:
        sys.stdout.write(HELP)
        return 0
    arguments = Arguments(argv)
    server = _mock(arguments)
    recorder = _recorder(arguments) if arguments.output else None
    ended = "closed"

    def stop(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    write_report = _report_writer(arguments.report, server)
    write_report()
    try:
        code = serve(server, tap=_tap(recorder), checkpoint=write_report if arguments.report else None)
    except SystemExit as exit:
        code = int(exit.code or 0)
        ended = f"signal:{signal.Signals(code - 128).name[3:]}"
        server.report.ended = server.report.ended or f"ended by signal {ended[7:]}"
    finally:
        write_report()
        if recorder is not None:
            recorder.close(ended)
    _tell(server)
    return code if server.agrees() else EXIT_MISMATCH


def _mock(arguments: Arguments) -> MockServer:
    selection = resolve(arguments.file)
    with Reader.open(selection.path, session=selection.session) as reader:
        connections = reader.connections()
        chosen = [
            connection
            for connection in connections
            if selection.connection in (None, connection.name, str(connection.number))
        ]
        if len(chosen) != 1:
            names = ", ".join(connection.name for connection in connections) or "none"
            raise UsageError(
                f"{arguments.file} has {len(connections)} connections ({names}); "
                f"name one: {selection.path}#{selection.session or ''}/NAME."
            )
        script = build(reader.frames(connection=chosen[0].number))
    options = Options(
        match=arguments.match,
        after=arguments.after,
        ignores=tuple(parse_ignore(text) for text in arguments.ignores),
        on_answer=arguments.on_answer,
        strict=arguments.strict,
    )
    return MockServer(script, Report(selection.path, chosen[0].name), options)


def _recorder(arguments: Arguments) -> Recorder:
    from workbench.store.recorder import Recorder

    recorder = Recorder(arguments.output, name=os.path.basename(arguments.file), origin="replay")
    recorder.connect("replay", "stdio", f"replay server {arguments.file}")
    return recorder


def _tap(recorder: Recorder | None) -> Tap | None:
    if recorder is None:
        return None

    def tap(direction: Direction, channel: Channel, body: bytes, ending: Ending) -> None:
        wall, mono = time.time_ns(), time.monotonic_ns()
        recorder.put(Unit(1, direction, channel, body, wall, mono, True, ending))

    return tap


def _report_writer(path: str, server: MockServer) -> Any:
    def write() -> None:
        if not path:
            return
        beside = f"{path}.{os.getpid()}"
        with open(beside, "w", encoding="utf-8") as out:
            out.write(dumps(server.report_value()) + "\n")
        os.replace(beside, path)

    return write


def _tell(server: MockServer) -> None:
    """A word on stderr, only where something did not agree."""
    from workbench.core.printable import printable

    for miss in server.report.misses[:10]:
        sys.stderr.write(f"miss: {printable(server.report.sentence(miss))}\n")
    if server.report.missed > 10:
        sys.stderr.write(f"and {server.report.missed - 10} misses more\n")


def _one_of(name: str, value: str, words: tuple[str, ...]) -> str:
    if value not in words:
        raise UsageError(f"{name} is one of {', '.join(words)}, not {value}.")
    return value
