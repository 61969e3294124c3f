"""A text form takes new answers and rules, and every other line stays as it is, byte for byte."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.demo.conversation import FIXTURE
from workbench.core.frame import Span
from workbench.errors import RecordingError, UsageError
from workbench.store.formats.revising import Revised, Revision, is_text_form, revise
from workbench.store.reader import Reader

ODD = b"""\
{ "frame" : 1, "direction":"to_server", "json":{"jsonrpc":"2.0","id":1,"method":"ping"} }
  {"frame":2,"direction":"to_client","text":"{\\"id\\":1.0}","ns":7}\r

{"frame":3,"direction":"to_client","base64":"/w=="}
"""


def odd(tmp_path: Path) -> Path:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(ODD)
    return path


def test_only_the_line_of_the_frame_changes(tmp_path: Path) -> None:
    path = odd(tmp_path)
    revise(str(path), Revision(1, {2: Revised(b'{"a":  1.0}', (), 11)}))
    before, after = ODD.splitlines(keepends=True), path.read_bytes().splitlines(keepends=True)
    assert after[0] == before[0]
    assert after[2:] == before[2:]
    assert after[1].startswith(b'{"frame":2,"direction":"to_client","ns":7')
    with Reader.open(str(path)) as reader:
        assert [frame.body for frame in reader.frames()][1:] == [b'{"a":  1.0}', b"\xff"]


def test_the_raw_bytes_of_an_event_go_with_the_body_they_held(tmp_path: Path) -> None:
    path = tmp_path / "event.jsonl"
    path.write_bytes(
        b'{"frame":1,"direction":"to_client","channel":"sse","event":{"id":"7","raw":"ZGF0YTogMQoK"},"json":1}\n'
    )
    revise(str(path), Revision(1, {1: Revised(b"2", (), 1)}))
    assert b"raw" not in path.read_bytes()
    with Reader.open(str(path)) as reader:
        assert (reader.frame(1).body, reader.frame(1).event) == (b"2", '{"id":"7"}')


def test_placeholders_sizes_provenance_and_rules_are_kept(tmp_path: Path) -> None:
    path = odd(tmp_path)
    body = b'{"t":"<redacted:4 jwt>"}'
    spans = (Span(6, 16, 40),)
    rules = [("verify-ignore", "/a"), ("verify-compare", "shape")]
    for _ in range(2):  # a second time in place of the first
        revise(str(path), Revision(1, {3: Revised(body, spans, 48)}, "recorded", "from there", rules))
        rules = []
    with Reader.open(str(path)) as reader:
        frame = reader.frame(3)
        assert (frame.body, frame.spans, frame.size) == (body, spans, 48)
        assert reader.rules() == [("verify-ignore", "/a"), ("verify-compare", "shape")]
    assert path.read_bytes().count(b'"provenance"') == 1
    assert b'{"provenance":3,"how":"recorded","detail":"from there"}\n' in path.read_bytes()


def test_rules_are_numbered_after_those_there_are(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(b'{"rule":3,"what":"verify-ignore","value":"/x"}\n' + ODD)
    revise(str(path), Revision(1, {}, rules=[("verify-ignore", "/y")]))
    with Reader.open(str(path)) as reader:
        assert [value for _, value in reader.rules()] == ["/x", "/y"]
    assert b'{"rule":4,' in path.read_bytes()


def test_another_session_of_the_file_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "both.jsonl"
    path.write_bytes(b'{"session":1}\n' + ODD + b'{"session":2}\n' + ODD)
    revise(str(path), Revision(2, {1: Revised(b"[]", (), 2)}))
    first, second = path.read_bytes().split(b'{"session":2}\n')
    assert first == b'{"session":1}\n' + ODD
    assert b"[]" in second.splitlines()[0]


def test_a_recording_of_ours_is_the_same_but_for_what_was_revised(tmp_path: Path) -> None:
    path = tmp_path / "weather.jsonl"
    path.write_bytes(FIXTURE.read_bytes())
    with Reader.open(str(path)) as reader:
        frames = list(reader.frames())
    chosen = next(frame for frame in frames if frame.id is not None and frame.size > 500)
    revise(str(path), Revision(1, {chosen.seq: Revised(chosen.body, chosen.spans, chosen.size)}))
    assert path.read_bytes() == FIXTURE.read_bytes()


def test_what_is_no_text_form_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(b"SQLite format 3\0")
    assert not is_text_form(str(path))
    assert not is_text_form(str(tmp_path / "none"))
    with pytest.raises(UsageError, match="sessions export"):
        revise(str(path), Revision(1, {}))
    with pytest.raises(RecordingError, match="cannot be read"):
        revise(str(tmp_path / "none"), Revision(1, {}))


def test_a_frame_that_is_no_json_is_told_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "torn.jsonl"
    torn = b'{"frame":1,"direction":"to_client","json":\n'
    path.write_bytes(torn)
    with pytest.raises(RecordingError, match="Frame 1 cannot be read"):
        revise(str(path), Revision(1, {1: Revised(b"{}", (), 2)}))
    assert path.read_bytes() == torn
    assert os.listdir(tmp_path) == ["torn.jsonl"]


def test_a_link_keeps_pointing_to_what_is_revised(tmp_path: Path) -> None:
    path = odd(tmp_path)
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    revise(str(link), Revision(1, {2: Revised(b"[]", (), 2)}))
    assert link.is_symlink()
    assert b"[]" in path.read_bytes()
