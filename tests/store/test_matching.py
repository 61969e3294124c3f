"""What a filter lets pass: asked of SQL, and held against going through every row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.session import calls, record, unit
from workbench.core.frame import Channel, Direction, Kind, Row, Stream
from workbench.core.frame_filter import KINDS, WAYS, Term, matches, parse_filter
from workbench.store.reader import Reader


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    """Calls of two connections, some slow, one large, one open, with findings, stderr and streams."""
    file = tmp_path_factory.mktemp("matching") / "a.db"
    recorder = record(file, calls(30))
    recorder.connect("two", "http", "http://x/mcp")
    recorder.stream(Stream(1, 2, "POST", "http://x/mcp", (), 1, status=503, closed_ns=2, closed_how="end"))
    at = 1_000_000
    for number, (tool, milliseconds) in enumerate((("slow", 900), ("fast", 5), ("we[i]rd", 40)), 100):
        asked = b'{"jsonrpc":"2.0","id":"%d","method":"tools/call","params":{"name":"%s"}}' % (
            number,
            tool.encode(),
        )
        recorder.put(unit(asked, Direction.TO_SERVER, connection=2, at=at))
        answer = unit(
            b'{"jsonrpc":"2.0","id":"%d","error":{"code":1,"message":"m"}}' % number,
            Direction.TO_CLIENT,
            Channel.HTTP,
            connection=2,
            at=at + milliseconds * 1_000_000,
        )
        recorder.put(answer._replace(stream=1))
    recorder.put(unit(b'{"jsonrpc":"2.0","id":7,"method":"ping"}', Direction.TO_SERVER, connection=2))
    big = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"%sneedle"}}' % (
        b"x" * 100_000
    )
    recorder.finding(recorder.put(unit(big, Direction.TO_CLIENT)), "ID-02", "warning")
    recorder.put(unit(b"a line of stderr", Direction.TO_CLIENT, channel=Channel.STDERR))
    recorder.close()
    with Reader.open(str(file)) as opened:
        yield opened


def seqs(reader: Reader, text: str, **more: object) -> list[int]:
    found = reader.matching(parse_filter(text), newest_first=False, **more)  # type: ignore[arg-type]
    return [seq for piece in found for seq in piece]


def passes(reader: Reader, row: Row, term: Term) -> bool:
    """The same without SQL."""
    words = {
        "method": row.method,
        "name": row.name,
        "kind": row.kind.name.lower(),
        "dir": {number: way for way, number in WAYS.items()}[row.direction],
        "id": row.id,
        "status": None if row.status is None else str(row.status),
    }
    if term.key in words:
        texts = [words[term.key]] + ([(row.id or "").strip('"')] if term.key == "id" else [])
        has = any(text is not None and matches(each, text) for text in texts for each in term.values)
    elif term.key == "conn":
        has = str(row.connection) in term.values
    elif term.key == "finding":
        has = any(matches(each, rule) for rule in row.findings for each in term.values)
    elif term.key == "is":
        has = row.kind is Kind.REQUEST and row.pair is None
    elif term.key == "text":
        whole = b"\0".join((reader.body(row.seq), (row.method or "").encode(), (row.name or "").encode()))
        has = term.values[0].encode() in whole
    else:
        asked_ns = None
        if row.kind is Kind.REQUEST and row.pair is not None:
            asked_ns = reader.rows([row.pair])[0].duration_ns
        of = row.size if term.key == "size" else row.duration_ns if asked_ns is None else asked_ns
        sign = {">": int.__gt__, "<": int.__lt__, ">=": int.__ge__, "<=": int.__le__, "=": int.__eq__}[
            term.than
        ]
        has = of is not None and bool(sign(of, term.number))
    return has is not term.negated


some = st.sampled_from(
    [
        *(
            "method:tools/*",
            "method:ping|tools/list",
            "name:slow",
            "name:we[i]rd",
            "name:*s*",
            "name:nothing",
        ),
        *(f"kind:{kind}" for kind in KINDS),
        *("kind:n*", "dir:in", "dir:out", "conn:2", "conn:1|2", "id:7", "id:10*", "status:5*", "status:200"),
        *(
            "finding:*",
            "finding:ID-02",
            "finding:X",
            "is:open",
            "dur>500ms",
            "dur<10ms",
            "dur>=0ms",
            "size>1k",
        ),
        *("size=0", "needle", "tools", '~"text 2"', "stderr", "slow", "zzz"),
    ]
)


@given(st.lists(st.tuples(some, st.booleans()), max_size=3), st.booleans())
def test_a_filter_finds_what_going_through_every_row_finds(
    reader: Reader, chosen: list[tuple[str, bool]], newest_first: bool
) -> None:
    wanted = parse_filter(" ".join(("-" if negated else "") + text for text, negated in chosen))
    rows = reader.window(1, reader.height())
    expected = [row.seq for row in rows if all(passes(reader, row, term) for term in wanted)]
    found = [seq for piece in reader.matching(wanted, newest_first=newest_first) for seq in piece]
    assert found == (expected[::-1] if newest_first else expected)


def test_findings_that_are_known_beside_the_recording_count(reader: Reader) -> None:
    last = reader.height()

    def found(seq: int) -> tuple[str, ...]:
        return ("LIVE-1",) if seq == 3 else ()

    assert seqs(reader, "finding:*", found=found) == [3, last - 1]
    assert seqs(reader, "finding:LIVE*", found=found) == [3]
    assert seqs(reader, "-finding:* conn:1", found=found, last=4) == [1, 2, 4]


def test_a_connection_goes_by_its_name_too_and_a_range_is_kept_to(reader: Reader) -> None:
    names = {row.number: row.name for row in reader.connections()}
    assert seqs(reader, f"conn:{names[1]}", first=3, last=6) == [3, 4, 5, 6]
    assert seqs(reader, "", connection=2, last=61) == [61]


def test_the_first_piece_is_small_and_nothing_comes_once_it_is_stopped(tmp_path: Path) -> None:
    record(tmp_path / "b.db", calls(700)).close()
    with Reader.open(str(tmp_path / "b.db")) as many:
        assert len(next(iter(many.matching(parse_filter("tools"))))) == 500
        assert list(many.matching(parse_filter("tools"), stop=lambda: True)) == []
