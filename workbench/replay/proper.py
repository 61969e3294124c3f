"""What of a connection's frames a replay over lines is made of.

A client that does not know a server's era asks for it first, may have to start
the server anew to speak the other one, or to fall back to the older transport.
None of it is part of the session: a replay speaks the recorded era from the
start. What came over HTTP is put on one line each, and what only HTTP carries is
marked as no message.

Part of the light path: standard library and ``core`` only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.core.frame import ANSWERS, Channel, Direction, Ending, Frame, Kind
from workbench.core.jsonrpc import decode, loads

_HTTP = (Channel.HTTP, Channel.SSE)

#: Messages before the session proper: frames held back until one that is none of them.
_BEGINNING = ("initialize", "server/discover")


def proper(frames: Iterable[Frame], *, lines: bool = True) -> Iterator[Frame]:
    """The frames of the session proper, in order; each is read when it is asked for. Frames are held
    back only up to the first client message after the handshake. With ``lines`` off what came over
    HTTP stays as it was."""
    beginning = _Beginning()
    for frame in frames:
        if frame.channel in _HTTP:
            # Whatever carried it, it is whole: only a line can lack its end.
            frame = _on_a_line(frame) if lines else frame._replace(ending=Ending.LF)
        yield from beginning.take(frame)
    yield from beginning.held()


class _Beginning:
    def __init__(self) -> None:
        self._held: list[Frame] = []
        self._over = False
        #: The next message of the client asks for the era.
        self._probes = False
        #: The ids of such requests that were asked in vain.
        self._asked: set[str] = set()
        self._vain: set[str] = set()
        self._ending = False

    def take(self, frame: Frame) -> Iterator[Frame]:
        if self._vain and frame.direction is Direction.TO_CLIENT and self._answers_a_probe(frame):
            return
        if self._over:
            yield frame
            return
        event = _event(frame) if frame.channel in (Channel.PROCESS, Channel.NOTE) else ""
        if event == "restart":
            self._held.clear()
            self._asked.clear()
            self._ending = True
        elif event == "fallback":
            # What was asked in vain over the newer transport is sent again over the older one.
            self._held.clear()
            self._probes = bool(self._asked)
            self._asked.clear()
        elif event == "started":
            self._ending = False
        elif event == "probe":
            self._probes = True
        if self._ending or event == "probe":
            return
        self._held.append(frame)
        if frame.direction is Direction.TO_SERVER:
            self._sent(frame)
        if self._over:
            yield from self.held()

    def held(self) -> list[Frame]:
        """What was held back and belongs to the session."""
        held, self._held = self._held, []
        return held

    def _sent(self, frame: Frame) -> None:
        messages = decode(frame.body).messages
        method = messages[0].method if len(messages) == 1 else None
        if self._probes:
            self._probes = False
            self._asked.add((messages[0].id or "") if messages else "")
        elif method == "initialize" and self._asked:
            self._vain |= self._asked
            self._asked.clear()
            self._held = [each for each in self._held if not self._is_a_probe(each)]
        self._over = method not in _BEGINNING

    def _is_a_probe(self, frame: Frame) -> bool:
        if frame.direction is Direction.TO_SERVER:
            messages = decode(frame.body).messages
            return any(each.method == "server/discover" and each.id in self._vain for each in messages)
        return frame.direction is Direction.TO_CLIENT and self._answers_a_probe(frame)

    def _answers_a_probe(self, frame: Frame) -> bool:
        if frame.channel is Channel.STDERR:
            return False
        messages = decode(frame.body).messages
        answers = [each for each in messages if each.kind in ANSWERS and each.id in self._vain]
        self._vain -= {each.id for each in answers if each.id is not None and self._over}
        return bool(answers)


def _on_a_line(frame: Frame) -> Frame:
    """A body as it would go over lines: between tokens of JSON a line end is as good as a blank."""
    if frame.kind is Kind.INVALID:
        return frame._replace(kind=Kind.HTTP)
    body = frame.body
    if b"\n" in body or b"\r" in body:
        body = body.replace(b"\r", b" ").replace(b"\n", b" ")
    return frame._replace(body=body, ending=Ending.LF)


def _event(frame: Frame) -> str:
    try:
        event = loads(frame.body)
    except (ValueError, RecursionError):
        return ""
    return str(event.get("event")) if isinstance(event, dict) else ""
