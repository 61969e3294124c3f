"""probe, call, read and prompt on real servers from npm and PyPI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cli.command import workbench


def probed(command: list[str], *options: str) -> Any:
    done = workbench("probe", "--json", *options, "--", *command)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["ok"], told["why"]
    assert told["listErrors"] == {}
    return told


def names(items: list[dict[str, Any]]) -> set[str]:
    return {item["name"] for item in items}


def printed(*words: str, command: list[str], status: int = 0) -> str:
    done = workbench(*words, "--", *command)
    assert done.returncode == status, done.stderr
    return done.stdout


def test_server_everything_is_listed_whole(everything_command: list[str]) -> None:
    told = probed(everything_command)
    assert {"echo", "get-sum", "trigger-long-running-operation", "trigger-sampling-request"} <= names(
        told["tools"]
    )
    assert len(told["resources"]) >= 7
    assert len(told["resourceTemplates"]) == 2
    assert {"simple-prompt", "args-prompt"} <= names(told["prompts"])
    report = printed("probe", command=everything_command)
    assert "get-sum(a: number, b: number)" in report


def test_server_everything_is_used(everything_command: list[str]) -> None:
    assert printed("call", "echo", "message=01234", command=everything_command) == "Echo: 01234\n"
    assert "is 5" in printed("call", "get-sum", "a=2", "b=3", command=everything_command)
    assert "image/png" in printed("call", "get-tiny-image", command=everything_command)
    structured = printed("call", "get-structured-content", "location=New York", command=everything_command)
    assert "temperature" in structured
    uri = probed(everything_command)["resources"][0]["uri"]
    assert printed("read", uri, command=everything_command).strip()
    assert "Oslo" in printed("prompt", "args-prompt", "city=Oslo", command=everything_command)


def test_server_everything_reports_progress_and_is_declined_what_nobody_answers(
    everything_command: list[str],
) -> None:
    words = ["call", "trigger-long-running-operation", "duration=1", "steps=2"]
    assert "completed" in printed(*words, command=everything_command)
    done = workbench(
        "call", "trigger-sampling-request", "prompt=hi", "maxTokens=10", "--", *everything_command
    )
    assert "sampling/createMessage" in done.stderr
    assert "declined" in done.stderr


def test_server_filesystem_is_listed_and_reads_a_file(filesystem_command: list[str]) -> None:
    folder = filesystem_command[-1]
    assert {"read_text_file", "list_directory"} <= names(
        probed(filesystem_command, "--root", folder)["tools"]
    )
    words = ["call", "read_text_file", f"path={folder}/hello.txt", "--root", folder]
    assert printed(*words, command=filesystem_command) == "hello from a file\n\n"


def test_server_memory_is_listed_and_keeps_what_it_is_told(memory_command: list[str], tmp_path: Path) -> None:
    store = ["--env", f"MEMORY_FILE_PATH={tmp_path / 'memory.json'}"]
    assert "create_entities" in names(probed(memory_command, *store)["tools"])
    entity = '[{"name":"Ada","entityType":"person","observations":["writes programs"]}]'
    printed("call", "create_entities", f"entities={entity}", *store, command=memory_command)
    graph = printed("call", "read_graph", *store, command=memory_command)
    assert "writes programs" in graph


def test_server_time_is_listed_and_asked(time_command: list[str]) -> None:
    assert names(probed(time_command)["tools"]) == {"get_current_time", "convert_time"}
    told = printed("call", "get_current_time", "timezone=Europe/Oslo", command=time_command)
    assert json.loads(told)["timezone"] == "Europe/Oslo"
    printed("call", "get_current_time", "timezone=Nowhere/None", command=time_command, status=5)


def test_server_git_is_listed_and_asked(git_command: list[str]) -> None:
    assert {"git_status", "git_log"} <= names(probed(git_command)["tools"])
    log = printed("call", "git_log", f"repo_path={git_command[-1]}", "max_count=1", command=git_command)
    assert "First commit" in log
