"""Rows of HTTP streams, as the streams they stand for. They are written in ``heads``."""

from __future__ import annotations

from typing import Any

from workbench.core.frame import Stream
from workbench.core.jsonrpc import loads

#: The columns of ``stream`` after the session, as ``stream_of`` takes them.
COLUMNS = (
    "number, connection, verb, url, status, encoding, wire_bytes, request_headers, response_headers, "
    "opened_ns, closed_ns, closed_how"
)

Headers = tuple[tuple[str, str], ...]


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


def _headers(text: str | None) -> Headers:
    return tuple((str(name), str(value)) for name, value in loads(text)) if text else ()
