"""Server-sent events: what is read, what is kept, and that chunks make no difference."""

from __future__ import annotations

from itertools import pairwise

import pytest
from httpx_sse._decoders import SSEDecoder, SSELineDecoder
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.core.frame import Channel, Kind, carried_kind
from workbench.core.jsonrpc import loads
from workbench.core.sse import ServerEvent, SseParser, write_event


def read(*chunks: bytes, longest: int = 1 << 20) -> list[ServerEvent]:
    """All events of a stream that ends after these chunks."""
    parser = SseParser(longest)
    events = [event for each in chunks for event in parser.feed(each)]
    return [*events, *parser.end()]


def plain(events: list[ServerEvent]) -> list[tuple[object, ...]]:
    """What does not depend on where a CRLF was split."""
    return [(each.data, each.name, each.id, each.retry, each.comment, each.finished) for each in events]


# What the fields mean


def test_an_event_has_data_a_name_an_id_and_a_retry() -> None:
    (event,) = read(b"event: message\nid: 7\nretry: 100\ndata: {}\n\n")
    assert plain([event]) == [(b"{}", "message", "7", 100, False, True)]


def test_data_of_several_lines_is_joined_by_line_feeds() -> None:
    assert read(b"data: one\ndata:two\ndata\ndata:  three\n\n")[0].data == b"one\ntwo\n\n three"


@pytest.mark.parametrize("eol", [b"\n", b"\r", b"\r\n"])
def test_lines_end_with_lf_cr_or_crlf(eol: bytes) -> None:
    assert plain(read(eol.join([b"id: 1", b"data: a", b"", b"data: b", b"", b""]))) == [
        (b"a", None, "1", None, False, True),
        (b"b", None, None, None, False, True),
    ]


def test_an_event_whose_lines_end_with_cr_is_there_without_waiting_for_the_next_byte() -> None:
    assert [event.data for event in SseParser().feed(b"data: now\r\r")] == [b"now"]


def test_endings_may_differ_from_line_to_line() -> None:
    assert [event.data for event in read(b"data: a\r\ndata: b\rdata: c\n\r\n")] == [b"a\nb\nc"]


def test_a_line_separator_of_unicode_ends_no_line() -> None:
    assert read("data: a\u2028b\u0085c\x0bd\n\n".encode())[0].data == "a\u2028b\u0085c\x0bd".encode()


def test_a_byte_order_mark_at_the_start_is_not_part_of_the_first_field() -> None:
    for chunks in ([b"\xef\xbb\xbfdata: a\n\n"], [b"\xef", b"\xbb", b"\xbfda", b"ta: a\n\n"]):
        assert [event.data for event in read(*chunks)] == [b"a"]


def test_a_byte_order_mark_later_on_is_no_mark() -> None:
    assert [event.data for event in read(b"data: a\n\n\xef\xbb\xbfdata: b\n\n")] == [b"a", b""]


def test_a_priming_event_has_an_id_and_empty_data_and_is_no_message() -> None:
    (event,) = read(b"id: p\ndata: \n\n")
    assert (event.id, event.data, event.described) == ("p", b"", '{"id":"p"}')
    assert carried_kind(Channel.SSE, event.data, event.described) is Kind.SSE


def test_an_event_without_any_data_line_is_kept() -> None:
    (event,) = read(b"id: 1\nretry: 5\n\n")
    assert (event.id, event.retry, event.data) == ("1", 5, b"")


def test_comments_are_events_of_their_own_where_nothing_else_is_there() -> None:
    (event,) = read(b": one\n:two\n\n")
    assert (event.comment, event.data) == (True, b"one\ntwo")
    assert carried_kind(Channel.SSE, event.data, event.described) is Kind.SSE


def test_a_comment_within_an_event_is_kept_in_its_bytes() -> None:
    (event,) = read(b"data: a\n: aside\n\n")
    assert (event.comment, event.data) == (False, b"a")
    assert loads(event.described or "") == {"raw": "data: a\n: aside\n\n"}


def test_an_id_with_nul_and_a_retry_that_is_no_number_are_ignored_but_kept() -> None:
    (event,) = read(b"id: a\0b\nretry: soon\nretry: -1\nfoo: bar\ndata: x\n\n")
    assert (event.id, event.retry, event.data) == (None, None, b"x")
    assert b"foo: bar" in write_event(event.data, loads(event.described or ""))


def test_a_stream_that_ends_within_an_event_gives_it_as_unfinished() -> None:
    assert plain(read(b"data: whole\n\ndata: half")) == [
        (b"whole", None, None, None, False, True),
        (b"half", None, None, None, False, False),
    ]
    assert not read(b"data: a\n\n")[0:1][0].described
    assert plain(read(b"id: 3\ndata: a\n"))[0][-1] is False


def test_empty_lines_alone_are_no_event() -> None:
    assert read(b"\n\r\n\r\n\n") == []
    assert read(b"") == []


def test_bytes_that_are_no_utf_8_stay_what_they_are() -> None:
    stream = b"id: \xc3\x28\ndata: \xff\xfe\n\n"
    (event,) = read(stream)
    assert event.data == b"\xff\xfe"
    assert write_event(event.data, loads(event.described or "")) == stream


# Bounds


def test_an_event_that_never_ends_is_given_in_pieces() -> None:
    events = read(b"data: " + b"a" * 50, b"b" * 50, b"c" * 50, b"\n\ndata: next\n\n", longest=100)
    assert b"".join(event.data for event in events[:-1]) == b"a" * 50 + b"b" * 50 + b"c" * 50
    assert [event.finished for event in events] == [False, True, True]
    assert events[-1].data == b"next"


def test_many_lines_without_an_empty_one_are_given_in_pieces_too() -> None:
    events = read(*[b"data: x\n"] * 100, longest=100)
    assert len(events) > 5
    assert not any(event.finished for event in events)


def test_a_large_event_in_small_chunks_is_read_without_looking_at_it_again_and_again() -> None:
    # Looking at what is there at each of the 131,072 chunks would take longer than a test may.
    body = b"data: " + b"x" * (8 << 20) + b"\n\n"
    (event,) = read(*(body[at : at + 64] for at in range(0, len(body), 64)), longest=1 << 30)
    assert len(event.data) == 8 << 20


# What is kept


def test_a_plain_event_needs_no_description() -> None:
    assert read(b"data: {}\n\n")[0].described is None


@pytest.mark.parametrize(
    ("stream", "described"),
    [
        (b"event: message\nid: 1\ndata: {}\n\n", '{"name":"message","id":"1"}'),
        (b"id: 1\nevent: message\ndata: {}\n\n", '{"id":"1","name":"message"}'),
        (b"id: 1\r\nevent: message\r\ndata: {}\r\n\r\n", '{"id":"1","name":"message","eol":"\\r\\n"}'),
        (b"data: a\r\r", '{"eol":"\\r"}'),
        (b"id: 1\nretry: 100\ndata: \n\n", '{"id":"1","retry":100}'),
        (b": ping\r\n\r\n", '{"comment":true,"eol":"\\r\\n"}'),
        (b"data:{}\n\n", '{"raw":"data:{}\\n\\n"}'),
        (b"data: {}\nid: 1\n\n", '{"id":"1","raw":"data: {}\\nid: 1\\n\\n"}'),
    ],
)
def test_bytes_are_described_by_fields_and_kept_only_where_these_would_not_give_them_back(
    stream: bytes, described: str
) -> None:
    (event,) = read(stream)
    assert event.described == described
    assert write_event(event.data, loads(described)) == stream


LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [b"", b"data", b"data:", b"data: x", b"id: 1", b"id", b"event: e", b":", b": c", b"retry: 5"]
        ),
        st.binary(max_size=8).map(lambda junk: junk.replace(b"\r", b"").replace(b"\n", b"")),
        st.text(max_size=6).map(
            lambda text: b"data: " + text.encode("utf-8", "replace").replace(b"\n", b"").replace(b"\r", b"")
        ),
    ),
    max_size=20,
)
STREAMS = st.builds(
    lambda lines, ends, tail: b"".join(line + ends[at % len(ends)] for at, line in enumerate(lines)) + tail,
    LINES,
    st.lists(st.sampled_from([b"\n", b"\r", b"\r\n"]), min_size=1, max_size=5),
    st.sampled_from([b"", b"data: tail", b"\n", b"\n\n", b"\r"]),
)


@settings(deadline=None)
@given(STREAMS, st.lists(st.integers(0, 200), max_size=12))
def test_how_a_stream_is_cut_into_chunks_changes_nothing(stream: bytes, cuts: list[int]) -> None:
    places = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    chunks = [stream[start:end] for start, end in pairwise(places)]
    assert plain(read(*chunks)) == plain(read(stream))


@settings(deadline=None)
@given(STREAMS)
def test_all_bytes_of_a_stream_are_in_its_events(stream: bytes) -> None:
    kept = b"".join(event.raw for event in read(stream))
    assert stream.startswith(kept)
    assert not stream[len(kept) :].strip(b"\r\n\xef\xbb\xbf")


@settings(deadline=None)
@given(STREAMS)
def test_every_event_can_be_written_again_as_it_came(stream: bytes) -> None:
    for event in read(stream):
        assert write_event(event.data, loads(event.described) if event.described else None) == event.raw


# Against another implementation, where that one is right


def by_httpx_sse(stream: bytes) -> list[tuple[str, str, str]]:
    """What httpx-sse makes of a stream: name, data and last id of each event that has any data.

    Its event after every comment once an id was seen is left out by asking for data lines.
    """
    lines, decoder = SSELineDecoder(), SSEDecoder()
    found: list[tuple[str, str, str]] = []
    has_data = False
    for line in [*(lines.decode(stream.decode()) if stream else []), *lines.flush()]:
        has_data = has_data or line.partition(":")[0] == "data"
        event = decoder.decode(line)
        if not line:
            if event is not None and has_data:
                found.append((event.event, event.data, event.id))
            has_data = False
    return found


def by_us(stream: bytes) -> list[tuple[str, str, str]]:
    """The same from our events: the id goes on, and what has no data line is left out."""
    found: list[tuple[str, str, str]] = []
    last = ""
    for event in read(stream):
        if not event.finished:
            continue
        last = last if event.id is None else event.id
        fields = [line.partition(b":")[0] for line in event.raw.splitlines()]
        if b"data" in fields:
            found.append((event.name or "message", event.data.decode(), last))
    return found


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0\ufeff"), max_size=8)
FIELDS = st.lists(
    st.one_of(
        st.just(""),
        WORDS.map(lambda word: f"data: {word}"),
        WORDS.map(lambda word: f"id: {word}"),
        WORDS.map(lambda word: f"event:{word}"),
        WORDS.map(lambda word: f": {word}"),
    ),
    max_size=30,
)


@settings(deadline=None)
@given(FIELDS, st.sampled_from(["\n", "\r\n", "\r"]))
def test_events_with_data_are_what_httpx_sse_reads(lines: list[str], eol: str) -> None:
    stream = (eol.join([*lines, "", ""])).encode()
    assert by_us(stream) == by_httpx_sse(stream)


@pytest.mark.parametrize(
    ("stream", "theirs", "ours"),
    [
        (b"id: 1\ndata: a\n\n: aside\n\n", ["a", ""], [b"a", b"aside"]),
        (b"\xef\xbb\xbfdata: a\n\ndata: b\n\n", ["b"], [b"a", b"b"]),
        (b"data: a\n\ndata: b", ["a"], [b"a", b"b"]),
    ],
    ids=["an empty event after a comment", "a byte order mark", "an unfinished event"],
)
def test_where_httpx_sse_is_no_oracle(stream: bytes, theirs: list[str], ours: list[bytes]) -> None:
    lines, decoder = SSELineDecoder(), SSEDecoder()
    found = [decoder.decode(line) for line in [*lines.decode(stream.decode()), *lines.flush()]]
    assert [event.data for event in found if event is not None] == theirs
    assert [event.data for event in read(stream)] == ours
