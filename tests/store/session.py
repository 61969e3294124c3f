"""Small recordings for the tests of the store."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from workbench.core.frame import Channel, Direction, Ending, Unit
from workbench.store.recorder import Recorder

REQUEST = (
    b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"%s"}}}'
)
RESULT = b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"%s"}]}}'


class StillClock:
    """A clock that moves by a millisecond with every look."""

    def __init__(self) -> None:
        self._now = 0

    def wall_ns(self) -> int:
        return 1_800_000_000_000_000_000 + self._now

    def mono_ns(self) -> int:
        self._now += 1_000_000
        return self._now


def unit(
    body: bytes,
    direction: Direction = Direction.TO_CLIENT,
    channel: Channel = Channel.STDIO,
    *,
    connection: int = 1,
    whole: bool = True,
    ending: Ending = Ending.LF,
    at: int = 0,
) -> Unit:
    return Unit(connection, direction, channel, body, 1_800_000_000_000_000_000 + at, at, whole, ending)


def record(path: Path | None, bodies: Iterable[bytes | Unit]) -> Recorder:
    """A recorder, still open, that has been given these (bodies go to the client)."""
    recorder = Recorder(None if path is None else str(path), name="test", clock=StillClock())
    recorder.connect("one", "stdio", "server --flag")
    for body in bodies:
        recorder.put(body if isinstance(body, Unit) else unit(body))
    return recorder


def calls(count: int) -> Iterable[Unit]:
    """``count`` calls, each a request and its result."""
    for number in range(1, count + 1):
        text = b"text %d" % number
        yield unit(REQUEST % (number, text), Direction.TO_SERVER, at=number * 2_000)
        yield unit(RESULT % (number, text), at=number * 2_000 + 1_000)
