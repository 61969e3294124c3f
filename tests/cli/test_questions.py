"""A server's questions on the command line: by rules, by a person at a terminal, and never by a script."""

from __future__ import annotations

import json
import os
import pty
import select
import sys
import time
from collections.abc import Sequence
from typing import Any

import pytest

from tests.cli.command import PATIENCE, PROGRAM, workbench
from tests.servers.targets import ROOT

TOLD = ["--", sys.executable, "-m", "tests.servers.does_as_told"]
FORM = {
    "message": "Who are you?",
    "requestedSchema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Your name", "minLength": 2},
            "age": {"type": "integer", "minimum": 0},
            "sure": {"type": "boolean", "default": True},
            "colour": {
                "type": "string",
                "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}],
            },
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}},
        },
        "required": ["name"],
    },
}
URL = {"mode": "url", "url": "https://example.com/login?x=1", "elicitationId": "e", "message": "Log in"}
SAMPLING = {"messages": [{"role": "user", "content": {"type": "text", "text": "Say hi"}}], "maxTokens": 5}


def asks(method: str, params: Any, *more: Any) -> str:
    """The argument that makes the server ask this, and wait for the answer."""
    steps = [{"send": {"id": "q", "method": method, "params": params}}, *more, {"answer": "q"}]
    return f"text={json.dumps(steps)}"


def answer_in(shown: str) -> Any:
    """What the server heard as the answer."""
    heard = json.loads(shown[shown.index("[{") : shown.rindex("]") + 1])
    (answer,) = [each for each in heard if each.get("id") == "q"]
    return answer.get("result", answer.get("error"))


def typed(words: Sequence[str], talk: Sequence[tuple[str, str]]) -> tuple[int, str]:
    """Run the command on a terminal; when each text has been shown, type what stands beside it."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(ROOT)
        os.execvpe(PROGRAM[0], [*PROGRAM, *words], {**os.environ, "TERM": "dumb", "COLUMNS": "200"})
    written, looked, waiting = b"", 0, list(talk)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        ready, _, _ = select.select([terminal], [], [], 1)
        try:
            piece = os.read(terminal, 65536) if ready else None
        except OSError:
            break
        if piece == b"":
            break
        written += piece or b""
        if waiting and (at := written.find(waiting[0][0].encode(), looked)) >= 0:
            looked = at + len(waiting[0][0])
            os.write(terminal, waiting.pop(0)[1].encode())
    os.close(terminal)
    _, how = os.waitpid(pid, 0)
    assert not waiting, written.decode()
    return os.waitstatus_to_exitcode(how), written.decode().replace("\r\n", "\n")


def test_a_person_fills_in_a_form_field_by_field_and_is_asked_again_where_it_does_not_fit() -> None:
    talk = [
        ("Who are you?", ""),
        ("Your name (string, required): ", "\n"),
        ("name is required", ""),
        ("Your name (string, required): ", "Z\n"),
        ("name needs at least 2 characters", "Zoë\n"),
        ("age (integer, optional): ", "-1\n"),
        ("age must be at least 0", "42\n"),
        ("sure (boolean, optional, default true): ", "\n"),
        ("colour (enum, optional): ", "2\n"),
        ("tags (array of strings, optional, several with commas): ", "a, 3\n"),
    ]
    status, shown = typed(["call", "echo", asks("elicitation/create", FORM), *TOLD], talk)
    assert status == 0
    assert answer_in(shown) == {
        "action": "accept",
        "content": {"name": "Zoë", "age": 42, "sure": True, "colour": "g", "tags": ["a", "c"]},
    }


@pytest.mark.parametrize(
    ("method", "params", "key", "answer"),
    [
        ("elicitation/create", FORM, "\x03", {"action": "decline"}),
        ("elicitation/create", FORM, "\x04", {"action": "cancel"}),
        ("sampling/createMessage", SAMPLING, "\x03", -1),
        ("sampling/createMessage", SAMPLING, "\x04", -1),
    ],
)
def test_ctrl_c_declines_and_the_end_of_input_cancels_and_the_call_goes_on(
    method: str, params: Any, key: str, answer: Any
) -> None:
    status, shown = typed(["call", "echo", asks(method, params), *TOLD], [(": ", ""), (": ", key)])
    assert status == 0
    heard = answer_in(shown)
    assert heard == answer if isinstance(answer, dict) else heard["code"] == answer


def test_what_a_model_would_say_is_typed() -> None:
    talk = [("Say hi", ""), ("what the model says", "hi there\n")]
    status, shown = typed(["call", "echo", asks("sampling/createMessage", SAMPLING), *TOLD], talk)
    assert status == 0
    assert answer_in(shown)["content"] == {"type": "text", "text": "hi there"}


@pytest.mark.parametrize(("reply", "action"), [("y", "accept"), ("", "decline"), ("what", "decline")])
def test_a_url_is_shown_whole_with_its_host_and_opened_by_nobody_else(reply: str, action: str) -> None:
    talk = [(f"{URL['url']}\r\n  host: example.com", ""), ("[y/N] ", f"{reply}\n")]
    status, shown = typed(["call", "echo", asks("elicitation/create", URL), *TOLD], talk)
    assert (status, answer_in(shown)) == (0, {"action": action})


def test_a_question_that_the_server_takes_back_ends() -> None:
    steps = [
        {"send": {"id": "q", "method": "elicitation/create", "params": FORM}},
        {"send": {"id": "p", "method": "ping"}},
        {"answer": "p"},
        {"send": {"method": "notifications/cancelled", "params": {"requestId": "q"}}},
        {"send": {"id": "p2", "method": "ping"}},
        {"answer": "p2"},
    ]
    status, shown = typed(["call", "echo", f"text={json.dumps(steps)}", *TOLD], [])
    assert status == 0
    assert '"action"' not in shown


def test_a_rule_answers_before_a_person_is_asked() -> None:
    words = ["call", "echo", asks("elicitation/create", FORM), "--answer", "elicitation=decline", *TOLD]
    status, shown = typed(words, [])
    assert (status, answer_in(shown)) == (0, {"action": "decline"})
    assert "answered elicitation/create by rule 'elicitation/create=decline'" in shown


def test_a_script_is_never_asked_and_told_what_was_declined() -> None:
    done = workbench("call", "echo", asks("elicitation/create", FORM), *TOLD, stdin="y\n", cwd=str(ROOT))
    assert (done.returncode, answer_in(done.stdout)) == (0, {"action": "decline"})
    assert done.stderr == "mcp-workbench: declined elicitation/create: no handler\n"


def test_rules_may_be_several_and_narrowed_and_are_told_in_json() -> None:
    done = workbench(
        *("call", "echo", asks("elicitation/create", FORM), "--json"),
        *("--answer", 'elicitation[tool=other]={"action":"cancel"}'),
        *("--answer", 'elicitation[message=who*]={"action":"accept","content":{"name":"Zoe"}}'),
        *TOLD,
        cwd=str(ROOT),
    )
    data = json.loads(done.stdout)
    assert answer_in(data["result"]["content"][0]["text"])["content"] == {"name": "Zoe"}
    assert [remark.startswith("answered elicitation/create by rule") for remark in data["remarks"]] == [True]


def test_a_rule_that_does_not_fit_is_told_and_the_request_declined() -> None:
    rule = 'elicitation={"action":"accept","content":{"name":"Z","other":1}}'
    words = ["call", "echo", asks("elicitation/create", FORM), "--answer", rule, *TOLD]
    done = workbench(*words, cwd=str(ROOT))
    assert answer_in(done.stdout) == {"action": "decline"}
    assert (
        "does not fit elicitation/create: name needs at least 2 characters; other is not asked for"
        in done.stderr
    )


def test_a_rule_nobody_could_use_is_a_usage_error() -> None:
    done = workbench("call", "echo", "--answer", "elicitation=perhaps", *TOLD, cwd=str(ROOT))
    assert done.returncode == 2
    assert done.stderr.startswith("mcp-workbench: --answer: 'perhaps' is no answer; use defaults")


@pytest.mark.parametrize(
    ("way", "status", "shown"),
    [("quick", 0, "quick done"), ("tool error", 5, "tool error done"), ("at once", 0, "at once")],
)
@pytest.mark.parametrize("option", [["--task"], ["--task-ttl", "30"]])
def test_a_call_as_a_task_shows_the_tasks_result(
    way: str, status: int, shown: str, option: list[str]
) -> None:
    target = ["--", sys.executable, "-m", "tests.servers.runs_tasks"]
    done = workbench("call", "echo", f"text={way}", *option, *target, cwd=str(ROOT))
    assert (done.returncode, done.stdout) == (status, f"{shown}\n"), done.stderr


def test_a_task_is_not_asked_for_where_there_is_no_handshake() -> None:
    target = ["--era", "modern", "--", sys.executable, "-m", "tests.servers.stateless"]
    done = workbench("call", "echo", "text=x", "--task", *target, cwd=str(ROOT))
    assert (done.returncode, done.stdout) == (2, "")
    assert "the server makes one by itself where it wants to" in done.stderr
    assert "connect with --era legacy" in done.stderr


def test_urls_that_are_required_first_are_told_as_a_sentence() -> None:
    data = {"elicitations": [URL]}
    errors = json.dumps({"prompts/get": {"code": -32042, "message": "Log in first", "data": data}})
    done = workbench("prompt", "x", *TOLD, '{"prompts":{}}', errors, cwd=str(ROOT))
    assert done.returncode == 4
    assert (
        "Open this if you trust example.com, then send the request again: https://example.com/login"
        in done.stderr
    )
