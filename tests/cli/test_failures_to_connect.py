"""Every way a connection can fail has a state of its own, a sentence, a next step and status 3."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.command import DEMO, workbench

#: Answers initialize as its first argument says, then reads on until its stdin ends.
SERVER = """
import json, sys, time
how = sys.argv[1]
print("server: starting", file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        info = {"name": "s", "version": "1"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info}
        if how == "silent":
            continue
        if how == "mismatch":
            result["protocolVersion"] = "1999-01-01"
        if how == "exit":
            print("KeyError: 'TOKEN'", file=sys.stderr, flush=True)
            sys.exit(3)
        if how == "refuse":
            answer["error"] = {"code": -32602, "message": "Unsupported protocol version"}
        else:
            answer["result"] = result
        print(json.dumps(answer), flush=True)
    elif how == "dies" and message.get("method") == "tools/call":
        print("KeyError: 'TOKEN'", file=sys.stderr, flush=True)
        sys.exit(3)
    elif "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}), flush=True)
if how == "lingers":
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(60)
"""


def server(how: str) -> list[str]:
    return ["--", sys.executable, "-c", SERVER, how]


def misbehaving(module: str, *words: str) -> list[str]:
    return ["--", sys.executable, "-m", f"tests.servers.{module}", *words]


@pytest.mark.parametrize(
    ("options", "target", "state", "says"),
    [
        ([], ["--", "no-such-program-anywhere"], "not_started", "no-such-program-anywhere"),
        (["--cwd", "/no/such/folder"], DEMO, "not_started", "/no/such/folder"),
        (["--start-timeout", "0.5"], server("silent"), "start_timeout", "0.5"),
        ([], server("mismatch"), "version_mismatch", "1999-01-01"),
        ([], server("refuse"), "refused", "Unsupported protocol version"),
        ([], misbehaving("wants_another_revision"), "refused", "supports 2024-10-07 and 2024-11-05"),
        (
            [],
            misbehaving("wants_another_revision", "1999-01-01"),
            "version_mismatch",
            "we offered 2025-11-25",
        ),
        (["--env", "PATH=/nowhere"], ["--", "server"], "not_started", "no such command in PATH (/nowhere)"),
        (["--env", "PATH=/nowhere"], ["--", "npx.cmd", "-y"], "not_started", "'npx.cmd' cannot be started"),
        ([], server("exit"), "exited", "code 3"),
        (["--require", "tools"], server("fine"), "capability_missing", "tools"),
    ],
    ids=[
        "command not found",
        "wrong folder",
        "start timeout",
        "version mismatch",
        "refused",
        "refused with a list",
        "mismatch in words",
        "not in PATH",
        "name for Windows",
        "exit",
        "required",
    ],
)
def test_a_failure_to_connect_is_a_state_with_a_sentence_and_a_next_step(
    options: list[str], target: list[str], state: str, says: str
) -> None:
    done = workbench("probe", "--json", *options, *target)
    assert done.returncode == 3, done.stderr
    told = json.loads(done.stdout)
    assert (told["state"], told["ok"]) == (state, False)
    assert says in told["why"]
    assert told["next"]
    assert says in done.stderr
    assert told["next"].rstrip(".") in done.stderr
    report = workbench("probe", *options, *target)
    assert says in report.stdout
    assert report.returncode == 3


def test_a_server_that_exits_says_its_last_words() -> None:
    done = workbench("call", "anything", *server("exit"))
    assert done.returncode == 3
    assert "KeyError: 'TOKEN'" in done.stderr
    assert done.stdout == ""
    told = json.loads(workbench("call", "anything", "--json", *server("exit")).stdout)
    assert (told["method"], told["how"], told["state"]) == ("tools/call", "failed", "exited")


def test_an_exit_in_the_middle_of_a_call_ends_the_call_at_once() -> None:
    done = workbench("call", "anything", *server("dies"))
    assert done.returncode == 3
    assert "code 3" in done.stderr
    assert "KeyError: 'TOKEN'" in done.stderr


def test_a_server_that_will_not_end_is_ended_and_that_is_told() -> None:
    done = workbench("probe", "--json", "--shutdown-timeout", "0.3", *server("lingers"))
    told = json.loads(done.stdout)
    assert told["state"] == "shutdown_timeout"
    steps = " ".join(f"{step['step']} {step['detail']}" for step in told["lifecycle"])
    assert "TERM" in steps
    assert "KILL" in steps


def test_a_script_without_an_interpreter_line_is_named(tmp_path: Path) -> None:
    script = tmp_path / "server"
    script.write_text("echo hello\n")
    done = workbench("probe", "--", str(script))
    assert done.returncode == 3
    assert str(script) in done.stderr


def test_a_revision_that_the_user_offers_is_spoken_whatever_it_is() -> None:
    words = ["probe", "--json", "--protocol-version", "1999-01-01"]
    told = json.loads(workbench(*words, *misbehaving("wants_another_revision", "1999-01-01")).stdout)
    assert (told["ok"], told["offered"], told["revision"]) == (True, "1999-01-01", "1999-01-01")


def test_capabilities_that_are_not_kept_are_told_and_hide_no_other_list() -> None:
    done = workbench("probe", *misbehaving("tells_wrong_capabilities"))
    assert done.returncode == 0, done.stderr
    assert "echo(text?: string)" in done.stdout
    for method in ("resources/list", "resources/templates/list", "prompts/list"):
        assert (
            f"{method}: The server offers {method.split('/')[0]}, but answered: Method not found"
            in done.stdout
        )


def test_a_tool_of_a_server_that_declares_none_can_be_called_and_its_schema_counts() -> None:
    done = workbench("call", "echo", "text=01234", *misbehaving("tells_wrong_capabilities", "silent"))
    assert (done.returncode, done.stdout) == (0, "01234\n"), done.stderr
