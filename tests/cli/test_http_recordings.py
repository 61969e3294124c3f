"""What the commands tell of a recording that was made over HTTP."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.command import workbench

RECORDING = str(Path(__file__).parents[1] / "recordings" / "http.jsonl")


def test_show_tells_transport_era_and_how_its_streams_were_answered() -> None:
    told = workbench("sessions", "show", RECORDING).stdout
    assert "http" in told
    assert "legacy, the server answered server/discover with -32601 Method not found" in told
    rows = [line.split() for line in told.splitlines()]
    assert ["GET", "200", "2", "1", "broke", "off"] in rows
    assert ["POST", "502", "1"] in rows
    assert ["GET", "no", "answer", "1"] in rows


def test_frames_tell_their_stream_and_a_status_that_says_something() -> None:
    told = workbench("sessions", "frames", RECORDING).stdout.splitlines()
    assert " stream 12 status 502 " in told[28]
    assert " stream 5 " in told[11]
    assert "status" not in told[11].partition("{")[0]


def test_frames_as_json_hold_the_whole_head_and_the_event() -> None:
    done = workbench("sessions", "frames", RECORDING, "--from", "22", "--to", "22", "--json")
    frame = json.loads(done.stdout)
    assert (frame["stream"], frame["event"]) == (8, {"id": "c-4"})
    assert (frame["http"]["verb"], frame["http"]["status"]) == ("GET", 200)
    assert ["last-event-id", "c-2"] in frame["http"]["requestHeaders"]


def test_show_as_json_holds_every_stream() -> None:
    told = json.loads(workbench("sessions", "show", RECORDING, "--json").stdout)
    [connection] = told["sessions"][0]["connections"]
    assert len(connection["streams"]) == 12
    assert connection["eraFound"].startswith("the server answered")


def test_a_recording_says_once_with_which_code_its_server_ended(tmp_path: Path) -> None:
    recording = tmp_path / "ended.jsonl"
    lines = [
        {"session": 1, "name": "ended"},
        {"connection": 1, "name": "x", "closed_how": "exited 0", "exit_code": 0},
        {"connection": 2, "name": "y", "closed_how": "closed", "exit_code": 3},
    ]
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = workbench("sessions", "show", str(recording)).stdout
    assert "exited 0\n" in told
    assert "(exit code 0)" not in told
    assert "closed (exit code 3)" in told
