"""sessions: what was recorded is listed, shown, kept and passed on."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from tests.cli.command import DEMO, workbench
from tests.demo.conversation import FIXTURE

SECRET = "tok-Zk93ndQ7bXw2"
TOKEN = {"TOKEN": SECRET}


@pytest.fixture
def recording(tmp_path: Path) -> str:
    """A recording of one call, made by the command line."""
    path = tmp_path / "call.db"
    done = workbench("call", "weather_current", "location=Oslo", "-o", str(path), *DEMO)
    assert done.returncode == 0, done.stderr
    return str(path)


def test_an_empty_store_is_no_error() -> None:
    done = workbench("sessions", "list")
    assert (done.returncode, done.stdout) == (0, "")
    assert "no session" in done.stderr
    assert workbench("sessions", "list", "--json").stdout == "[]\n"


def test_sessions_of_the_store_are_listed_and_shown_by_name(tmp_path: Path) -> None:
    store = tmp_path / "store"
    store.mkdir()
    os.link(FIXTURE, store / "demo-run.jsonl")
    (store / "broken.db").write_bytes(b"not a database")
    listed = workbench("sessions", "list").stdout
    assert "demo-run" in listed
    assert "broken" in listed
    assert "cannot be read" in listed
    told = {each["name"]: each for each in json.loads(workbench("sessions", "list", "--json").stdout)}
    assert told["demo-run"]["frames"] == len(workbench("sessions", "frames", "demo").stdout.splitlines())
    assert told["broken"]["broken"]
    assert "weather_current" in workbench("sessions", "show", "demo-run").stdout


def test_redact_tells_the_places_of_secrets_and_takes_them_out_of_a_copy(tmp_path: Path) -> None:
    plain, clean = tmp_path / "plain.jsonl", tmp_path / "clean.jsonl"
    token = "ghp_" + "a1B2" * 9
    body = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": f"{token} {SECRET}"}]}}
    frame = {"frame": 1, "direction": "to_client", "json": body}
    plain.write_text(json.dumps(frame, separators=(",", ":")) + "\n")
    more = ("--secret", "env:TOKEN")
    looked = workbench("sessions", "redact", str(plain), *more, env=TOKEN)
    assert looked.returncode == 6
    assert "/result/content/0/text" in looked.stdout
    assert "<redacted:2 value TOKEN>" in looked.stdout
    assert token not in looked.stdout + looked.stderr
    assert SECRET not in looked.stdout + looked.stderr
    assert workbench("sessions", "redact", str(plain), *more, "-o", str(clean), env=TOKEN).returncode == 0
    text = clean.read_text()
    assert '"text":"<redacted:1 github token> <redacted:2 value TOKEN>"' in text
    again = workbench("sessions", "redact", "--json", str(clean), *more, env=TOKEN)
    assert again.returncode == 0
    assert json.loads(again.stdout) == {"path": None, "found": {}, "places": []}
    assert workbench("sessions", "redact", str(plain), "-o", str(clean)).returncode == 2
    assert workbench("sessions", "redact", str(plain), "--secret", SECRET).returncode == 2
    assert workbench("sessions", "redact", str(plain), "--pattern", "(").returncode == 2


def test_show_tells_who_spoke_and_what_was_asked_how_often() -> None:
    done = workbench("sessions", "show", str(FIXTURE))
    for said in (
        "workbench-demo 1.0",
        "2025-11-25",
        "tools/call",
        "long_operation",
        "sampling/createMessage",
        "1 failed",
    ):
        assert said in done.stdout, said
    told = json.loads(workbench("sessions", "show", "--json", str(FIXTURE)).stdout)
    requests = {
        (each["from"], each["method"], each["name"]): each
        for each in told["sessions"][0]["connections"][0]["requests"]
    }
    assert requests["client", "tools/call", "weather_current"]["count"] == 3
    assert requests["client", "tools/call", "break_down"]["failed"] == 1
    assert requests["server", "elicitation/create", None]["count"] == 1


def test_frames_are_told_one_a_line_and_can_be_searched(recording: str) -> None:
    lines = workbench("sessions", "frames", recording).stdout.splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(1, len(lines) + 1))
    assert any("-> request" in line and "tools/call weather_current" in line for line in lines)
    found = workbench("sessions", "frames", recording, "--find", "Oslo", "--json").stdout.splitlines()
    documents = [json.loads(line) for line in found]
    assert [each["kind"] for each in documents] == ["request", "result"]
    assert documents[1]["pair"] == documents[0]["seq"]
    assert json.loads(documents[1]["text"])["result"]["content"]
    passing = workbench(
        "sessions", "frames", recording, "--filter", "name:weather_c* dir:in", "--json"
    ).stdout
    assert [json.loads(line)["kind"] for line in passing.splitlines()] == ["result"]
    wrong = workbench("sessions", "frames", recording, "--filter", "kind:eror")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "kind:eror is not known; it is one of request" in wrong.stderr
    part = workbench("sessions", "frames", recording, "--from", "2", "--to", "9", "--body").stdout
    assert '"protocolVersion": "2025-11-25"' in part
    assert workbench("sessions", "frames", recording, "--connection", "none").returncode == 2


def test_export_and_import_give_the_same_text_again(recording: str, tmp_path: Path) -> None:
    text = workbench("sessions", "export", recording).stdout
    (tmp_path / "a.jsonl").write_text(text)
    assert (
        workbench("sessions", "import", str(tmp_path / "a.jsonl"), "-o", str(tmp_path / "b.db")).returncode
        == 0
    )
    done = workbench("sessions", "export", str(tmp_path / "b.db"), "-o", str(tmp_path / "b.jsonl"))
    assert "replays 100 %" in done.stderr
    assert (tmp_path / "b.jsonl").read_text() == text


def test_copy_makes_either_form_and_overwrites_nothing(recording: str, tmp_path: Path) -> None:
    for name in ("copy.db", "copy.jsonl"):
        assert workbench("sessions", "copy", recording, str(tmp_path / name)).returncode == 0
        shown = workbench("sessions", "frames", str(tmp_path / name)).stdout
        assert shown == workbench("sessions", "frames", recording).stdout
        assert workbench("sessions", "copy", recording, str(tmp_path / name)).returncode == 2


def test_keep_writes_a_fixture_that_replays_and_says_how_to_use_it(recording: str, tmp_path: Path) -> None:
    done = workbench("sessions", "keep", recording, "oslo", cwd=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "sessions" / "oslo.jsonl").exists()
    assert "replays 100 %" in done.stdout
    assert "mcp-workbench replay server sessions/oslo.jsonl" in done.stdout
    replay = ["--replay", "sessions/oslo.jsonl"]
    replayed = workbench(
        "call", "weather_current", "location=Oslo", "--no-capability", "x", *replay, cwd=str(tmp_path)
    )
    assert replayed.stdout.startswith("Oslo: "), replayed.stderr
    told = json.loads(workbench("sessions", "keep", recording, "again", "--json", cwd=str(tmp_path)).stdout)
    assert told["replays"] is True


def test_a_secret_given_to_the_server_reaches_it_and_no_recording(tmp_path: Path) -> None:
    config = tmp_path / "servers.json"
    script = (
        "import os, sys; print('token', os.environ['TOKEN'], file=sys.stderr); "
        "from workbench.demo.server import main; main()"
    )
    entry = {"command": sys.executable, "args": ["-c", script], "env": TOKEN}
    config.write_text(json.dumps({"mcpServers": {"demo": entry}}))
    path = tmp_path / "secret.db"
    done = workbench(
        "call", "echo", f"text=it is {SECRET}", "-o", str(path), "@demo", "--config", str(config)
    )
    assert f"it is {SECRET}" in done.stdout, done.stderr
    assert SECRET.encode() not in path.read_bytes()
    frames = workbench("sessions", "frames", str(path), "--body").stdout
    assert "token <redacted:" in frames
    kept = workbench("sessions", "keep", str(path), "secret", cwd=str(tmp_path))
    assert "redacted:" in kept.stdout
    assert SECRET not in (tmp_path / "sessions" / "secret.jsonl").read_text()


@pytest.mark.parametrize("words", [["show"], ["frames"], ["export"], ["copy", "x.db"], ["keep", "x"]])
def test_a_recording_that_is_not_there_or_no_recording_is_status_7(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "junk.db").write_bytes(b"junk" * 1000)
    for file in ("nowhere.db", str(tmp_path / "junk.db")):
        done = workbench("sessions", words[0], file, *words[1:], cwd=str(tmp_path))
        assert done.returncode == 7, (file, done.stderr)
        assert len(done.stderr.strip().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["junk.db"]


def test_reading_a_recording_changes_no_byte_and_leaves_no_neighbour(tmp_path: Path, recording: str) -> None:
    folder = tmp_path / "read-only"
    folder.mkdir()
    os.link(FIXTURE, folder / "text.jsonl")
    (folder / "file.db").write_bytes(Path(recording).read_bytes())
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for file in before:
        for words in (["show"], ["frames", "--json"], ["export"]):
            assert workbench("sessions", words[0], str(folder / file), *words[1:]).returncode == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
