"""Content encodings, read beside what is passed on unread.

Source: RFC 9110, 8.4.1. ``deflate`` is zlib's format, and without its head what some servers send.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

#: Those that can be read, as they stand in ``Accept-Encoding``.
READABLE = frozenset((b"gzip", b"x-gzip", b"deflate", b"identity"))

#: How much is made of a chunk at once (bytes): a small one may stand for a thousand times as much.
PIECE = 1024 * 1024

_GZIP = 16 + zlib.MAX_WBITS


class Decoder:
    """Makes a body readable, piece by piece. What cannot be read stays as it is, from there on.

    ``encoding`` is the ``Content-Encoding``.
    """

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding.strip().lower()
        self._zlib: Any = None
        if self._encoding in ("gzip", "x-gzip"):
            self._zlib = zlib.decompressobj(_GZIP)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """The pieces that a chunk stands for."""
        if self._encoding == "deflate" and self._zlib is None and chunk:
            # The head of zlib's format: method 8, and together a multiple of 31.
            with_head = chunk[0] & 0x0F == 8 and int.from_bytes(chunk[:2].ljust(2, b"\0"), "big") % 31 == 0
            self._zlib = zlib.decompressobj(zlib.MAX_WBITS if with_head else -zlib.MAX_WBITS)
        if self._zlib is None:
            yield chunk
            return
        rest, full = chunk, False
        while rest or full:
            try:
                piece = self._zlib.decompress(rest, PIECE)
            except zlib.error:
                self._zlib, self._encoding = None, ""
                yield rest
                return
            if piece:
                yield piece
            full = len(piece) >= PIECE
            rest = self._zlib.unconsumed_tail or self._next_member()

    def _next_member(self) -> bytes:
        """What follows the end of a gzip member: another one, or nothing that counts."""
        rest: bytes = self._zlib.unused_data if self._zlib.eof else b""
        if rest[:2] != b"\x1f\x8b":
            return b""
        self._zlib = zlib.decompressobj(_GZIP)
        return rest
