"""What the process frames of a recording tell: who ended the conversation, and how.

A server that hung up or exited by itself did that as part of what it did, and
does it again. What the recorder's own shutdown brought about is not replayed.
"""

from __future__ import annotations

from typing import Any

from workbench.core.frame import Channel, Frame
from workbench.core.jsonrpc import loads
from workbench.replay.cues import END, EOF, Script

#: Numbers of signals by name, for the status a shell would give (128 + n).
_SIGNALS = {"HUP": 1, "INT": 2, "QUIT": 3, "ABRT": 6, "KILL": 9, "SEGV": 11, "PIPE": 13, "TERM": 15}

_ENDS = ("signal", "closed", "stdin_closed", "stdout_closed", "exited")


class Ends:
    """Follows the process frames of one connection. ``told``: the recording says how it ended."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._client_left = False
        self._hung_up = False
        self._ended = False

    def going_on(self, script: Script) -> Ends:
        """The same for a script of its own, from here on."""
        script.code = self._script.code
        ends = Ends(script)
        ends._client_left, ends._hung_up, ends._ended = self._client_left, self._hung_up, self._ended
        return ends

    @property
    def told(self) -> bool:
        return self._client_left or self._hung_up or self._ended

    def take(self, frame: Frame) -> tuple[str, int] | None:
        """What the server did by itself (``EOF`` or ``END``) and its exit status, if it did."""
        event = _event(frame.body)
        what = event.get("event")
        if what in ("signal", "closed") or (what == "stdin_closed" and not self._hung_up):
            self._client_left = True
        elif what == "stdout_closed" and not self._client_left and not self._ended:
            # A client closes stdin on this, so what comes now is still the server's doing.
            self._hung_up = True
            return EOF, 0
        elif what == "exited" and not self._ended:
            return self._exited(event)
        return None

    def _exited(self, event: dict[str, Any]) -> tuple[str, int] | None:
        code = event.get("code")
        killed = not isinstance(code, int)
        status = 128 + _SIGNALS.get(str(event.get("signal")), 15) if killed else int(code or 0)
        if self._client_left:
            # A shutdown that took a signal is no verdict on the server.
            self._script.code = 0 if killed else status
            return None
        self._ended = True
        self._script.code = status
        return END, status


def is_end(frame: Frame) -> bool:
    """Whether a frame tells that somebody left, hung up or exited."""
    return frame.channel is Channel.PROCESS and _event(frame.body).get("event") in _ENDS


def _event(body: bytes) -> dict[str, Any]:
    try:
        event = loads(body)
    except (ValueError, RecursionError):
        return {}
    return event if isinstance(event, dict) else {}
