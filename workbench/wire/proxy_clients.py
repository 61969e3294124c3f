"""Whose request it is: a proxy's clients, each a connection of the recording.

* Handshake era: a session is one, from its ``initialize`` on. Where a server grants no session, it is
  whoever comes from the same place under the same ``User-Agent``.
* Stateless era: who it says it is (``clientInfo``) at a path. A TCP connection says nothing there: a client
  opens one for every request that is under way, and its calls would be strewn over recordings that
  nothing can be replayed from. So two copies of one program are one client.
* The older HTTP with SSE: a stream is one, and what is sent to the endpoint it named.

What was refused settles nothing: a client that is refused the stateless era, a login or the newer
transport goes on by itself, and that stays one connection. So do the documents of authorization.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from typing import Any, NamedTuple

from workbench.core.actions import error_sentence
from workbench.core.frame import ANSWERS, Kind
from workbench.core.jsonrpc import Decoded, Message, dumps
from workbench.core.methods import HANDSHAKE_REVISIONS
from workbench.core.parties import META, Parties
from workbench.core.peek import peek
from workbench.wire.http_library import httpx
from workbench.wire.tap import Tap

#: Sessions, endpoints and other keys that are remembered, each; the oldest is forgotten.
MOST_KEYS = 10_000

#: Redirects that somebody may still follow.
MOST_FOLLOWED = 1_000

#: Event ids of a client that are remembered with the stream they came on.
MOST_EVENTS = 10_000


class Asked(NamedTuple):
    """What of a request says whose it is. ``origin`` is where it comes from and under which name;
    ``target`` is path and query as they were written."""

    verb: str
    target: str
    session: str
    version: str
    events: bool
    origin: tuple[str, str]
    decoded: Decoded


class Client:
    """A client. ``settled`` tells that the server took it for what it says it is."""

    def __init__(self, tap: Tap, describe: Callable[..., None]) -> None:
        self.tap = tap
        self.session = ""
        self.settled = False
        #: Its ``initialize`` or ``server/discover`` that was refused, in a sentence.
        self.refused = ""
        self.closed_how = ""
        #: What it began with, as long as that has not been answered.
        self.opening: Message | None = None
        self.parties = Parties()
        self.events: OrderedDict[str, int] = OrderedDict()
        self._describe = describe
        self._written = False

    def noted(self, identity: str, stream: int) -> None:
        """Remember on which stream an event came."""
        _put(self.events, identity, stream, MOST_EVENTS)

    def says(self, decoded: Decoded) -> None:
        """The client has sent something."""
        for message in decoded.messages:
            if message.kind is not Kind.REQUEST:
                continue
            if message.method == "initialize":
                self.parties.asked(message)
                self.opening = message
            elif self.parties.era != "legacy" and self.parties.stateless(message):
                if message.method == "server/discover":
                    self.opening = message
                elif not self._written:
                    self._write()

    def hears(self, message: Message) -> None:
        """The server has sent something."""
        asked = self.opening
        if asked is None or message.kind not in ANSWERS or message.id not in (asked.id, None, "null"):
            self.settled = self.settled or message.kind is Kind.RESULT
            return
        self.opening = None
        if message.kind is Kind.ERROR:
            self.refused = error_sentence(peek(message, "error"))
            self.parties = Parties()  # what was refused may be followed by the other era
            return
        self.settled, self.refused = True, ""
        if asked.method == "initialize":
            self.parties.answered(message)
        else:
            self.parties.era = "modern"
            self.parties.discovered(message)
        self._write()

    def _write(self) -> None:
        """Write down who talks to whom."""
        self._written = True
        parties = self.parties
        self._describe(
            era=parties.era or None,
            era_found={"legacy": "initialize", "modern": "what the client says"}.get(parties.era),
            revision=parties.revision,
            client_info=dumps(parties.client_info),
            server_info=dumps(parties.server_info),
            client_capabilities=dumps(parties.client_capabilities),
            server_capabilities=dumps(parties.server_capabilities),
        )

    def ended(self, how: str) -> None:
        if not self.closed_how:
            self.closed_how = how
            self._describe(closed_ns=self.tap.wall_ns(), closed_how=how)


class Clients:
    """All that have come. ``new`` makes one."""

    def __init__(self, new: Callable[[], Client]) -> None:
        self._all: dict[Client, None] = {}
        self._new = new
        self._sessions: OrderedDict[str, Client] = OrderedDict()
        self._endpoints: OrderedDict[str, Client] = OrderedDict()
        self._named: OrderedDict[str, Client] = OrderedDict()
        self._last: OrderedDict[tuple[str, str], Client] = OrderedDict()
        self._free: OrderedDict[tuple[str, str], Client] = OrderedDict()
        self._older: OrderedDict[str, None] = OrderedDict()
        self._followed: OrderedDict[Any, int] = OrderedDict()

    def of(self, asked: Asked) -> Client:
        """Whose request it is, which may be a new client's."""
        client = self._known(asked) or self._opening(asked) or self._last.get(asked.origin)
        if client is None:
            client = self._come(asked)
            self.free(client, asked.origin)
        _put(self._last, asked.origin, client)
        return client

    def end(self) -> None:
        """Nobody comes any more."""
        for client in self._all:
            client.ended("closed")

    def _known(self, asked: Asked) -> Client | None:
        if asked.session:
            known = self._sessions.get(asked.session)
            if known is None:  # it began before us, or another client of its own began it
                known = self._come(asked)
                self.granted(known, asked.session)
            return known
        return self._endpoints.get(asked.target) if asked.verb == "POST" else None

    def _opening(self, asked: Asked) -> Client | None:
        """Whose it is, if it is a request to begin with."""
        if asked.verb == "POST" and _initializes(asked.decoded):
            return self._taken(asked) or self._come(asked)
        said = _who(asked)
        if said is not None:
            known = self._named.get(said) or self._taken(asked) or self._come(asked)
            _put(self._named, said, known)
            return known
        if asked.verb == "GET" and asked.events:
            client = self._taken(asked)
            if client is not None or asked.target in self._older:
                return client or self._come(asked)
            return None if asked.origin in self._last else self._come(asked)
        return None

    def _come(self, asked: Asked) -> Client:
        client = self._new()
        self._all[client] = None
        _put(self._last, asked.origin, client)
        return client

    def _taken(self, asked: Asked) -> Client | None:
        client = self._free.pop(asked.origin, None)
        if client is not None and client.settled:
            return None
        if client is not None:
            for said in [said for said, each in self._named.items() if each is client]:
                del self._named[said]
        return client

    # What answers say

    def free(self, client: Client, origin: tuple[str, str]) -> None:
        """Nothing is settled: what comes next from there may be the same client's."""
        if not client.settled:
            _put(self._free, origin, client)

    def granted(self, client: Client, session: str) -> None:
        """The client has got a session."""
        client.session = session
        client.settled = True
        _put(self._sessions, session, client)

    def lost(self, client: Client) -> None:
        """Its session is over."""
        self._sessions.pop(client.session, None)
        self._all.pop(client, None)

    def is_endpoint(self, asked: Asked) -> bool:
        """Whether it is sent to the endpoint of an older stream."""
        return asked.verb == "POST" and asked.target in self._endpoints

    def redirected(self, client: Client, asked: Asked, url: httpx.URL, body: bytes, number: int) -> None:
        """Who follows a redirect sends the same again, on the stream of this number."""
        key = (client, url.raw_path.decode("ascii"), asked.verb, sha256(body).digest())
        _put(self._followed, key, number, MOST_FOLLOWED)

    def repeats(self, client: Client, asked: Asked, body: bytes) -> int:
        """The number that a request was given beforehand, because it follows a redirect; else 0."""
        key = (client, asked.target, asked.verb, sha256(body).digest())
        number: int = self._followed.pop(key, 0)
        return number

    def older(self, client: Client, asked: Asked, endpoint: str) -> Client:
        """A stream of the older transport has named its endpoint (path and query); returns whose it is."""
        if client.settled:
            client = self._come(asked)
        client.settled = True
        _put(self._older, asked.target, None)
        _put(self._endpoints, endpoint, client)
        return client


def _put(among: OrderedDict[Any, Any], key: Any, value: Any, most: int = MOST_KEYS) -> None:
    among[key] = value
    among.move_to_end(key)
    if len(among) > most:
        among.popitem(last=False)


def _initializes(decoded: Decoded) -> bool:
    return any(each.kind is Kind.REQUEST and each.method == "initialize" for each in decoded.messages)


def _who(asked: Asked) -> str | None:
    """Who a client of the stateless era says it is, and where it says so."""
    if asked.verb != "POST":
        return None
    messages = asked.decoded.messages
    meta = peek(messages[0], "params", "_meta") if messages else None
    meta = meta if isinstance(meta, dict) else {}
    later = asked.version and asked.version not in HANDSHAKE_REVISIONS
    if not later and META + "protocolVersion" not in meta:
        return None
    return dumps([asked.target, asked.origin, meta.get(META + "clientInfo")])
