"""What a script may rely on: streams, exit statuses, odd surroundings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import DEMO, PROGRAM, workbench

SURROUNDINGS = [
    {"TERM": "dumb"},
    {"NO_COLOR": "1"},
    {"LANG": "C", "LC_ALL": "C"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "ascii"},
    {"COLUMNS": "10"},
    {"FORCE_COLOR": "", "TERM": ""},
]


@pytest.mark.parametrize("env", SURROUNDINGS, ids=lambda env: ",".join(env))
def test_odd_surroundings_are_normal(env: dict[str, str]) -> None:
    done = workbench("read", "demo://alphabets", *DEMO, env=env)
    assert done.returncode == 0, done.stderr
    assert "Latin" in done.stdout
    document = workbench("read", "demo://alphabets", "--json", *DEMO, env=env)
    assert "漢字" in json.loads(document.stdout)["result"]["contents"][0]["text"]
    report = workbench("probe", *DEMO, env=env)
    assert (report.returncode, report.stderr) == (0, "")


@pytest.mark.parametrize(
    "words", [["probe"], ["read", "demo://readme"], ["request", "tools/list"], ["--help"]]
)
def test_a_pipe_that_is_closed_early_is_normal(words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    target = [] if words == ["--help"] else DEMO
    done = subprocess.run(
        [*PROGRAM, *words, *target],
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=60,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_stdout_may_be_closed_altogether() -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" >&-', "sh", *PROGRAM, "probe", *DEMO], capture_output=True, timeout=60
    )
    assert b"Traceback" not in done.stderr


def test_only_json_is_on_stdout_while_the_server_writes_to_stderr() -> None:
    server = "import sys; print('noise', file=sys.stderr); from workbench.demo.server import main; main()"
    done = workbench("call", "write_log", "--json", "--", sys.executable, "-c", server)
    assert json.loads(done.stdout)["how"] == "result"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["probe"], "no TARGET"),
        (["probe", "--stdio", "a", "--stdio", "b"], "one TARGET"),
        (["probe", "--no-such-option", *DEMO], "No such option"),
        (["probe", "extra", *DEMO], "unexpected extra argument"),
        (["probe", "--"], "command"),
        (["probe", "@nowhere"], "nowhere"),
        (["prob"], "Did you mean probe?"),
        (["call", *DEMO], "NAME"),
        (["probe", "--timeout", "soon", *DEMO], "number of seconds"),
        (["sessions", "nonsense"], "nonsense"),
        ([*DEMO], "needs a terminal"),
        (["demo"], "needs a terminal"),
        ([], "needs a terminal"),
        (["--no-record", "-o", "x.db", *DEMO], "contradict"),
        (["--log"], "--log needs"),
    ],
)
def test_a_wrong_command_line_is_a_usage_error_in_one_sentence(words: list[str], says: str) -> None:
    done = workbench(*words)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1


def test_an_internal_error_is_a_sentence_and_its_traceback_is_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "log.txt"
    script = (
        "import sys, workbench.cli.program as p\n"
        "def broken(_): raise RuntimeError('a fault')\n"
        "p._load = broken\n"
        "sys.exit(p.run(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "probe", "--log", str(log)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 70
    assert "internal error" in done.stderr
    assert str(log) in done.stderr
    assert "Traceback" not in done.stderr
    assert "RuntimeError: a fault" in log.read_text()


@pytest.mark.parametrize("group", ["sessions", "replay"])
def test_a_group_without_a_command_shows_its_help_as_a_usage_error(group: str) -> None:
    done = workbench(group)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Usage: mcp-workbench {group} ")


def test_help_and_version_are_data() -> None:
    assert workbench("--version").stdout.startswith("mcp-workbench ")
    helped = workbench("--help")
    assert helped.returncode == 0
    for word in ("probe", "record", "replay", "sessions", "TARGET", "Exit status"):
        assert word in helped.stdout


def test_an_interrupt_ends_a_call_with_130_and_tells_the_server(tmp_path: Path) -> None:
    import signal

    log = tmp_path / "wire.log"
    tee = f"tee {log} | {sys.executable} -m workbench.demo"
    process = subprocess.Popen(
        [*PROGRAM, "call", "long_operation", "duration=60", "--", "sh", "-c", tee],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    from tests.cli.waiting import until

    until(lambda: log.exists() and b"tools/call" in log.read_bytes())
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert b"Traceback" not in errors
    until(lambda: b"notifications/cancelled" in log.read_bytes())
