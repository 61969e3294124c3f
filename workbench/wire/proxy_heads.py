"""What a proxy changes in heads, and nothing more: what belongs to one hop, and who is spoken to.

* Headers of one hop stay on it (RFC 9110, 7.6.1); the framing of bodies is each hop's own.
* The server gets its own ``Host``, and its own origin where the client names one: servers refuse others
  ("Transports: security").
* The server is asked for no content encoding that cannot be read here: it would be recorded unread.
* The client gets URLs of the server as URLs of the proxy, where it would go there next: ``Location``, and
  the ``endpoint`` of the older HTTP with SSE.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.core.sse import ServerEvent
from workbench.wire.decoding import READABLE
from workbench.wire.http_library import httpx

Raw = list[tuple[bytes, bytes]]

_OF_ONE_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)

#: Written anew. Bodies are sent whole, so what a client expects before it sends one has come already.
_OF_THE_PROXY = frozenset((b"host", b"content-length", b"expect"))

#: The first event of a stream is waited for so long (bytes); what is longer is no endpoint.
LONGEST_FIRST = 64 * 1024


def upwards(headers: Raw, server: httpx.URL, more: Iterable[tuple[str, str]] = ()) -> Raw:
    """The headers of a request as the server gets them. ``more`` take the place of those of their name."""
    own = [(name.encode("ascii"), value.encode("utf-8", "surrogateescape")) for name, value in more]
    left_out = {name.lower() for name, _ in own} | _OF_THE_PROXY
    sent = [(b"Host", host_of(server))]
    for name, value in _of_the_message(headers):
        plain = name.lower()
        if plain not in left_out:
            changed = {b"origin": origin_of(server), b"accept-encoding": readable(value)}
            sent.append((name, changed.get(plain, value)))
    return sent + own


def downwards(headers: Raw, asked: httpx.URL, server: httpx.URL, ours: str) -> Raw:
    """The headers of an answer as the client gets them; ``ours`` is the proxy's origin."""
    return [
        (name, relocated(value, asked, server, ours) if name.lower() == b"location" else value)
        for name, value in _of_the_message(headers)
    ]


def _of_the_message(headers: Raw) -> Raw:
    """Without what belongs to one hop, which ``Connection`` may name more of."""
    named = {
        word.strip().lower()
        for name, value in headers
        if name.lower() == b"connection"
        for word in value.split(b",")
    }
    return [pair for pair in headers if (plain := pair[0].lower()) not in _OF_ONE_HOP and plain not in named]


def readable(accepted: bytes) -> bytes:
    """Of the encodings a client takes those that can be read here."""
    kept = [word for word in accepted.split(b",") if word.partition(b";")[0].strip().lower() in READABLE]
    return b",".join(kept).strip() or b"identity"


def host_of(url: httpx.URL) -> bytes:
    """Host, with the port if it is not the scheme's own."""
    return url.netloc


def origin_of(url: httpx.URL) -> bytes:
    return url.scheme.encode("ascii") + b"://" + url.netloc


def is_of(url: httpx.URL, server: httpx.URL) -> bool:
    """Whether a URL is of this server's origin."""
    return (url.scheme, url.host, _port(url)) == (server.scheme, server.host, _port(server))


def _port(url: httpx.URL) -> int:
    return url.port or {"http": 80, "https": 443}.get(url.scheme, 0)


def relocated(location: bytes, asked: httpx.URL, server: httpx.URL, ours: str) -> bytes:
    """A ``Location`` for the client. Relative ones and those of other servers stay as they are."""
    text = location.decode("utf-8", "surrogateescape").strip()
    if "//" not in text.partition("?")[0]:
        return location
    try:
        url = asked.join(text)
    except (httpx.InvalidURL, ValueError):
        return location
    return _moved(text, ours) if is_of(url, server) else location


def _moved(text: str, ours: str) -> bytes:
    """An absolute URL with another origin, and every byte after that as it was."""
    rest = text.partition("//")[2]
    cut = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
    return (ours + rest[cut:]).encode("utf-8", "surrogateescape")


class FirstEvent:
    """Passes an event stream on, with the URL in its ``endpoint`` event made one of the proxy.

    ``over`` tells that nothing is changed any more. Comments may stand before that event.
    """

    def __init__(self, asked: httpx.URL, server: httpx.URL, ours: str) -> None:
        self.over = False
        self._held = b""
        self._asked = asked
        self._server = server
        self._ours = ours

    def take(self, chunk: bytes, events: Iterable[ServerEvent]) -> bytes:
        """What can be passed on after a chunk, in which these events ended."""
        self._held += chunk
        out: list[bytes] = []
        for event in events:
            if self.over:
                break
            size = len(event.raw)
            piece, self._held = self._held[:size], self._held[size:]
            if event.name == "endpoint" and event.finished:
                piece = self._rewritten(piece, event.data)
            self.over = not event.comment
            out.append(piece)
        self.over = self.over or len(self._held) > LONGEST_FIRST
        if self.over:
            out.append(self.rest())
        return b"".join(out)

    def rest(self) -> bytes:
        """What is held back."""
        held, self._held = self._held, b""
        return held

    def _rewritten(self, piece: bytes, data: bytes) -> bytes:
        moved = relocated(data, self._asked, self._server, self._ours)
        return piece if moved == data else piece.replace(data.strip(), moved, 1)
