"""What is open between the two sides at a moment: our calls, and what the peer asks."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import replace
from typing import TypeVar

from workbench.core.exchanges import Exchange
from workbench.core.frame import Frame
from workbench.core.jsonrpc import Message
from workbench.core.peek import number, peek
from workbench.core.signature import cut
from workbench.core.view import OpenCall, PeerCall

#: Calls, and requests of the peer, that are shown as open at once.
MAX_OPEN = 10_000

#: Characters of a progress message.
MAX_MESSAGE = 500

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class InFlight:
    """Open calls and peer requests, oldest first."""

    def __init__(self) -> None:
        self._calls: OrderedDict[tuple[int, int], OpenCall] = OrderedDict()
        self._asked: OrderedDict[tuple[int, int], PeerCall] = OrderedDict()
        self._told_calls: tuple[OpenCall, ...] | None = ()
        self._told_asked: tuple[PeerCall, ...] | None = ()

    @property
    def calls(self) -> tuple[OpenCall, ...]:
        if self._told_calls is None:
            self._told_calls = tuple(self._calls.values())
        return self._told_calls

    @property
    def asked(self) -> tuple[PeerCall, ...]:
        if self._told_asked is None:
            self._told_asked = tuple(self._asked.values())
        return self._told_asked

    def call_opened(self, frame: Frame, exchange: Exchange) -> None:
        call = OpenCall(exchange.id, frame.seq, exchange.method, exchange.name, frame.mono_ns)
        keep(self._calls, exchange.key, call, MAX_OPEN)
        self._told_calls = None

    def call_ended(self, exchange: Exchange) -> None:
        if self._calls.pop(exchange.key, None) is not None:
            self._told_calls = None

    def progressed(self, exchange: Exchange, message: Message) -> None:
        """Take the progress of a call, as it was sent."""
        call = self._calls.get(exchange.key)
        if call is None:
            return
        text = peek(message, "params", "message")
        self._calls[exchange.key] = replace(
            call,
            progress=number(peek(message, "params", "progress")),
            total=number(peek(message, "params", "total")),
            message=cut(text, MAX_MESSAGE) if isinstance(text, str) else "",
        )
        self._told_calls = None

    def peer_asked(self, frame: Frame, exchange: Exchange, message: Message) -> None:
        params = peek(message, "params")
        asked = PeerCall(exchange.id, frame.seq, exchange.method, params, frame.mono_ns)
        keep(self._asked, exchange.key, asked, MAX_OPEN)
        self._told_asked = None

    def peer_ended(self, exchange: Exchange) -> None:
        if self._asked.pop(exchange.key, None) is not None:
            self._told_asked = None

    def asked_within(self, key: tuple[int, int], asked: PeerCall) -> None:
        """Something is asked within a result; ``key`` tells it from everything else that is asked."""
        keep(self._asked, (-key[0], key[1]), asked, MAX_OPEN)
        self._told_asked = None

    def ended_within(self, key: tuple[int, int]) -> None:
        if self._asked.pop((-key[0], key[1]), None) is not None:
            self._told_asked = None

    def clear(self) -> None:
        """The peer is gone: nothing is open any more."""
        self._calls.clear()
        self._asked.clear()
        self._told_calls = ()
        self._told_asked = ()


def keep(kept: OrderedDict[_Key, _Value], key: _Key, value: _Value, most: int) -> None:
    """Set an entry, and drop the oldest beyond ``most``."""
    kept[key] = value
    if len(kept) > most:
        kept.popitem(last=False)
