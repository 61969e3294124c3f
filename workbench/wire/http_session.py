"""What both sides of one HTTP connection carry in headers: session, revision, and the user's own.

The session id is what the answer to ``initialize`` granted, and nothing else.
An id that comes later is shown and not taken over: the protocol lets a server
set it only there, and a client that follows whatever the last answer named
would be moved to another session by one misrouted request, unseen.

Source: "Session Management" and "Protocol Version Header", 2025-03-26 to 2025-11-25.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from workbench.core.methods import LATEST_HANDSHAKE
from workbench.wire.http_exchange import Answer
from workbench.wire.http_target import check_headers
from workbench.wire.tap import Tap

SESSION = "Mcp-Session-Id"
VERSION = "MCP-Protocol-Version"

POST = (("Accept", "application/json, text/event-stream"), ("Content-Type", "application/json"))
GET = (("Accept", "text/event-stream"),)

#: Foreign session ids that are told, each once.
MOST_TOLD = 20

#: What a user may have set for POSTs means nothing on another request.
_OF_POSTS = frozenset(("accept", "content-type", "content-length"))

Headers = Sequence[tuple[str, str]]


class HttpSession:
    """The headers of one connection. ``id`` is empty without a session; ``version`` is the last
    ``MCP-Protocol-Version`` the conversation sent; ``bearer`` gives the ``Authorization`` that requests carry
    now, empty for none."""

    def __init__(self, headers: Mapping[str, str], tap: Tap) -> None:
        check_headers(headers)
        self.id = ""
        self.version = ""
        self.bearer: Callable[[], str] = lambda: ""
        self._own = tuple(headers.items())
        self._tap = tap
        self._foreign: set[str] = set()

    @property
    def is_stateless(self) -> bool:
        """Whether the conversation speaks the stateless era, which resumes nothing."""
        return self.version > LATEST_HANDSHAKE and self.version[:1].isdigit()

    def post(self, headers: Headers) -> list[tuple[str, str]]:
        """The headers of a POST; what the user gave for the target wins over everything."""
        for name, value in headers:
            if name.lower() == VERSION.lower():
                self.version = value
        return _merged((*POST, *self._session(), *headers, *self._own))

    def other(self, headers: Headers = ()) -> list[tuple[str, str]]:
        """The headers of a GET or DELETE."""
        version = ((VERSION, self.version),) if self.version else ()
        own = tuple(pair for pair in self._own if pair[0].lower() not in _OF_POSTS)
        return _merged((*self._session(), *version, *headers, *own))

    def _session(self) -> Headers:
        session = ((SESSION, self.id),) if self.id else ()
        bearer = self.bearer()
        return (*session, ("Authorization", bearer)) if bearer else session

    def answered(self, answer: Answer, initializes: bool) -> None:
        """Look at the head of an answer for a session id."""
        told = answer.headers.get(SESSION, "").strip()
        if not told or told == self.id:
            return
        if initializes and answer.succeeded:
            self.id = told
            self._tap.process("session", state="granted", id=told)
        elif told not in self._foreign and len(self._foreign) < MOST_TOLD:
            self._foreign.add(told)
            self._tap.process("session", state="other", id=told, ours=self.id)

    def lost(self) -> None:
        """The server knows it no more."""
        self._tap.process("session", state="lost", id=self.id)
        self.id = ""

    def ended(self, kept: str = "") -> None:
        """We have ended it; ``kept`` is the reason why the server keeps it nevertheless."""
        if kept:
            self._tap.process("session", state="kept", id=self.id, why=kept)
        else:
            self._tap.process("session", state="ended", id=self.id)
        self.id = ""


def _merged(headers: Headers) -> list[tuple[str, str]]:
    """Each name once, whatever its case: the last value counts."""
    merged: dict[str, tuple[str, str]] = {}
    for name, value in headers:
        merged[name.lower()] = (name, value)
    return list(merged.values())
