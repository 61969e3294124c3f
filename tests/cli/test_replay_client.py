"""``replay client``: a recording verified against a live server, and ``replay report``."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import psutil
import pytest

from tests.cli.command import PROGRAM, workbench
from tests.demo.conversation import FIXTURE
from tests.servers.targets import ROOT

MINIMAL = ("--cwd", str(ROOT), "--", sys.executable, "-m", "tests.servers.minimal")
SECRET = "ghp_" + "Ab3" * 12


def line(direction: str, **body: Any) -> str:
    return json.dumps({"frame": 0, "direction": direction, "json": {"jsonrpc": "2.0", **body}})


def asked(id: Any, method: str, **params: Any) -> str:
    return line("to_server", id=id, method=method, params=params)


def answered(id: Any, **result: Any) -> str:
    return line("to_client", id=id, result=result)


def echo(id: Any, text: str, answer: str | None = None) -> list[str]:
    content = [{"type": "text", "text": text if answer is None else answer}]
    return [asked(id, "tools/call", name="echo", arguments={"text": text}), answered(id, content=content)]


def recording(path: Path, *exchanges: list[str], head: tuple[str, ...] = ()) -> str:
    """A session with the minimal server, in the text form; frames are numbered from 1."""
    told = {"capabilities": {"tools": {}}, "serverInfo": {"name": "minimal", "version": "1"}}
    lines = [
        asked(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={}),
        answered(1, protocolVersion="2025-11-25", **told),
        line("to_server", method="notifications/initialized"),
        *(each for exchange in exchanges for each in exchange),
    ]
    numbered = [each.replace('"frame": 0', f'"frame":{at}') for at, each in enumerate(lines, 1)]
    path.write_text("\n".join([*head, *numbered, ""]))
    return str(path)


@pytest.fixture
def agreeing(tmp_path: Path) -> str:
    return recording(tmp_path / "echo.jsonl", echo(2, "hello"), echo("two", "world"))


@pytest.fixture
def differing(tmp_path: Path) -> str:
    return recording(tmp_path / "echo.jsonl", echo(2, "hello"), echo("two", "world", "mundo"))


def test_a_server_that_agrees_is_told_so_and_the_status_is_0(agreeing: str) -> None:
    done = workbench("replay", "client", agreeing, *MINIMAL)
    assert done.returncode == 0, done.stderr
    assert "agrees: 3 equal" in done.stdout
    [row] = [each for each in done.stdout.splitlines() if each.strip().startswith("6 ")]
    assert row.split()[:4] == ["6", "tools/call", "echo", "equal"]


def test_the_demo_verifies_as_it_was_recorded() -> None:
    done = workbench("replay", "client", str(FIXTURE), "--json", "--", sys.executable, "-m", "workbench.demo")
    told = json.loads(done.stdout)
    assert done.returncode == 0, told
    assert told["counts"] == {"equal": 30}
    assert told["questions"] == []


def test_what_differs_is_told_by_pointer_with_hints_and_the_status_is_6(differing: str) -> None:
    done = workbench("replay", "client", differing, *MINIMAL)
    assert done.returncode == 6
    assert "#6 tools/call echo: changed" in done.stdout
    assert '  /content/0/text: "mundo" is now "world"' in done.stdout
    assert "--ignore 'tools/call:echo=/content/0/text'" in done.stdout
    assert "does not agree: 2 equal, 1 changed" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("--ignore", "/content/*/text"),
        ("--ignore", "tools/call:echo=/content/0/text"),
        ("--compare", "shape"),
        ("--compare", "tools/call:echo=status"),
    ],
)
def test_where_it_may_differ_it_agrees(differing: str, words: tuple[str, str]) -> None:
    assert workbench("replay", "client", differing, *words, *MINIMAL).returncode == 0


def test_reports_go_to_files_and_are_joined_with_their_status(tmp_path: Path, differing: str) -> None:
    report, junit = tmp_path / "a.json", tmp_path / "a.xml"
    workbench("replay", "client", differing, "--report", str(report), "--junit", str(junit), *MINIMAL)
    fine = tmp_path / "b.json"
    whole = recording(tmp_path / "whole.jsonl", echo(2, "hello"))
    workbench("replay", "client", whole, "--report", str(fine), *MINIMAL)

    told = json.loads(report.read_text())
    assert told["verdict"] == "mismatch"
    [changed] = [each for each in told["exchanges"] if each["verdict"] == "changed"]
    assert changed["differences"] == [
        {"pointer": "/content/0/text", "recorded": '"mundo"', "live": '"world"'}
    ]
    suite = ElementTree.parse(junit).getroot()[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    [failure] = suite.iter("failure")
    assert failure.get("message") == 'changed: /content/0/text: "mundo" is now "world"'

    both = workbench("replay", "report", str(report), str(fine), "--junit", str(tmp_path / "both.xml"))
    assert both.returncode == 6
    assert f"{differing}  mismatch: 2 equal, 1 changed" in both.stdout
    assert f"{whole}  ok: 2 equal" in both.stdout
    joined = ElementTree.parse(tmp_path / "both.xml").getroot()
    assert [each.get("failures") for each in joined] == ["1", "0"]
    assert workbench("replay", "report", str(fine)).returncode == 0
    again = json.loads(workbench("replay", "report", str(report), str(fine), "--json").stdout)
    assert [each["verdict"] for each in again["reports"]] == ["mismatch", "ok"]


def test_reports_of_mock_servers_are_joined_too(tmp_path: Path, agreeing: str) -> None:
    report = tmp_path / "server.json"
    asking = asked(1, "tools/call", name="echo", arguments={"text": "other"}).partition('"json": ')[2][:-1]
    workbench("replay", "server", agreeing, "--report", str(report), stdin=f"{asking}\n")
    done = workbench("replay", "report", str(report), "--junit", str(tmp_path / "s.xml"))
    assert done.returncode == 6
    assert "tools/call echo: The recording has no such tools/call echo" in done.stdout
    [failure] = ElementTree.parse(tmp_path / "s.xml").getroot().iter("failure")
    assert failure.text == '/arguments/text: "hello" is now "other"'


@pytest.mark.parametrize("content", ["nonsense", "[1]", '{"recording": 3}'])
def test_what_is_no_report_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "no.json"
    file.write_text(content)
    done = workbench("replay", "report", str(file))
    assert done.returncode == 2
    assert "is no report of a replay" in done.stderr


def test_a_report_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert workbench("replay", "report", str(tmp_path / "none.json")).returncode == 7


def test_a_server_that_cannot_be_reached_is_status_3_and_the_report_is_written(
    tmp_path: Path, agreeing: str
) -> None:
    report = tmp_path / "r.json"
    done = workbench("replay", "client", agreeing, "--report", str(report), "--", "/nowhere/at-all")
    assert done.returncode == 3
    assert "/nowhere/at-all" in done.stderr
    assert json.loads(report.read_text())["counts"] == {"missing": 3}


def test_update_takes_the_new_answers_and_leaves_every_other_line(differing: str) -> None:
    path = Path(differing)
    path.chmod(0o640)
    before = path.read_bytes().splitlines()
    done = workbench("replay", "client", differing, "--update", *MINIMAL)
    assert done.returncode == 0, done.stderr
    assert "1 answer was taken over" in done.stderr
    assert "replays 100 %" in done.stderr
    after = path.read_bytes().splitlines()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640
    changed = [each for each in after if each not in before]
    assert [each for each in before if each not in after] == [before[6]]
    origin, answer = (json.loads(each) for each in changed)
    assert origin["provenance"] == 7
    assert origin["how"] == "recorded"
    assert "replay client --update" in origin["detail"]
    # The live answer is JSON as the server writes it, under the recorded id.
    assert answer["json"] == {
        "jsonrpc": "2.0",
        "id": "two",
        "result": {"content": [{"type": "text", "text": "world"}]},
    }
    assert workbench("replay", "client", differing, *MINIMAL).returncode == 0
    # Nothing is written where all agrees.
    workbench("replay", "client", differing, "--update", *MINIMAL)
    assert path.read_bytes().splitlines() == after


def test_update_keeps_the_rules_it_was_given(differing: str) -> None:
    words = ("--ignore", "tools/call=/content/0/text", "--compare", "tools/list=shape")
    done = workbench("replay", "client", differing, *words, "--update", *MINIMAL)
    assert done.returncode == 0, done.stderr
    text = Path(differing).read_text()
    assert "mundo" in text
    assert '{"rule":1,"what":"verify-compare","value":"tools/list=shape"}' in text
    assert '{"rule":2,"what":"verify-ignore","value":"tools/call=/content/0/text"}' in text
    assert workbench("replay", "client", differing, *MINIMAL).returncode == 0


def test_update_puts_no_secret_into_the_recording(tmp_path: Path) -> None:
    path = recording(tmp_path / "s.jsonl", echo(2, "hello", "other"))
    Path(path).write_text(Path(path).read_text().replace('"hello"', f'"{SECRET}"'))
    done = workbench("replay", "client", path, "--update", *MINIMAL)
    assert done.returncode == 0, done.stderr
    [answer] = [each for each in Path(path).read_text().splitlines() if each.startswith('{"frame":5')]
    assert "<redacted:1 github token>" in answer
    assert SECRET not in answer
    assert SECRET not in done.stdout


def test_update_needs_the_text_form(tmp_path: Path, agreeing: str) -> None:
    database = tmp_path / "echo.db"
    workbench("sessions", "import", agreeing, "-o", str(database))
    done = workbench("replay", "client", str(database), "--update", *MINIMAL)
    assert done.returncode == 2
    assert "sessions export" in done.stderr


@pytest.mark.parametrize("secret", [SECRET, "correct horse battery"])
def test_a_secret_the_client_sent_is_asked_for_by_its_place_and_then_sent(
    tmp_path: Path, secret: str
) -> None:
    path = recording(
        tmp_path / "s.jsonl", echo(2, "<redacted:1 env API_TOKEN>", "<redacted:1 env API_TOKEN>")
    )
    done = workbench("replay", "client", path, *MINIMAL)
    assert done.returncode == 2
    assert "#4 sends <redacted:1 env API_TOKEN> at /params/arguments/text" in done.stderr
    assert "--secret 1=env:NAME" in done.stderr
    run = tmp_path / "run.db"
    words = ("--secret", "1=env:MINE", "-o", str(run), "--json")
    done = workbench("replay", "client", path, *words, *MINIMAL, env={"MINE": secret})
    assert done.returncode == 0, done.stdout + done.stderr
    assert secret not in done.stdout + done.stderr
    assert secret.encode() not in run.read_bytes()
    # The server had it: it said so, in the recording of the run without it.
    frames = workbench("sessions", "frames", str(run), "--json").stdout.splitlines()
    assert sum("<redacted:1 " in json.loads(each)["text"] for each in frames) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--secret", "x"), "N=env:NAME"),
        (("--secret", "1=env:NOT_SET_ANYWHERE"), "NOT_SET_ANYWHERE is not set"),
        (("--timing", "fast"), "a factor such as 0.1x"),
        (("--timing", "nan"), "a factor such as 0.1x"),
        (("--compare", "alike"), "a level is one of exact, shape, schema, status"),
        (("--ignore", "content"), "a JSON pointer begins with /"),
        (("--connection", "other"), "has no connection other"),
        (("--junit", "/nowhere/at/all.xml"), "does not exist"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_started(
    agreeing: str, words: tuple[str, ...], said: str
) -> None:
    done = workbench("replay", "client", agreeing, *words, "--", "/nowhere/at-all")
    assert done.returncode == 2
    assert said in done.stderr


def test_without_a_target_or_a_recording_it_says_what_is_missing(agreeing: str) -> None:
    done = workbench("replay", "client", agreeing)
    assert (done.returncode, "no TARGET" in done.stderr) == (2, True)
    assert workbench("replay", "client", "nothing-like-that", *MINIMAL).returncode == 7


def test_text_of_a_server_commands_nothing(tmp_path: Path) -> None:
    path = recording(tmp_path / "s.jsonl", echo(2, "a\x1b[31mred\u202e", "plain"))
    done = workbench("replay", "client", path, "--junit", str(tmp_path / "j.xml"), *MINIMAL)
    assert done.returncode == 6
    assert "\x1b[31m" not in done.stdout
    assert "\u202e" not in done.stdout
    ElementTree.parse(tmp_path / "j.xml")


def two(tmp_path: Path) -> str:
    """A session with two connections, each of which says its own word."""
    path = recording(tmp_path / "two.jsonl")
    head = [
        '{"connection":1,"name":"left"}',
        '{"connection":2,"name":"right"}',
    ]
    frames = [json.loads(each) for each in Path(path).read_text().splitlines()]
    words = [json.loads(each) for each in [*echo(2, "l"), *echo(2, "r")]]
    order = [(1, frames[0]), (2, frames[0]), (1, frames[1]), (2, frames[1]), (1, frames[2]), (2, frames[2])]
    order += [(1, words[0]), (2, words[2]), (2, words[3]), (1, words[1])]
    lines = [
        json.dumps({"frame": at, "connection": number, **{k: v for k, v in each.items() if k != "frame"}})
        for at, (number, each) in enumerate(order, 1)
    ]
    Path(path).write_text("\n".join([*head, *lines, ""]))
    return path


def test_several_connections_go_to_one_target_or_each_to_its_own(tmp_path: Path) -> None:
    path = two(tmp_path)
    server = f"{sys.executable} -m tests.servers.minimal"
    done = workbench("replay", "client", path, "--cwd", str(ROOT), "--stdio", server)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "left" in done.stdout
    assert "right" in done.stdout
    cwd = ("--cwd", str(ROOT))
    own = ("--stdio", server, "--name", "right", *cwd, "--stdio", server, "--name", "left", *cwd)
    run = tmp_path / "run.db"
    done = workbench("replay", "client", path, "-o", str(run), *own)
    assert done.returncode == 0, done.stdout + done.stderr
    names = [
        each["name"]
        for each in json.loads(workbench("sessions", "show", str(run), "--json").stdout)["sessions"][0][
            "connections"
        ]
    ]
    assert names == ["left", "right"]
    three = workbench("replay", "client", path, *cwd, *("--stdio", server) * 3)
    assert three.returncode == 2
    assert "2 connections (left, right)" in three.stderr
    one = workbench("replay", "client", path, "--connection", "right", "--json", *MINIMAL)
    assert [each["connection"] for each in json.loads(one.stdout)["exchanges"]] == [2, 2]


def test_a_server_that_never_answers_is_given_up_after_its_time(agreeing: str) -> None:
    server = ("--cwd", str(ROOT), "--start-timeout", "0.5", "--shutdown-timeout", "0.5")
    done = workbench(
        "replay", "client", agreeing, *server, "--", sys.executable, "-m", "tests.servers.never_answers"
    )
    assert done.returncode == 3
    assert "missing" in done.stdout
    assert "No answer came within" in done.stdout


def test_a_server_that_goes_in_a_call_is_a_mismatch_that_says_so(agreeing: str) -> None:
    gone = ("--cwd", str(ROOT), "--", sys.executable, "-m", "tests.servers.exits_in_a_call")
    done = workbench("replay", "client", agreeing, *gone)
    assert done.returncode == 6
    assert "The server exited with status" in done.stdout


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_too(tmp_path: Path, agreeing: str, number: int) -> None:
    started = tmp_path / "started"
    code = f"import os, sys; open({str(started)!r}, 'w').write(str(os.getpid())); sys.stdin.read()"
    words = ["replay", "client", agreeing, "--", sys.executable, "-c", code]
    command = subprocess.Popen([*PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 30
    while not (started.exists() and started.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    command.send_signal(number)
    command.communicate(timeout=30)
    assert command.returncode == (143 if number == signal.SIGTERM else 130)
    assert not psutil.pid_exists(int(started.read_text()))
