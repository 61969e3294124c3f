"""A stand-in as a host sees it: a process with three pipes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import psutil

from workbench.core.frame import Channel, Direction, Frame, Kind
from workbench.core.jsonrpc import loads
from workbench.store.reader import Reader

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-m", "workbench", "record"]
BARE = [sys.executable, str(ROOT / "tests" / "servers" / "bare.py")]

#: A server that sends back every byte it gets.
CAT = "import os\nwhile data := os.read(0, 65536):\n    os.write(1, data)\n"

CALL = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}\n'


def python(script: str) -> list[str]:
    """A server whose whole program is ``script``."""
    return [sys.executable, "-c", script]


class StandIn:
    """``record -o file -- command``. Left behind, it is killed with all it started."""

    def __init__(self, file: Path, command: Sequence[str], *options: str, **popen: Any) -> None:
        self.file = file
        arguments = [*PROGRAM, "-o", str(file), *options, "--", *command]
        options_of: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        self.process: subprocess.Popen[bytes] = subprocess.Popen(
            arguments, cwd=ROOT, bufsize=0, **(options_of | popen)
        )

    def __enter__(self) -> StandIn:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            for process in self.processes():
                process.kill()
            self.process.kill()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        self.process.wait()

    def processes(self) -> list[psutil.Process]:
        """Everything below the stand-in that runs."""
        try:
            return psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def recorder(self) -> psutil.Process:
        """Its second process: the child that is the same program."""
        return next(child for child in self.processes() if "record" in child.cmdline())

    def server(self) -> psutil.Process:
        until(lambda: any("record" not in child.cmdline() for child in self.processes()))
        return next(child for child in self.processes() if "record" not in child.cmdline())

    def send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        view = memoryview(data)
        while view:
            view = view[self.process.stdin.write(view) :]

    def read(self, size: int) -> bytes:
        """Exactly so many bytes of its stdout."""
        assert self.process.stdout is not None
        return read_exactly(self.process.stdout, size)

    def line(self) -> bytes:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def hang_up(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def finish(self, data: bytes = b"") -> tuple[int, bytes, bytes]:
        """Send the rest, hang up, and take everything: exit status, stdout, stderr."""
        out, err = self.process.communicate(data, timeout=60)
        return self.process.returncode, out, err

    def frames(self) -> list[Frame]:
        return frames_of(self.file)

    def events(self) -> list[dict[str, Any]]:
        """The process events of the recording."""
        return [loads(frame.body) for frame in self.frames() if frame.kind is Kind.PROCESS]


def read_exactly(pipe: IO[bytes], size: int) -> bytes:
    parts: list[bytes] = []
    while size and (part := pipe.read(min(size, 1 << 16))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def frames_of(file: Path) -> list[Frame]:
    with Reader.open(str(file)) as reader:
        return list(reader.frames())


def bodies(frames: Sequence[Frame], direction: Direction, channel: Channel = Channel.STDIO) -> list[bytes]:
    return [frame.body for frame in frames if frame.direction is direction and frame.channel is channel]


def ended_how(file: Path) -> str | None:
    with Reader.open(str(file)) as reader:
        return reader.sessions()[0].ended_how


def until(true: Callable[[], object], seconds: float = 30) -> None:
    """Return as soon as the condition holds; fail when it does not in time."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def at_rest(file: Path) -> bool:
    """Whether nobody writes the recording any more and it is one file again."""
    return file.exists() and not Path(f"{file}-wal").exists()


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def in_background(function: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=function, daemon=True)
    thread.start()
    return thread


def seqs_are_gapless(frames: Sequence[Frame]) -> bool:
    return [frame.seq for frame in frames] == list(range(1, len(frames) + 1))


def closed(descriptor: int) -> Callable[[], None]:
    """For ``preexec_fn``: start with a standard stream closed."""
    return lambda: os.close(descriptor)
