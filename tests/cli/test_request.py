"""request, call, read, prompt and complete on the demo server."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import DEMO, workbench
from workbench.core.frame import Kind
from workbench.store.reader import Reader


def told(*words: str) -> Any:
    done = workbench(*words, "--json", *DEMO)
    assert done.stdout.count("\n") == 1, done.stderr
    return json.loads(done.stdout)


def test_a_tools_text_is_printed_as_it_is() -> None:
    done = workbench("call", "calculator_arithmetic", "expression=2 * (3 + 4)", *DEMO)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 * (3 + 4) = 14\n", "")


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["call", "weather_current", "location=Oslo", "units=kelvin"], "Oslo: "),
        (["call", "weather_forecast", "location=Oslo", "days=2"], '"units": "metric"'),
        (["call", "picture", "side=16"], "[image image/png, "),
        (["call", "every_content"], "[link demo://readme readme]"),
        (["call", "every_content"], "[audio audio/wav, 844 B]"),
        (["call", "long_operation", "duration=0", "steps=3"], "Done: 3 steps"),
        (["call", "add_a_tool", "name=other"], "Added the tool other"),
        (["request", "call", "picture"], "[image image/png"),
        (["read", "demo://readme"], "# Demo server\n\n"),
        (["read", "demo://logo"], "[binary image/png, "),
        (["read", "weather://Oslo/kelvin"], '"units": "kelvin"'),
        (["request", "read", "demo://counter"], "0\n"),
        (["prompt", "greeting"], "user: Greet me"),
        (["prompt", "packing_list", "city=Oslo", "days=1"], "user: What do I pack for 1 days?"),
        (["complete", "packing_list", "city=Lo"], '"London"'),
        (["complete", "weather://{city}/{units}", "units=k"], '"kelvin"'),
        (["complete", "compare_weather", "first=Lima", "second=L"], '"total": 1'),
        (["request", "ping"], "{}"),
        (["request", "tools/list"], '"name": "calculator_arithmetic"'),
        (["request", "resources/list", '{"cursor":"page-1"}'], '"demo://counter"'),
    ],
)
def test_what_a_request_gives_is_shown(words: list[str], shown: str) -> None:
    done = workbench(*words, *DEMO)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout


def test_params_can_come_from_stdin() -> None:
    done = workbench("request", "resources/read", "-", *DEMO, stdin='{"uri":"demo://counter"}')
    assert (done.returncode, done.stdout) == (0, "0\n")


@pytest.mark.parametrize(
    ("word", "sent"),
    [
        ("count=9007199254740993", "9007199254740993"),
        ("ratio=1.0", "1.0"),
        ("ratio=-0", "0"),
        ("text=01234", '"01234"'),
        ("text=null", '"null"'),
        ("text=1e5", '"1e5"'),
        ("note:=null", "null"),
        ("sure=false", "false"),
        ("tags=a", '[\n    "a"\n  ]'),
    ],
)
def test_arguments_arrive_at_the_tool_as_they_were_meant(word: str, sent: str) -> None:
    words = [word] if word.startswith("text") else ["text=x", word]
    done = workbench("call", "echo", *words, *DEMO)
    assert f'"{word.partition("=")[0].rstrip(":")}": {sent}' in done.stdout, done.stderr


def test_numbers_of_a_result_keep_their_spelling_in_json() -> None:
    result = workbench("request", "tools/list", "--json", *DEMO).stdout
    assert '"maximum":9007199254740993' in result
    assert '"default":0.5' in result


def test_json_tells_how_the_request_ended() -> None:
    fine = told("call", "calculator_arithmetic", "expression=1+1")
    assert (fine["method"], fine["how"]) == ("tools/call", "result")
    assert fine["result"]["content"][0]["text"] == "1+1 = 2"
    refused = told("call", "break_down", "code=-32050")
    assert (refused["how"], refused["error"]["code"]) == ("error", -32050)


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["call", "fail", "message=on purpose"], 5, "the tool reports an error"),
        (["call", "break_down"], 4, "The demo broke down"),
        (["call", "no_such_tool"], 4, "There is no tool no_such_tool"),
        (["read", "demo://none"], 4, "There is no resource"),
        (["prompt", "none"], 4, "There is no prompt"),
        (["request", "no/such/method"], 4, "-32601"),
        (["call", "long_operation", "duration=60", "steps=1", "--timeout", "0.5"], 3, "0.5"),
        (["call", "echo", "count=many"], 2, "count takes integer"),
        (["call", "echo", "nothing"], 2, "NAME=TEXT"),
        (["request", "ping", "[1]"], 2, "JSON object"),
        (["request", "ping", "{}", "{}"], 2, "one word"),
    ],
)
def test_each_kind_of_failure_has_its_exit_status_and_a_sentence(
    words: list[str], status: int, says: str
) -> None:
    done = workbench(*words, *DEMO)
    assert done.returncode == status, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_tools_error_text_is_still_data() -> None:
    done = workbench("call", "fail", "message=on purpose", *DEMO)
    assert done.stdout == "on purpose\n"


@pytest.mark.parametrize(
    ("tool", "method"), [("ask_for_name", "elicitation/create"), ("sample", "sampling/createMessage")]
)
def test_what_only_a_person_can_answer_is_declined_at_once_and_said(tool: str, method: str) -> None:
    words = ["prompt=hello"] if tool == "sample" else []
    done = workbench("call", tool, *words, *DEMO)
    assert "declined" in done.stderr
    assert method in done.stderr
    assert any(method in remark for remark in told("call", tool, *words)["remarks"])


def test_roots_of_the_command_line_are_told_to_the_server() -> None:
    done = workbench("call", "read_roots", "--root", "/tmp", *DEMO)
    assert done.stdout == "file:///tmp tmp\n"


ODD_NUMBERS = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = json.dumps({"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}})
    else:
        result = '{"big":9007199254740993,"one":1.0,"huge":1e400,"not":NaN,"end":-Infinity,"broken":"\\\\ud83d"}'
    if "id" in message:
        print('{"jsonrpc":"2.0","id":%s,"result":%s}' % (json.dumps(message["id"]), result), flush=True)
"""


def test_odd_numbers_and_text_of_a_result_are_told_as_they_are_and_as_valid_json() -> None:
    done = workbench("request", "any/thing", "--json", "--", sys.executable, "-c", ODD_NUMBERS)
    for said in ('"big":9007199254740993', '"one":1.0', '"huge":1e400', '"not":"NaN"', '"broken":"\\ud83d"'):
        assert said in done.stdout, done.stdout
    assert json.loads(done.stdout)["result"]["end"] == "-Infinity"
    shown = workbench("request", "any/thing", "--", sys.executable, "-c", ODD_NUMBERS)
    assert '"huge": 1e400' in shown.stdout


def test_numbers_go_out_with_the_digits_they_were_typed_with(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    typed = ["count=9007199254740993", "ratio=1.0", "tags:=[1e400,-0,0.10,1E+2]"]
    workbench("call", "echo", *typed, "-o", str(path), *DEMO)
    sent = b'"count":9007199254740993,"ratio":1.0,"tags":[1e400,-0,0.10,1E+2]'
    for form in ("a.db", "a.jsonl"):
        if form.endswith("l"):
            assert workbench("sessions", "copy", str(path), str(tmp_path / form)).returncode == 0
            assert sent in (tmp_path / form).read_bytes()
        with Reader.open(str(tmp_path / form)) as reader:
            (call,) = (
                frame for frame in reader.frames() if frame.name == "echo" and frame.kind is Kind.REQUEST
            )
        assert sent in call.body
    shown = workbench("sessions", "frames", str(path), "--find", "9007199254740993", "--body").stdout
    for digits in ("9007199254740993", "1.0", "1e400", "-0", "0.10", "1E+2"):
        assert digits in shown
    replayed = workbench("call", "echo", *typed, "--replay", str(path))
    assert "differs" not in replayed.stderr
    missed = workbench("call", "echo", "count=9007199254740992", *typed[1:], "--replay", str(path))
    assert "differs at /arguments/count" in missed.stderr
