"""What is kept of a recording: all of it or a part, with what a replay needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.demo.conversation import FIXTURE
from workbench.errors import UsageError
from workbench.keep import Part, keep, uses
from workbench.store.reader import Reader


def frames_of(path: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in Path(path).read_text().splitlines()]
    return [line for line in lines if "frame" in line]


def methods(path: str) -> list[str]:
    return [line["json"]["method"] for line in frames_of(path) if "method" in line.get("json", {})]


def test_a_whole_recording_is_kept_as_it_is(tmp_path: Path) -> None:
    kept = keep(str(FIXTURE), "weather", folder=str(tmp_path / "sessions"))
    assert kept.path == str(tmp_path / "sessions" / "weather.jsonl")
    assert Path(kept.path).read_bytes() == FIXTURE.read_bytes()
    assert kept.replays
    assert kept.redacted == {}


def test_a_range_keeps_the_handshake_and_both_sides_of_its_calls(tmp_path: Path) -> None:
    with Reader.open(str(FIXTURE)) as reader:
        call = next(
            row
            for row in reader.window(1, reader.height())
            if row.method == "tools/call" and row.name == "sample"
        )
    kept = keep(str(FIXTURE), "part", Part(first=call.seq, last=call.seq + 1), str(tmp_path))
    assert methods(kept.path) == [
        "initialize",
        "notifications/initialized",
        "tools/call",
        "sampling/createMessage",
    ]
    numbers = [line["frame"] for line in frames_of(kept.path)]
    assert numbers == list(range(1, kept.frames + 1))
    answers = [line for line in frames_of(kept.path) if "result" in line.get("json", {})]
    assert len(answers) == 3
    assert kept.replays


def test_an_answer_whose_request_is_not_kept_is_left_out(tmp_path: Path) -> None:
    with Reader.open(str(FIXTURE)) as reader:
        listed = next(row for row in reader.window(1, reader.height()) if row.method == "tools/list")
    assert listed.pair is not None
    kept = keep(str(FIXTURE), "part", Part(first=listed.pair, last=listed.pair), str(tmp_path))
    assert methods(kept.path) == ["initialize", "notifications/initialized"]


def test_bodies_of_a_part_are_byte_for_byte_those_of_the_whole(tmp_path: Path) -> None:
    kept = keep(str(FIXTURE), "part", Part(connection=1, first=1), str(tmp_path))
    with Reader.open(str(FIXTURE)) as whole, Reader.open(kept.path) as part:
        assert [frame.body for frame in part.frames()] == [frame.body for frame in whole.frames()]


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "sp ace", "-x"])
def test_a_name_that_is_no_file_name_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no name"):
        keep(str(FIXTURE), name, folder=str(tmp_path))


def test_nothing_is_overwritten_and_nothing_empty_is_kept(tmp_path: Path) -> None:
    keep(str(FIXTURE), "weather", folder=str(tmp_path))
    with pytest.raises(UsageError, match="exists already"):
        keep(str(FIXTURE), "weather", folder=str(tmp_path))
    with pytest.raises(UsageError, match="no frame"):
        keep(str(FIXTURE), "none", Part(connection=9), str(tmp_path))
    assert not (tmp_path / "none.jsonl").exists()


def test_the_lines_that_use_a_fixture_name_it() -> None:
    command, client, marker = uses("sessions/weather.jsonl")
    assert command == "mcp-workbench replay server sessions/weather.jsonl"
    assert '"replay", "server", "sessions/weather.jsonl"' in client
    assert marker == '@pytest.mark.mcp_recording("weather")'


HTTP = Path(__file__).parent / "recordings" / "http.jsonl"


def test_a_range_of_an_http_recording_keeps_the_streams_it_came_on(tmp_path: Path) -> None:
    with Reader.open(str(HTTP)) as reader:
        first = next(row for row in reader.window(1, 99) if row.name == "slow_report")
        answer = reader.window(first.pair or 0, first.pair or 0)[0]
    kept = keep(str(HTTP), "part", Part(first=first.seq, last=answer.seq), str(tmp_path))
    assert "initialize" in methods(kept.path)
    assert kept.replays, kept.checked
    with Reader.open(kept.path) as reader:
        streams = {stream.number for stream in reader.streams()}
        used = {frame.stream for frame in reader.frames() if frame.stream}
    assert streams == used
    assert answer.stream in streams
    assert 12 not in streams


def test_a_whole_http_recording_is_kept_with_all_its_streams_and_replays(tmp_path: Path) -> None:
    kept = keep(str(HTTP), "whole", folder=str(tmp_path))
    assert Path(kept.path).read_bytes() == HTTP.read_bytes()
    assert kept.replays, kept.checked
