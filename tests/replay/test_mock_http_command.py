"""``replay server --listen`` as users start it: what it leaves behind, however it ends."""

from __future__ import annotations

import json
import signal
from contextlib import suppress
from pathlib import Path
from xml.etree import ElementTree

import httpx
import pytest

from tests.replay.build import Tape, call, note, result, text
from tests.replay.mocked import listening, started
from tests.replay.serving import INITIALIZE, SERVE, saved, served
from tests.wire.raw import modern, modern_headers
from workbench.core.frame import Channel, Direction
from workbench.store.copying import copy
from workbench.store.reader import Reader

SECRET = "sk-ant-api03-" + "a1B2c3D4e5" * 8
ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    tape = Tape().hello().c(call(2, "t", n=1, key=SECRET)).s(text(2, "x")).err(b"a word on stderr")
    tape.c(call(3, "u")).s(text(3, "y"))
    return saved(tape, tmp_path / "a.db")


class Talk:
    """A client that has shaken hands."""

    def __init__(self, url: str) -> None:
        self.client = httpx.Client(timeout=30, trust_env=False, headers=ACCEPT)
        self.url = url
        answer = self.client.post(url, json=INITIALIZE)
        self.client.headers["mcp-session-id"] = answer.headers["mcp-session-id"]
        self.client.post(url, json=note("notifications/initialized"))

    def say(self, body: object) -> object:
        return self.client.post(self.url, json=body).json()


def test_everything_recorded_is_answered_and_the_status_is_good(recording: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.db"
    with listening(recording, tmp_path, "--strict", "-o", str(again)) as mock:
        talk = Talk(mock.url)
        assert talk.say(call(7, "t", n=1, key=SECRET)) == text(7, "x")
        assert talk.say(call(8, "u")) == text(8, "y")
        assert mock.end() == 0
        assert mock.stderr == b"a word on stderr\n"
        told = mock.report()
    assert (told["verdict"], told["requests"], told["unused_count"]) == ("ok", 3, 0)
    assert told["ended"] == "ended by signal TERM"
    with Reader.open(str(again)) as reader:
        (connection,) = reader.connections()
        assert (connection.transport, connection.era, connection.revision) == ("http", "legacy", "2025-11-25")
        frames = list(reader.frames())
        bodies = [
            json.loads(frame.body)
            for frame in frames
            if frame.direction is Direction.TO_CLIENT and frame.channel is Channel.HTTP and frame.body
        ]
        assert bodies[1:] == [text(7, "x"), text(8, "y")]
        assert SECRET.encode() not in b"".join(frame.body for frame in frames)


def test_a_miss_is_in_the_reports_on_stderr_and_in_the_status_without_any_secret(
    recording: Path, tmp_path: Path
) -> None:
    junit = tmp_path / "junit.xml"
    with listening(recording, tmp_path, "--junit", str(junit)) as mock:
        talk = Talk(mock.url)
        answer = talk.say(call(7, "t", n=2, key=SECRET))
        assert isinstance(answer, dict)
        assert answer["error"]["code"] == -32010
        assert answer["error"]["data"]["nearest"]["differences"] == [
            {"pointer": "/arguments/n", "recorded": "1", "live": "2"}
        ]
        assert mock.end(signal.SIGINT) == 6
        assert b"nearest is #4, which differs at /arguments/n" in mock.stderr
        told = mock.report()
    assert (told["verdict"], told["missed"], told["clients"][0]["missed"]) == ("mismatch", 1, 1)
    (failure,) = ElementTree.parse(junit).getroot().iter("failure")
    assert "/arguments/n" in str(failure.get("message"))
    shown = [json.dumps(answer), json.dumps(told), junit.read_text(), mock.stderr.decode()]
    assert not [each for each in shown if SECRET in each]


def test_the_reports_are_there_when_the_client_kills_the_mock(recording: Path, tmp_path: Path) -> None:
    junit = tmp_path / "junit.xml"
    with listening(recording, tmp_path, "--junit", str(junit)) as mock:
        Talk(mock.url).say(call(7, "wrong"))
        assert mock.end(signal.SIGKILL) == -signal.SIGKILL
        told = mock.report()
    assert (told["verdict"], told["requests"], told["missed"]) == ("mismatch", 2, 1)
    assert len(list(ElementTree.parse(junit).getroot().iter("failure"))) == 1


def test_unused_requests_count_only_with_strict_and_are_named(recording: Path, tmp_path: Path) -> None:
    for words, code in (((), 0), (("--strict",), 6)):
        with listening(recording, tmp_path, *words) as mock:
            Talk(mock.url).say(call(7, "t", n=1, key=SECRET))
            assert mock.end() == code
            assert [each["name"] for each in mock.report()["unused"]] == ["u"]
    assert b"1 recorded requests were not asked for" in mock.stderr


def test_strict_counts_what_nobody_came_for(recording: Path, tmp_path: Path) -> None:
    with listening(recording, tmp_path, "--strict") as mock:
        assert mock.end() == 6
        assert mock.report()["unused_count"] == 3


def test_what_one_client_leaves_another_may_use(recording: Path, tmp_path: Path) -> None:
    with listening(recording, tmp_path, "--strict") as mock:
        Talk(mock.url).say(call(7, "u"))
        Talk(mock.url).say(call(7, "t", n=1, key=SECRET))
        assert mock.end() == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--listen", "0.0.0.0:0"], b"other machines"),
        (["--listen", "127.0.0.1:0", "--connections", "fixed:nobody"], b"no connection nobody"),
        (["--transport", "http"], b"--listen"),
        (["--ready-file", "x"], b"--listen"),
        (["--listen", "127.0.0.1:0", "--transport", "stdio"], b"--transport http or sse"),
        (["--listen", "127.0.0.1:0", "--connections", "any"], b"each or fixed:NAME"),
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(recording: Path, words: list[str], why: bytes) -> None:
    done = served(str(recording), *words)
    assert done.returncode == 2
    assert why in done.stderr


def test_a_session_with_several_targets_asks_which(tmp_path: Path) -> None:
    from workbench.store.recorder import Recorder

    path = tmp_path / "two.db"
    recorder = Recorder(str(path), name="two")
    for target in ("left", "right"):
        recorder.connect(target, "stdio", target)
    recorder.close()
    done = served(str(path), "--listen", "127.0.0.1:0")
    assert done.returncode == 2
    assert b"left, right" in done.stderr


def stateless(path: Path) -> Path:
    """What two clients of the stateless era asked of one server, each in a connection of its own."""
    lines: list[dict[str, object]] = [
        {"connection": number, "name": name, "transport": "http", "target": "http://host/mcp"}
        for number, name in ((1, "one"), (2, "two"))
    ]
    for number, name in ((1, "t"), (2, "u")):
        asked, told = (
            modern("tools/call", 1, name=name),
            result(1, resultType="complete", content=[], of=name),
        )
        for direction, body in (("to_server", asked), ("to_client", told)):
            lines.append(
                {"frame": len(lines) - 1, "connection": number, "direction": direction, "json": body}
            )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_whoever_uses_the_place_without_a_name_gets_what_all_clients_of_the_stateless_era_got(
    tmp_path: Path,
) -> None:
    recording = stateless(tmp_path / "a.jsonl")

    def asked(url: str, name: str) -> object:
        headers = {**ACCEPT, **modern_headers("tools/call", name)}
        answer = httpx.post(url, json=modern("tools/call", 7, name=name), headers=headers, trust_env=False)
        return answer.json().get("result", {}).get("of")

    with listening(recording, tmp_path, "--strict") as mock:
        assert [asked(mock.url, name) for name in ("u", "t")] == ["u", "t"]
        assert mock.end() == 0
        assert mock.report()["unused_count"] == 0
    with listening(recording, tmp_path, "--strict") as mock:
        named = f"{mock.url}/first"
        assert [asked(named, name) for name in ("t", "u")] == ["t", None], (
            "a place with a name is one client's"
        )
        assert mock.end() == 6
    with listening(recording, tmp_path, "--connections", "fixed:two") as mock:
        assert [asked(mock.url, name) for name in ("u", "t")] == ["u", None]
        assert mock.end() == 6


def test_a_recording_that_cannot_be_read_on_ends_the_mock_with_a_sentence(tmp_path: Path) -> None:
    tape = Tape().hello()
    for number in range(2, 500):
        tape.c(call(number, "t", n=number)).s(text(number, "x" * 200))
    recording = tmp_path / "a.jsonl"
    copy(str(saved(tape, tmp_path / "a.db")), str(recording))
    lines = recording.read_text().splitlines(keepends=True)
    lines[700] = lines[700].replace('"direction":"', '"direction":"up_')
    recording.write_text("".join(lines))
    # Without a report it is read no further than its clients come.
    command, ready = [*SERVE, str(recording), "--listen", "127.0.0.1:0"], tmp_path / "url.txt"
    with started([*command, "--ready-file", str(ready)], ready) as process:
        talk = Talk(ready.read_text().strip())
        with suppress(httpx.HTTPError, ValueError):
            talk.say(call(7, "t", n="never"))
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 7
    assert b"line 701: it is no frame" in said
    assert said.count(b"\n") == 1
