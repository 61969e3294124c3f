"""Rows of the tables as the frames they stand for."""

from __future__ import annotations

from typing import Any

from workbench.core.frame import PREVIEW_BYTES, Channel, Direction, Ending, Frame, Kind, Row, Span
from workbench.core.jsonrpc import loads
from workbench.store.queries import Queries

#: What ``Shaping.row`` takes; the frame is ``f``. To be formatted with the session.
ROW = (
    "SELECT f.key, f.connection, f.wall, f.mono, f.direction, f.channel, f.kind, f.size, "
    f"substr(f.body, 1, {PREVIEW_BYTES}), f.method, f.id, f.name, p.request, q.mono, "
    "(SELECT min(answer) FROM pair WHERE request=f.key), f.stream, "
    "(SELECT group_concat(rule, ' ') FROM finding WHERE key=f.key), "
    f"CASE f.direction WHEN {int(Direction.TO_CLIENT)} THEN "
    "(SELECT status FROM stream WHERE session={session} AND number=f.stream) END "
    "FROM frame f LEFT JOIN pair p ON p.answer=f.key LEFT JOIN frame q ON q.key=p.request "
)
#: What ``Shaping.frame`` takes.
FRAME = (
    "SELECT key, connection, wall, mono, direction, channel, kind, body, size, ending, method, id, name, "
    "spans, stored, stream, event FROM frame "
)
# A look into a dict takes a tenth of the time that calling the enumeration does.
_DIRECTIONS = {int(direction): direction for direction in Direction}
_CHANNELS = {int(channel): channel for channel in Channel}
_KINDS = {int(kind): kind for kind in Kind}
_ENDINGS = {int(ending): ending for ending in Ending}


class Shaping:
    """Of one session: ``base`` is the key before its first frame, ``started_ns`` and ``mono_ns`` are
    its start on both clocks."""

    def __init__(self, queries: Queries, base: int, started_ns: int, mono_ns: int) -> None:
        self.base = base
        self.started_ns = started_ns
        self._mono_ns = mono_ns
        self._queries = queries

    def complete(self, count: int, low: int, high: int) -> None:
        """Frames have no gaps; a damaged page can end a walk without an error."""
        if count < high - low + 1:
            raise self._queries.damaged(f"frames {low - self.base} to {high - self.base} are not all there")

    def row(self, row: tuple[Any, ...]) -> Row:
        key, connection, wall, mono, direction, channel, kind, size, preview, method, id, name = row[:12]
        request, asked, answer, stream, findings, status = row[12:]
        pair = request if request is not None else answer
        word = self._queries.word
        try:
            return Row(
                key - self.base,
                connection,
                wall + mono + self.started_ns,
                mono + self._mono_ns,
                _DIRECTIONS[direction],
                _CHANNELS[channel],
                _KINDS[kind],
                size,
                preview or b"",  # SQLite's substr of an empty blob is NULL
                word(method),
                id,
                word(name),
                None if pair is None else pair - self.base,
                None if asked is None else mono - asked,
                stream or 0,
                tuple(findings.split()) if findings else (),
                status,
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise self._queries.damaged(f"frame {key - self.base} holds {error}") from None

    def frame(self, row: tuple[Any, ...]) -> Frame:
        key, connection, wall, mono, direction, channel, kind, body, size, ending, method, id, name = row[:13]
        spans, stored, stream, event = row[13:]
        try:
            return Frame(
                seq=key - self.base,
                connection=connection,
                wall_ns=wall + mono + self.started_ns,
                mono_ns=mono + self._mono_ns,
                direction=_DIRECTIONS[direction],
                channel=_CHANNELS[channel],
                kind=_KINDS[kind],
                body=body if stored is None else self._queries.large(key),
                size=size,
                ending=_ENDINGS[ending],
                method=self._queries.word(method),
                id=id,
                name=self._queries.word(name),
                spans=tuple(Span(*span) for span in loads(spans)) if spans else (),
                stream=stream or 0,
                event=event,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise self._queries.damaged(f"frame {key - self.base} holds {error}") from None
