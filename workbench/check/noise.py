"""Noise on stdout: lines that are no messages, told by what made them, and odd line ends."""

from __future__ import annotations

import re

from workbench.check.rule import ALL, Rule
from workbench.check.watched import Watched
from workbench.core.frame import Direction, Ending, Kind

_STDIO = "Transports: stdio"

STDOUT_TEXT = Rule(
    "stdout-text",
    "error",
    ALL,
    _STDIO,
    "A line on stdout is text: stdout carries messages only, and what a server has to say to people "
    "goes to stderr. Some clients end the connection here.",
    ("@ 2025-11-25", "< Server v1 up on stdin"),
)
STDOUT_ANSI = Rule(
    "stdout-ansi",
    "error",
    ALL,
    _STDIO,
    "A line on stdout is coloured text for a terminal: stdout carries messages only.",
    ("@ 2025-11-25", "< \x1b[32mready\x1b[0m"),
)
LSP_FRAMING = Rule(
    "lsp-framing",
    "error",
    ALL,
    _STDIO,
    "The message is framed with Content-Length, as the Language Server Protocol does it; in MCP a line is "
    "a message.",
    ("@ 2025-11-25", "< Content-Length: 38"),
)
PRETTY_PRINTED = Rule(
    "pretty-printed",
    "error",
    ALL,
    _STDIO,
    "A message is spread over several lines; each line is one message, so none of them can be read. "
    "It is told once for all its lines.",
    ("@ 2025-11-25", "< {", '<   "jsonrpc": "2.0",', '<   "method": "notifications/message"', "< }"),
)
CRLF = Rule(
    "crlf",
    "info",
    ALL,
    _STDIO,
    "Lines end with carriage return and line feed where a line feed alone is asked for. It is told once "
    "for each direction.",
    (
        "@ 2025-11-25",
        '< {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\r',
    ),
)

RULES = (STDOUT_TEXT, STDOUT_ANSI, LSP_FRAMING, PRETTY_PRINTED, CRLF)

_CONTENT_LENGTH = re.compile(rb"Content-Length: *\d+", re.IGNORECASE)

#: Bytes at the beginning of a line in which its sort is looked for.
_LOOKED_AT = 4096


class Noise:
    """Looks at the lines of one connection."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._spread: bytes | None = None  # what ends the message that is spread over lines
        self._framed = False
        self._crlf: set[Direction] = set()

    def explains(self) -> bool:
        """Take the line that is looked at; whether that it is no message is told by its looks."""
        frame, decoded = self._watched.frame, self._watched.decoded
        if frame.body.endswith(b"\r") and frame.direction not in self._crlf:
            self._crlf.add(frame.direction)
            self._watched.found(CRLF)
        if decoded.kind is Kind.INVALID and frame.direction is Direction.TO_CLIENT:
            return self._by_its_looks(frame.body)
        self._spread = None
        return False

    def _by_its_looks(self, body: bytes) -> bool:
        watched = self._watched
        start = body[:_LOOKED_AT]
        bare = start.strip()
        if self._spread is not None:
            if bare == self._spread and start[:1] == bare[:1]:
                self._spread = None
            return True
        if bare in (b"{", b"[") and watched.frame.ending is Ending.LF:
            self._spread = b"}" if bare == b"{" else b"]"
            watched.found(PRETTY_PRINTED)
            return True
        framed, self._framed = self._framed, False
        if not bare:
            return framed
        if "not-json" not in watched.decoded.defects:
            return False
        if _CONTENT_LENGTH.search(start):
            self._framed = True
            watched.found(LSP_FRAMING)
        elif b"\x1b[" in start:
            watched.found(STDOUT_ANSI)
        elif bare[:1] not in (b"{", b"["):
            watched.found(STDOUT_TEXT, detail=bare[:80].decode("utf-8", "replace"))
        else:
            return False
        return True
