"""Made-up frames for the frame log: a source with as many rows as asked for, none of them kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

from workbench.core.frame import PREVIEW_BYTES, Channel, Direction, Kind, Row
from workbench.core.frame_filter import FrameFilter, Term

_TOOLS = ("weather_current", "calculator_arithmetic", "long_operation", "search")


def made(seq: int, height: int) -> Row:
    """The row number ``seq`` of a session that goes request, result, notification, stderr, …"""
    turn, step = divmod(seq - 1, 4)
    wall = 1_700_000_000_000_000_000 + seq * 31_000_000
    tool = _TOOLS[turn % len(_TOOLS)]
    connection = 1 + turn % 2

    def row(kind: Kind, way: Direction, body: bytes, **more: object) -> Row:
        channel = Channel.STDERR if kind is Kind.STDERR else Channel.STDIO
        return Row(
            seq,
            connection,
            wall,
            wall,
            way,
            channel,
            kind,
            len(body),
            body[:PREVIEW_BYTES],
            **more,  # type: ignore[arg-type]
        )

    if step == 0:
        body = json.dumps(
            {
                "jsonrpc": "2.0",
                "id": turn,
                "method": "tools/call",
                "params": {"name": tool, "arguments": {"duration": 20}},
            }
        )
        return row(
            Kind.REQUEST,
            Direction.TO_SERVER,
            body.encode(),
            method="tools/call",
            name=tool,
            id=str(turn),
            pair=seq + 1 if seq + 1 <= height else None,
        )
    if step == 1:
        failed = turn % 5 == 4
        body = (
            f'{{"jsonrpc":"2.0","id":{turn},"error":{{"code":-32602,"message":"Unknown tool: {tool}"}}}}'
            if failed
            else f'{{"jsonrpc":"2.0","id":{turn},"result":{{"content":[{{"type":"text","text":"68"}}]}}}}'
        )
        return row(
            Kind.ERROR if failed else Kind.RESULT,
            Direction.TO_CLIENT,
            body.encode(),
            method="tools/call",
            name=tool,
            id=str(turn),
            pair=seq - 1,
            duration_ns=31_000_000,
        )
    if step == 2:
        body = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":2,"total":5}}'
        return row(Kind.NOTIFICATION, Direction.TO_CLIENT, body.encode(), method="notifications/progress")
    return row(Kind.STDERR, Direction.TO_CLIENT, f"step {turn}".encode())


class MadeFrames:
    """A ``Source`` that makes its rows up when it is asked; ``asked`` counts the rows given out."""

    def __init__(self, height: int) -> None:
        self.size = height
        self.asked = 0

    def height(self) -> int:
        return self.size

    def window(self, first: int, last: int) -> list[Row]:
        rows = [made(seq, self.size) for seq in range(max(first, 1), min(last, self.size) + 1)]
        self.asked += len(rows)
        return rows

    def rows(self, seqs: Sequence[int]) -> list[Row]:
        self.asked += len(seqs)
        return [made(seq, self.size) for seq in seqs if 1 <= seq <= self.size]

    def matching(
        self,
        wanted: FrameFilter,
        *,
        first: int = 1,
        last: int | None = None,
        newest_first: bool = True,
        connection: int | None = None,
        found: Callable[[int], tuple[str, ...]] | None = None,  # noqa: ARG002 - nothing is found here
        stop: Callable[[], bool] | None = None,
    ) -> Iterator[list[int]]:
        seqs: Sequence[int] = range(first, (last or self.size) + 1)
        ordered = list(reversed(seqs) if newest_first else seqs)
        for at in range(0, len(ordered), 2_048):
            if stop is not None and stop():
                return
            rows = [made(seq, self.size) for seq in ordered[at : at + 2_048]]
            yield [
                row.seq
                for row in rows
                if connection in (None, row.connection) and all(passes(row, term) for term in wanted)
            ]


def passes(row: Row, term: Term) -> bool:
    """Whether a row passes a term of those that are tried here: text, and kinds."""
    if term.key == "kind":
        return (row.kind.name.lower() in term.values) is not term.negated
    assert term.key == "text"
    has = any(term.values[0].encode() in each for each in (row.preview, (row.name or "").encode()))
    return has is not term.negated
