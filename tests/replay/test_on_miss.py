"""What was not recorded: an error, or a live server's answer where that was asked for, and nothing live otherwise."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.replay.build import Live, Tape, call, note, request, text
from tests.replay.mocked import listening
from tests.replay.serving import SERVE, hello_lines, lines, saved, served
from tests.replay.test_mock_http_command import Talk
from workbench.core.frame import Channel
from workbench.keep import check
from workbench.replay.actions import Forward, Send, Withdraw
from workbench.store.reader import Reader

#: A server that tells in a file that it was started, echoes, and takes its time over ``wait``.
SERVER = """
import json, sys, time
open(sys.argv[1], "a").write("started\\n")
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        told = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "live", "version": "1"}}
    elif asked.get("method") == "tools/call" and asked["params"]["name"] == "fail":
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32099, "message": "live error"}}), flush=True)
        continue
    elif asked.get("method") == "tools/call" and asked["params"]["name"] == "die":
        sys.exit(3)
    elif asked.get("method") == "tools/call":
        told = {"content": [{"type": "text", "text": "live " + json.dumps(asked["params"]["arguments"])}], "n": 1.50}
    elif "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
"""


class Place:
    """A recording of one call, and a live server that was never asked yet."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.recording = saved(Tape().hello().c(call(2, "t", n=1)).s(text(2, "recorded")), folder / "a.db")
        (folder / "live.py").write_text(SERVER)
        self._started = folder / "started"
        self.live = shlex.join(["--", sys.executable, str(folder / "live.py"), str(self._started)])

    @property
    def starts(self) -> int:
        return len(self._started.read_text().splitlines()) if self._started.exists() else 0

    def serve(self, how: str, *messages: Any, more: tuple[str, ...] = ()) -> tuple[int, list[Any], bytes]:
        words = ["--on-miss", how, "--live", self.live, *more]
        done = served(str(self.recording), *words, said=hello_lines() + lines(*messages))
        return done.returncode, [json.loads(line) for line in done.stdout.splitlines()[1:]], done.stderr


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_without_being_asked_nothing_goes_live(place: Place) -> None:
    done = served(str(place.recording), said=hello_lines() + lines(call(5, "t", n=2)))
    assert done.returncode == 6
    assert b"-32010" in done.stdout
    assert place.starts == 0


def test_a_recording_that_has_all_the_answers_starts_no_live_server(place: Place) -> None:
    status, answers, _ = place.serve("live", call(5, "t", n=1))
    assert (status, answers) == (0, [text(5, "recorded")])
    assert place.starts == 0


def test_a_live_server_answers_what_was_not_recorded_and_the_report_says_which(place: Place) -> None:
    report, again = place.folder / "report.json", place.folder / "again.db"
    asked = [call(5, "t", n=1), call("x", "t", n=2), call(7, "fail")]
    status, answers, _ = place.serve("live", *asked, more=("--report", str(report), "-o", str(again)))
    assert status == 0
    by_id = {answer["id"]: answer for answer in answers}
    assert by_id[5] == text(5, "recorded")
    assert by_id["x"]["result"]["content"][0]["text"] == 'live {"n": 2}'
    assert by_id[7]["error"] == {"code": -32099, "message": "live error"}
    told = json.loads(report.read_text())
    assert (told["verdict"], told["answered"], told["missed"], told["live_count"]) == ("ok", 4, 0, 2)
    assert [each["name"] for each in told["live"]] == ["t", "fail"]
    assert place.starts == 1
    with Reader.open(str(again)) as reader:
        notes = [json.loads(frame.body) for frame in reader.frames() if frame.channel is Channel.NOTE]
    assert [each["id"] for each in notes if each["event"] == "live"] == ['"x"', "7"]
    before = place.recording.read_bytes()
    place.serve("live", call(5, "t", n=3))
    assert place.recording.read_bytes() == before


def test_what_a_live_server_answered_is_added_to_the_recording_and_replayed_from_then_on(
    place: Place,
) -> None:
    status, _, said = place.serve("record", call(5, "t", n=2), call(6, "fail"))
    assert status == 0
    assert b"2 answers of the live server were added" in said
    with Reader.open(str(place.recording)) as reader:
        assert reader.provenance() == dict.fromkeys((6, 7, 8, 9), "recorded")
        # As it was spelled on the wire.
        assert b'"n": 1.5}' in reader.body(7)
    (verdict,) = check(str(place.recording))
    assert verdict.verdict.whole
    done = served(
        str(place.recording),
        "--strict",
        said=hello_lines() + lines(call(1, "t", n=1), call(2, "t", n=2), call(3, "fail")),
    )
    assert done.returncode == 0, done.stderr
    assert b"live error" in done.stdout
    assert place.starts == 1


def test_no_secret_of_what_is_added_gets_into_the_recording(place: Place) -> None:
    key = "sk-ant-api03-" + "a1B2c3D4e5" * 8
    status, answers, _ = place.serve("record", call(5, "t", api_key=key, n=2))
    assert (status, key in json.dumps(answers)) == (0, True)
    assert key.encode() not in place.recording.read_bytes()
    with Reader.open(str(place.recording)) as reader:
        added = [reader.frame(seq) for seq in reader.provenance()]
    assert [b"<redacted:1 " in frame.body for frame in added] == [True, True]
    assert all(frame.spans and frame.size > 0 for frame in added)
    (verdict,) = check(str(place.recording))
    assert verdict.verdict.whole, verdict.verdict.problems
    # Another secret gets another number.
    place.serve("record", call(5, "t", api_key=key[::-1].replace("-", "x") + key, n=3))
    with Reader.open(str(place.recording)) as reader:
        bodies = b"".join(frame.body for frame in reader.frames())
    assert b"<redacted:2 " in bodies
    assert key.encode() not in bodies


def test_a_live_server_that_does_not_answer_leaves_the_miss_as_it_is(place: Place) -> None:
    report = place.folder / "report.json"
    status, answers, _ = place.serve("record", call(5, "die"), more=("--report", str(report)))
    assert status == 6
    assert answers[0]["error"]["code"] == -32010
    told = json.loads(report.read_text())
    assert told["missed"] == 1
    assert any("live server was asked for tools/call, and did not answer" in note for note in told["notes"])
    with Reader.open(str(place.recording)) as reader:
        assert reader.provenance() == {}


def test_a_live_server_that_cannot_be_started_is_told(place: Place) -> None:
    place.live = "-- /nowhere/server"
    status, answers, _ = place.serve("live", call(5, "t", n=2))
    assert (status, answers[0]["error"]["code"]) == (6, -32010)


@pytest.mark.parametrize(
    "words", [["--on-miss", "live"], ["--live", "-- x"], ["--on-miss", "sometimes", "--live", "x"]]
)
def test_what_does_not_go_together_is_a_sentence(place: Place, words: list[str]) -> None:
    done = served(str(place.recording), *words)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1


def test_over_http_each_client_has_a_live_connection_of_its_own(place: Place) -> None:
    with listening(place.recording, place.folder, "--on-miss", "record", "--live", place.live) as mock:
        for _ in range(2):
            talk = Talk(mock.url)
            assert talk.say(call(5, "t", n=1)) == text(5, "recorded")
            answer = talk.say(call(6, "t", n=2))
            assert isinstance(answer, dict)
            assert answer["result"]["content"][0]["text"] == 'live {"n": 2}'
        assert place.starts == 2
        assert mock.end() == 0
        assert mock.report()["live_count"] == 2
    with Reader.open(str(place.recording)) as reader:
        assert list(reader.provenance().values()) == ["recorded"] * 4


# The engine


def forwarded() -> tuple[Live, Forward]:
    live = Live(Tape().hello(), on_miss="live")
    live.hello()
    (forward,) = live.server.feed(json.dumps(call(5, "t", n=2)).encode())
    assert isinstance(forward, Forward)
    return live, forward


def test_an_answer_comes_under_the_id_of_the_client() -> None:
    live, forward = forwarded()
    (send,) = live.server.came(forward, b'{"result":{"id":9},"jsonrpc":"2.0","id":77}')
    assert isinstance(send, Send)
    assert send.body == b'{"result":{"id":9},"jsonrpc":"2.0","id":5}'
    assert live.server.came(forward, b"{}") == []


def test_who_cancels_gets_nothing_any_more() -> None:
    live, forward = forwarded()
    cancelled = json.dumps(note("notifications/cancelled", requestId=5)).encode()
    assert live.server.feed(cancelled) == [Withdraw("5")]
    assert live.server.came(forward, b"{}") == live.server.did_not_come(forward, "late") == []


def test_a_handshake_that_was_not_recorded_stays_a_miss() -> None:
    live = Live(Tape().c(request(1, "tools/list")), on_miss="live")
    (send,) = live.server.feed(json.dumps(request(2, "initialize")).encode())
    assert isinstance(send, Send)
    assert b"-32010" in send.body


def test_two_mocks_that_add_at_once_lose_nothing(place: Place) -> None:
    command = [*SERVE, str(place.recording), "--on-miss", "record", "--live", place.live]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(2)]
    for number, process in enumerate(both):
        assert process.stdin is not None
        process.stdin.write(hello_lines() + lines(call(5, "t", n=10 + number)))
        process.stdin.flush()
        assert process.stdout is not None
        assert b"capabilities" in process.stdout.readline()
        assert b"live" in process.stdout.readline()
    for process in both:
        process.communicate(timeout=60)
    with Reader.open(str(place.recording)) as reader:
        assert list(reader.provenance().values()) == ["recorded"] * 4


def test_a_url_may_be_the_live_server(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    live = saved(Tape().hello().c(call(2, "t", n=5)).s(text(2, "from afar")), other / "b.db")
    with listening(live, other) as mock:
        place.live = f"--http {mock.url}"
        status, answers, _ = place.serve("live", call(9, "t", n=5))
        assert (status, answers) == (0, [text(9, "from afar")])
        assert httpx.get(mock.url, trust_env=False, headers={"accept": "text/html"}).status_code >= 400
