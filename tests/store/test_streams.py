"""HTTP streams and findings beside the frames: written without secrets, read as they were given."""

from __future__ import annotations

import io
import sqlite3
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import many
from tests.store.session import StillClock, calls, record, unit
from tests.store.test_text import round_trip, text_of
from workbench.core.frame import Channel, Direction, Stream, Unit
from workbench.errors import RecordingError
from workbench.store.formats.text import import_text
from workbench.store.heads import MAX_HEAD, MAX_HEADERS, MAX_TEXT
from workbench.store.reader import Reader
from workbench.store.recorder import Recorder

POST = Stream(
    1,
    1,
    "POST",
    "http://127.0.0.1:8000/mcp",
    (("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")),
    1_800_000_000_000_000_000,
)
ANSWERED = POST._replace(
    status=200,
    response_headers=(("content-type", "application/json"), ("x-twice", "a"), ("x-twice", "b")),
    encoding="gzip",
    wire_bytes=77,
    closed_ns=1_800_000_000_500_000_000,
    closed_how="end",
)


def on_stream(body: bytes, number: int = 1, event: str | None = None, channel: Channel = Channel.SSE) -> Unit:
    made = unit(body, Direction.TO_CLIENT, channel)
    return made._replace(stream=number, event=event)


def test_a_stream_is_read_as_it_stood_last(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", [])
    recorder.stream(POST)
    recorder.flush()
    with Reader.attach(recorder.uri) as reader:
        assert reader.streams() == [POST]
        recorder.stream(ANSWERED)
        recorder.flush()
        assert reader.stream(1) == ANSWERED
        assert reader.streams(connection=1) == [ANSWERED]
        assert reader.streams(connection=2) == []
        assert reader.stream(2) is None
    recorder.close()


def test_frames_and_rows_name_their_stream_and_event(tmp_path: Path) -> None:
    event = '{"id":"7","name":"message"}'
    record(tmp_path / "a.db", [on_stream(b"{}", 3, event), unit(b"{}")]).close()
    with Reader.open(str(tmp_path / "a.db")) as reader:
        assert [(frame.stream, frame.event) for frame in reader.frames()] == [(3, event), (0, None)]
        assert [row.stream for row in reader.window(1, 2)] == [3, 0]


def test_secrets_of_heads_and_urls_are_not_in_the_file(tmp_path: Path) -> None:
    token, session = "s3cr3t-t0ken-of-24-bytes", "0a1b2c3d4e5f60718293a4b5"
    path = tmp_path / "a.db"
    recorder = Recorder(str(path), clock=StillClock())
    recorder.connect("one", "http", "http://h/", secrets={"API_TOKEN": token})
    recorder.stream(
        POST._replace(
            url=f"http://h/mcp?key={token}&session_id={session}",
            request_headers=(("Authorization", f"Bearer {token}"), ("Mcp-Session-Id", session)),
            response_headers=(("Set-Cookie", f"sid={session}; HttpOnly"), ("X-Echo", token)),
        )
    )
    recorder.put(on_stream(f'{{"you":"{session}","are":"{token}"}}'.encode(), event=f'{{"id":"{session}"}}'))
    recorder.close()
    stored = path.read_bytes() + text_of(path).encode()
    assert token.encode() not in stored
    assert session.encode() not in stored
    with Reader.open(str(path)) as reader:
        [stream] = reader.streams()
        session_id = stream.request_headers[1][1]
        assert stream.request_headers[0] == ("Authorization", f"Bearer {stream.response_headers[1][1]}")
        assert stream.response_headers[0][1] == f"sid={session_id}; HttpOnly"
        assert (
            reader.frame(1).body
            == f'{{"you":"{session_id}","are":"{stream.response_headers[1][1]}"}}'.encode()
        )


def test_without_redaction_heads_are_as_they_were(tmp_path: Path) -> None:
    recorder = Recorder(str(tmp_path / "a.db"), redact=False)
    given_ = POST._replace(request_headers=(("Authorization", "Bearer abcdefgh12345678"),))
    recorder.stream(given_)
    recorder.close()
    with Reader.open(str(tmp_path / "a.db")) as reader:
        assert reader.streams() == [given_]


def test_a_hostile_head_is_cut(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", [])
    recorder.stream(POST._replace(response_headers=(("x", "y" * 100_000), *((("n", "v"),) * 5_000))))
    recorder.close()
    with Reader.open(str(tmp_path / "a.db")) as reader:
        [stream] = reader.streams()
    assert len(stream.response_headers[0][1]) == MAX_TEXT
    assert len(stream.response_headers) <= MAX_HEADERS


def test_a_head_of_many_long_headers_is_cut(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", [])
    long = tuple((f"x-{number}", "y" * MAX_TEXT) for number in range(100))
    recorder.stream(POST._replace(response_headers=long))
    recorder.stream(POST._replace(number=2, response_headers=(("n", "v"),) * 500))
    recorder.close()
    with Reader.open(str(tmp_path / "a.db")) as reader:
        first, second = reader.streams()
    assert sum(len(value) for _, value in first.response_headers) <= MAX_HEAD + MAX_TEXT
    assert len(second.response_headers) == MAX_HEADERS


def test_a_head_with_stray_bytes_is_written(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", [])
    recorder.stream(POST._replace(response_headers=(("x", "caf\udce9"),), url="http://h/\udcff"))
    recorder.close()
    with Reader.open(str(tmp_path / "a.db")) as reader:
        assert reader.streams()[0].response_headers
        assert reader.streams()[0].url.startswith("http://h/")


def test_numbers_of_streams_are_given_once_whoever_asks() -> None:
    recorder = record(None, [])
    given_: list[int] = []

    def ask() -> None:
        given_.extend(recorder.new_stream() for _ in range(200))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(given_) == list(range(1, 801))
    recorder.stream(POST._replace(number=5_000))
    assert recorder.new_stream() == 5_001
    recorder.close()


def test_findings_are_read_with_the_rows_of_their_frames(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", [])
    first, second = (recorder.put(each) for each in calls(1))
    recorder.finding(second, "JR-ID", "error", "/id")
    recorder.finding(second, "JR-VER", "warning")
    recorder.flush()
    recorder.finding(first, "LATE", "info", "/params")
    recorder.flush()
    recorder.close()
    with Reader.open(str(tmp_path / "a.db")) as reader:
        assert [row.findings for row in reader.window(1, 2)] == [("LATE",), ("JR-ID", "JR-VER")]
        assert [row.findings for row in reader.rows([2])] == [("JR-ID", "JR-VER")]
    assert "JR-ID" not in text_of(tmp_path / "a.db")


def test_a_finding_about_a_frame_that_never_came_is_left_out(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", [unit(b"{}")])
    recorder.finding(900, "NONE", "error")
    recorder.close()
    db = sqlite3.connect(tmp_path / "a.db")
    assert db.execute("SELECT count(*) FROM finding").fetchone() == (0,)
    db.close()


def test_a_finding_in_a_burst_of_several_transactions_is_at_its_frame(tmp_path: Path) -> None:
    recorder = record(tmp_path / "a.db", [])
    large = b'{"x":"' + b"y" * 300_000 + b'"}'
    tickets = [recorder.put(unit(large)) for _ in range(12)]
    for ticket in tickets:
        recorder.finding(ticket, f"AT-{ticket}", "info")
    recorder.close()
    with Reader.open(str(tmp_path / "a.db")) as reader:
        assert [row.findings for row in reader.window(1, 12)] == [(f"AT-{seq}",) for seq in range(1, 13)]


headers = st.lists(st.tuples(st.text(max_size=12), st.text(max_size=30)), max_size=4).map(tuple)
streams = st.builds(
    Stream,
    st.integers(1, 6),
    st.integers(1, 3),
    st.sampled_from(["POST", "GET", "DELETE"]),
    st.text(max_size=40),
    headers,
    st.integers(0, 1 << 61),
    status=st.none() | st.integers(100, 599),
    response_headers=headers,
    encoding=st.sampled_from(["", "gzip"]),
    wire_bytes=st.none() | st.integers(0, 1 << 40),
    closed_ns=st.none() | st.integers(0, 1 << 61),
    closed_how=st.sampled_from(["", "end", "cut"]),
)
events = st.none() | st.sampled_from(
    ['{"id":"e-1"}', '{"comment":true}', '{"id": "spaced"}', '{"retry":1.50}', "e-1", '{"raw":"id: é\\n"}']
)


@settings(max_examples=many(60), deadline=None)
@given(
    st.lists(st.tuples(st.binary(max_size=20), st.integers(0, 6), events), max_size=8),
    st.lists(streams, max_size=6),
)
def test_any_streams_and_events_survive_the_text_form(
    frames: list[tuple[bytes, int, str | None]], heads: list[Stream]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        recorder = record(path, [])
        for number in range(2, 4):
            recorder.connect(f"connection-{number}", "http", "")
        for head in heads:
            recorder.stream(head)
        for number, (body, stream, event) in enumerate(frames, 1):
            ticket = recorder.put(on_stream(body, stream, event, (Channel.HTTP, Channel.SSE)[number % 2]))
            recorder.finding(ticket, "RULE", "info")
        recorder.close()
        round_trip(Path(folder), path)


def test_a_line_whose_stream_makes_no_sense_is_named(tmp_path: Path) -> None:
    for wrong in ('"stream":"x"', '"event":7'):
        line = f'{{"frame":1,"direction":"to_client","channel":"sse","text":"",{wrong}}}\n'.encode()
        with pytest.raises(RecordingError, match="line 1"):
            import_text(io.BytesIO(line), str(tmp_path / "a.db"))


def test_a_recording_of_the_first_version_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    record(path, calls(2)).close()
    db = sqlite3.connect(path)
    db.executescript(
        "DROP TABLE stream; CREATE TABLE stream (session INTEGER NOT NULL, number INTEGER NOT NULL, "
        "connection INTEGER NOT NULL, method TEXT, path TEXT, status INTEGER, encoding TEXT, "
        "request_headers TEXT, response_headers TEXT, opened_ns INTEGER, closed_ns INTEGER, "
        "closed_how TEXT, PRIMARY KEY (session, number)) WITHOUT ROWID; PRAGMA user_version=1"
    )
    db.close()
    with Reader.open(str(path)) as reader:
        assert reader.height() == 4
        assert reader.streams() == []
