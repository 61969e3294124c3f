"""Bytes in, whole lines out.

The rule of the stdio wire (all revisions, "Transports: stdio"): one message a
line, ended by ``\\n``. A carriage return before it belongs to the line, because
a recording holds what was sent. There is no limit on a line's length, and the
time is linear in it: the pieces of an unfinished line are kept in a list and
joined once, so a 100 MB line costs no more per byte than a short one.
"""

from __future__ import annotations


class LineSplitter:
    """Splits one byte stream into lines.

    ``feed`` returns the lines that were completed, without their ``\\n``; ``end`` returns what
    was left when the stream ended, or ``None`` when it ended with a ``\\n`` (or was empty).
    """

    __slots__ = ("_parts", "pending")

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        #: Bytes held back because their line has not ended yet.
        self.pending = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        last = chunk.rfind(b"\n")
        if last < 0:
            if chunk:
                self._parts.append(chunk)
                self.pending += len(chunk)
            return []
        head = chunk[:last]
        if self._parts:
            self._parts.append(head)
            head = b"".join(self._parts)
            self._parts.clear()
        rest = chunk[last + 1 :]
        if rest:
            self._parts.append(rest)
        self.pending = len(rest)
        return head.split(b"\n")

    def end(self) -> bytes | None:
        if not self._parts:
            return None
        rest = b"".join(self._parts)
        self._parts.clear()
        self.pending = 0
        return rest
