"""The text form gives the same recording back, and is the same text when written again."""

from __future__ import annotations

import io
import json
import sqlite3
import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import many
from tests.store.session import record, unit
from workbench.core.frame import Channel, Direction, Ending
from workbench.errors import RecordingError
from workbench.store.formats.text import export_text, import_text
from workbench.store.opening import open_recording
from workbench.store.reader import Reader

#: Every table that is not derived, and what is made again from the bodies beside.
TABLES = (
    "session",
    "connection",
    "frame",
    "body",
    "message",
    "pair",
    "word",
    "stream",
    "rule",
    "mark",
    "provenance",
)


def text_of(path: Path) -> str:
    out = io.StringIO()
    opened = open_recording(str(path))
    export_text(opened.db, out)
    opened.db.close()
    return out.getvalue()


def rows_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    db = sqlite3.connect(path)
    rows = {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in TABLES}
    db.close()
    return rows


def round_trip(folder: Path, path: Path) -> None:
    text = text_of(path)
    again = folder / "again.db"
    import_text(io.BytesIO(text.encode()), str(again))
    assert rows_of(again) == rows_of(path)
    assert text_of(again) == text


ODD = [
    b"",
    b"\xc3\x28",
    b'{"a":1,"a":2}',
    b'{"x":1.0,"y":1e400,"z":-0,"n":9007199254740993}',
    b'{"x":NaN}',
    b'"\\ud83d"',
    b'{"a": 1, "b": [1, 2]}',
    '{"é":"ü \u2028 \U0001f600"}'.encode(),
    b'{"e":"\\u00e9\\/"}',
    b'{"e":"\\u00e9"}',
    b'{"jsonrpc":"2.0"}\r',
    b"\xef\xbb\xbf{}",
    b"[" * 5000,
    b'{"big":"' + b"z" * 1_500_000 + b'"}',
    b'{"id":' + b"7" * 5000 + b"}",
    b"\x00\x1b[2J",
    b"[" * 100 + b"]" * 100,
    b"[" * 101 + b"]" * 101,
    b'{"a":1.50,"b":1E5,"c":-0.0,"d":0.1}',
    b'{"a": 1.50, "b": "\\u00e9"}',
    b'{"x":"\\ud83d","y":"\\ud83d\\ude00"}',
    '{"x":"\x7f\x9b31m\u202e\u2066"}'.encode(),
    "\x9b31m \u2029".encode(),
    b'"\xed\xa0\xbd"',
    b'{"v":[' + b"1.50," * 60_000 + b"1]}",
]


@pytest.mark.parametrize("body", ODD, ids=lambda body: repr(body[:20]))
def test_an_odd_body_survives_the_text_form(tmp_path: Path, body: bytes) -> None:
    path = tmp_path / "a.db"
    record(path, [body]).close()
    round_trip(tmp_path, path)


#: Numbers as they are spelled by others, kept as the text of a JSON document.
spelled = st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,12})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)
bodies = (
    st.binary(max_size=60)
    | json_values.map(lambda value: json.dumps(value).encode())
    | json_values.map(lambda value: json.dumps(value, separators=(",", ":")).encode())
    | json_values.map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    | json_values.map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    | st.lists(spelled, max_size=4).map(lambda numbers: f'{{"n":[{",".join(numbers)}]}}'.encode())
)
units = st.builds(
    unit,
    bodies,
    st.sampled_from(list(Direction)),
    st.sampled_from(list(Channel)),
    connection=st.integers(0, 3),
    ending=st.sampled_from(list(Ending)),
    at=st.integers(-(10**12), 10**12),
)


@settings(max_examples=many(60), deadline=None)
@given(st.lists(units, max_size=8))
def test_any_frames_survive_the_text_form(frames: list[object]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        recorder = record(path, frames)  # type: ignore[arg-type]
        for number in range(2, 4):
            recorder.connect(f"connection-{number}", "stdio", "")
        recorder.close()
        db = sqlite3.connect(path)
        db.execute(
            "INSERT INTO connection (session, number, name, transport, target, opened_ns) "
            "VALUES (1, 0, '', '', '', 0)"
        )
        db.execute("INSERT INTO rule VALUES (1, 1, 'ignore', '/arguments/now')")
        db.execute("INSERT INTO stream (session, number, connection, status) VALUES (1, 1, 1, 200)")
        db.execute("UPDATE frame SET stream=1, event='e-1' WHERE key%2=0")
        db.execute("INSERT INTO mark VALUES (1, 'here')")
        db.execute("INSERT INTO provenance VALUES (1, 'edited', NULL)")
        db.commit()
        db.close()
        round_trip(Path(folder), path)


def test_redacted_frames_keep_their_spans_and_their_size_on_the_wire(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    record(path, [b'{"key":"ghp_' + b"a1B2" * 9 + b'"}']).close()
    assert '"spans":[[8,25,40]]' in text_of(path)
    round_trip(tmp_path, path)


def test_a_body_stands_as_the_json_it_is_wherever_that_gives_the_bytes_back(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    record(path, [b'{"a":1.0}', b'{"a": 1}', b'{"a":1,"a":1}', b"\xff"]).close()
    frames = [json.loads(line) for line in text_of(path).splitlines() if line.startswith('{"frame"')]
    assert [next(key for key in ("json", "text", "base64") if key in frame) for frame in frames] == [
        "json",
        "json",
        "text",
        "base64",
    ]
    assert frames[1]["style"] == "spaced"


def test_a_file_written_by_hand_may_leave_out_what_can_be_made(tmp_path: Path) -> None:
    path = tmp_path / "hand.jsonl"
    path.write_text(
        '{"frame":1,"direction":"to_server","json":{"jsonrpc":"2.0","id":1,"method":"ping"}}\n'
        "\n"
        '{"frame":2,"direction":"to_client","json":{"jsonrpc":"2.0","id":1,"result":{}}}\n'
    )
    with Reader.open(str(path)) as reader:
        assert [frame.body for frame in reader.frames()] == [
            b'{"jsonrpc":"2.0","id":1,"method":"ping"}',
            b'{"jsonrpc":"2.0","id":1,"result":{}}',
        ]
        assert reader.pair(1) == 2
        assert [connection.name for connection in reader.connections()] == ["connection-1"]


def test_a_file_may_hold_several_sessions_each_counted_from_one(tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    path.write_text(
        '{"session":1,"name":"one"}\n'
        '{"frame":1,"direction":"to_server","text":"a"}\n'
        '{"frame":2,"direction":"to_server","text":"b"}\n'
        '{"session":2,"name":"two"}\n'
        '{"frame":1,"direction":"to_server","text":"c"}\n'
    )
    with Reader.open(str(path)) as first, Reader.open(str(path), session=2) as second:
        assert [session.frames for session in first.sessions()] == [2, 1]
        assert [frame.body for frame in first.frames()] == [b"a", b"b"]
        assert [(frame.seq, frame.body) for frame in second.frames()] == [(1, b"c")]
        assert second.window(1, 9)[0].preview == b"c"
        assert first.height() == 2


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nonsense", "line 1: not JSON"),
        ("[]", "line 1: the line is no JSON object"),
        ('{"mcp-workbench recording":9}', "version 9"),
        ('{"what":1}', "no line type"),
        (
            '{"frame":1,"direction":"up","text":"x"}',
            "direction 'up' is not one of none, to_server, to_client",
        ),
        ('{"frame":1,"direction":"none"}', "has no body"),
        ('{"frame":1,"direction":"none","base64":"!"}', "base64 cannot be read"),
        ('{"frame":2,"direction":"none","text":""}', "number 1, not 2"),
        ('{"connection":"x"}', "connection is not a number"),
        ('{"frame":1,"direction":"none","text":"","ns":1.5}', "ns is not a number"),
        ('{"frame":1,"direction":"none","text":"","ns":99999999999999999999}', "not one that fits"),
        ('{"frame":1,"direction":"none","text":"","colour":1}', "'colour' is no member"),
        ('{"session":1,"title":"x"}', "'title' is no member"),
        ('{"frame":1,"direction":"none","text":7}', "text is no string"),
        ('{"frame":1,"direction":"none","text":"\\ud800"}', "half a character"),
        ('{"frame":1,"direction":"none","json":{},"style":"pretty"}', "style 'pretty' is not one of"),
        ('{"frame":1,"direction":"none","text":"","spans":[[1,2]]}', "lists of three numbers"),
        ('{"frame":1,"direction":"none","text":"","ending":"cr"}', "ending 'cr' is not one of lf, none"),
        ('{"frame":1,"direction":"none","json":' + "[" * 2000 + "]" * 2000 + "}", "nested too deeply"),
    ],
)
def test_a_wrong_line_is_named_by_its_number_and_nothing_is_left(
    tmp_path: Path, line: str, said: str
) -> None:
    with pytest.raises(RecordingError, match=said):
        import_text(io.BytesIO(line.encode() + b"\n"), str(tmp_path / "new.db"))
    assert list(tmp_path.iterdir()) == []


def test_a_line_that_is_not_utf_8_is_named_by_its_number(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="line 2: not UTF-8"):
        import_text(io.BytesIO(b'{"session":1}\n\xff\n'), str(tmp_path / "new.db"))


def test_nothing_in_a_line_makes_a_terminal_do_something(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    record(path, ["\x1b]52;c;\x07 \x9b31m \u202e".encode(), '{"x":"\x9b31m \u2028"}'.encode()]).close()
    text = text_of(path)
    assert all(character.isprintable() or character == "\n" for character in text)
    round_trip(tmp_path, path)


def test_one_session_of_several_is_exported_as_the_only_one(tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    path.write_text(
        '{"session":1}\n{"mark":1,"text":"m"}\n{"frame":1,"direction":"none","text":"a"}\n'
        '{"session":2,"name":"second"}\n{"rule":1,"what":"ignore","value":"/x"}\n'
        '{"mark":1,"text":"n"}\n{"frame":1,"direction":"none","text":"b"}\n'
    )
    out = io.StringIO()
    export_text(open_recording(str(path)).db, out, session=2)
    again = tmp_path / "again.db"
    import_text(io.BytesIO(out.getvalue().encode()), str(again))
    with Reader.open(str(again)) as reader:
        assert [frame.body for frame in reader.frames()] == [b"b"]
        assert [session.name for session in reader.sessions()] == ["second"]
    rows = rows_of(again)
    assert rows["mark"] == [(1, "n")]
    assert rows["rule"] == [(1, 1, "ignore", "/x")]


def test_facts_stand_as_json_and_come_back_as_the_text_they_were(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    recorder = record(path, [])
    recorder.describe(
        1, client_info='{"name":"é","version":1.50}', server_info='{"a": 1}', closed_how='{"a":1}'
    )
    recorder.close()
    line = next(line for line in text_of(path).splitlines() if line.startswith('{"connection"'))
    told = json.loads(line)
    assert told["client_info"] == {"name": "é", "version": 1.5}
    assert told["server_info"] == '{"a": 1}'
    round_trip(tmp_path, path)


def test_a_long_recording_is_exported_and_imported_without_holding_it_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    body = b'{"x":"' + b"y" * 500_000 + b'"}'
    record(path, [body] * 120).close()
    tracemalloc.start()
    with open(tmp_path / "a.jsonl", "w", encoding="utf-8", newline="\n") as out:
        opened = open_recording(str(path))
        export_text(opened.db, out)
        opened.db.close()
    with open(tmp_path / "a.jsonl", "rb") as source:
        import_text(source, str(tmp_path / "again.db"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 15_000_000
    with Reader.open(str(tmp_path / "again.db")) as reader:
        assert reader.body(120) == body
