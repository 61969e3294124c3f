"""HTTP streams as rows: everything of a request and its answer but the bodies, secrets out."""

from __future__ import annotations

from typing import Any

from workbench.core.frame import Stream
from workbench.core.jsonrpc import dumps, loads
from workbench.core.redact import Redactor
from workbench.store.backlog import Statement
from workbench.store.rows import plain

#: What is kept of an untrusted head: so many headers, so many characters of a name, value or URL.
MAX_HEADERS = 200
MAX_TEXT = 8192

#: The columns of ``stream`` after the session, as ``stream_of`` takes them.
COLUMNS = (
    "number, connection, verb, url, status, encoding, wire_bytes, request_headers, response_headers, "
    "opened_ns, closed_ns, closed_how"
)
_INSERT = f"INSERT OR REPLACE INTO stream (session, {COLUMNS}) VALUES (1,?,?,?,?,?,?,?,?,?,?,?,?)"

Headers = tuple[tuple[str, str], ...]


def statement_of(stream: Stream, redactor: Redactor | None) -> Statement:
    """What writes a stream down, in place of how it stood before."""
    url = stream.url[:MAX_TEXT]
    return Statement(
        _INSERT,
        (
            stream.number,
            stream.connection,
            stream.verb,
            plain(redactor.url(url) if redactor is not None else url),
            stream.status,
            stream.encoding or None,
            stream.wire_bytes,
            _stored(stream.request_headers, redactor),
            _stored(stream.response_headers, redactor),
            stream.opened_ns,
            stream.closed_ns,
            stream.closed_how or None,
        ),
    )


def stream_of(row: tuple[Any, ...]) -> Stream:
    """The stream that a row stands for. Raises ``ValueError`` or ``TypeError`` if it makes no sense."""
    number, connection, verb, url, status, encoding, wire_bytes, asked, answered, opened, closed, how = row
    return Stream(
        number,
        connection,
        verb or "",
        url or "",
        _headers(asked),
        opened or 0,
        status,
        _headers(answered),
        encoding or "",
        wire_bytes,
        closed,
        how or "",
    )


def _stored(headers: Headers, redactor: Redactor | None) -> str | None:
    if not headers:
        return None
    kept = [(name[:MAX_TEXT], value[:MAX_TEXT]) for name, value in headers[:MAX_HEADERS]]
    if redactor is not None:
        kept = [(name, redactor.header(name, value)) for name, value in kept]
    return plain(dumps(kept))


def _headers(text: str | None) -> Headers:
    return tuple((str(name), str(value)) for name, value in loads(text)) if text else ()
