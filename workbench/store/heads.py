"""HTTP streams as rows: everything of a request and its answer but the bodies, secrets out."""

from __future__ import annotations

from workbench.core.frame import Stream
from workbench.core.jsonrpc import dumps
from workbench.core.redact import Redactor
from workbench.store.backlog import Statement
from workbench.store.rows import plain
from workbench.store.streams import COLUMNS, Headers

#: What is kept of an untrusted head: so many headers, so many characters of a name, value or URL, and
#: about so many of all headers together.
MAX_HEADERS = 200
MAX_TEXT = 8192
MAX_HEAD = 65536

#: Headers and URLs that are remembered with what became of them.
MAX_SHOWN = 500

_INSERT = f"INSERT OR REPLACE INTO stream (session, {COLUMNS}) VALUES (1,?,?,?,?,?,?,?,?,?,?,?,?)"


class Heads:
    """Makes rows of streams. Heads repeat themselves, so what became of a header is remembered."""

    def __init__(self, redactor: Redactor | None) -> None:
        self._redactor = redactor
        self._shown: dict[tuple[str, str], str] = {}
        self._known = 0

    def statement(self, stream: Stream) -> Statement:
        """What writes a stream down, in place of how it stood before."""
        if self._redactor is not None and self._redactor.known != self._known:
            self._known = self._redactor.known
            self._shown.clear()
        return Statement(
            _INSERT,
            (
                stream.number,
                stream.connection,
                stream.verb,
                self._text("", stream.url[:MAX_TEXT]),
                stream.status,
                stream.encoding or None,
                stream.wire_bytes,
                self._stored(stream.request_headers),
                self._stored(stream.response_headers),
                stream.opened_ns,
                stream.closed_ns,
                stream.closed_how or None,
            ),
        )

    def _stored(self, headers: Headers) -> str | None:
        if not headers:
            return None
        kept: list[tuple[str, str]] = []
        left = MAX_HEAD
        for name, value in headers[:MAX_HEADERS]:
            if left <= 0:
                break
            kept.append((name[:MAX_TEXT], self._text(name[:MAX_TEXT], value[:MAX_TEXT])))
            left -= len(name) + len(value)
        return plain(dumps(kept))

    def _text(self, name: str, value: str) -> str:
        """The value of a header, or a URL (without a name), with no secret in it."""
        redactor = self._redactor
        if redactor is None:
            return value if name else plain(value)
        shown = self._shown.get((name, value))
        if shown is None:
            shown = redactor.header(name, value) if name else plain(redactor.url(value))
            if len(self._shown) >= MAX_SHOWN:
                self._shown.clear()
            self._shown[name, value] = shown
        return shown
