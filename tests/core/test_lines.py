"""The line splitter: any bytes in, the same lines out however they are cut, in linear time."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from workbench.core.lines import LineSplitter


def split(chunks: list[bytes]) -> tuple[list[bytes], bytes | None]:
    splitter = LineSplitter()
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return lines, splitter.end()


def cut_up(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(places)]


streams = (
    st.lists(st.sampled_from([b"\n", b"\r\n", b"{}", b"\xff", b"a" * 9, b""])).map(b"".join) | st.binary()
)


@given(streams, st.lists(st.integers(min_value=0), max_size=20))
def test_any_chunking_of_a_stream_gives_the_same_lines(data: bytes, cuts: list[int]) -> None:
    assert split(cut_up(data, cuts)) == split([data])


@given(streams)
def test_lines_and_rest_put_together_are_the_stream(data: bytes) -> None:
    lines, rest = split([data])
    assert b"".join(line + b"\n" for line in lines) + (rest or b"") == data
    assert not any(b"\n" in line for line in lines)


def test_a_stream_that_ends_with_a_newline_has_no_rest() -> None:
    assert split([b"a\n"]) == ([b"a"], None)


def test_a_stream_that_ends_within_a_line_gives_the_rest() -> None:
    assert split([b"a\nb"]) == ([b"a"], b"b")


def test_an_empty_stream_has_neither_lines_nor_rest() -> None:
    assert split([]) == ([], None)


def test_a_carriage_return_belongs_to_its_line() -> None:
    assert split([b"a\r\n\r\n"]) == ([b"a\r", b"\r"], None)


def test_pending_counts_the_bytes_held_back() -> None:
    splitter = LineSplitter()
    splitter.feed(b"abc")
    splitter.feed(b"de")
    assert splitter.pending == 5
    splitter.feed(b"f\ngh")
    assert splitter.pending == 2
    splitter.end()
    assert splitter.pending == 0


class CountedBytes(bytes):
    """Bytes that count how many of themselves are searched."""

    searched = 0

    def rfind(self, *args: object) -> int:
        CountedBytes.searched += len(self)
        return super().rfind(*args)  # type: ignore[arg-type]


def test_each_byte_of_a_long_line_is_searched_once() -> None:
    CountedBytes.searched = 0
    splitter = LineSplitter()
    chunk = CountedBytes(b"x" * 1_000)
    for _ in range(2_000):
        assert splitter.feed(chunk) == []
    assert splitter.feed(b"\n") == [b"x" * 2_000_000]
    assert CountedBytes.searched == 2_000_000
