"""What panes show of one connection: a pure function of its frames."""

from __future__ import annotations

from workbench.core.frame import Frame
from workbench.core.jsonrpc import Decoded
from workbench.core.view import ConnectionView, Item, LogEntry, OpenCall, PeerCall, Step

__all__ = ["ConnectionFold", "ConnectionView", "Item", "LogEntry", "OpenCall", "PeerCall", "Step"]

#: Characters of a log message that are kept.
MAX_LOG_TEXT = 4_000


class ConnectionFold:
    def __init__(self, number: int, name: str = "", transport: str = "stdio", target: str = "") -> None:
        self._view = ConnectionView(number, name, transport, target)

    def advance(self, frame: Frame, decoded: Decoded | None = None) -> None:
        del frame, decoded

    def snapshot(self) -> ConnectionView:
        return self._view
