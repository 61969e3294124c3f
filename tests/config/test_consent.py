"""What a project's file starts needs a yes, for exactly what it is."""

from __future__ import annotations

import json
import stat
from typing import Any

import pytest

from tests.config.here import Here
from workbench.config import Target, parse_line
from workbench.config.consent import (
    ConsentNeeded,
    agree,
    asked_lines,
    consent_path,
    needs_consent,
    question,
    unagreed,
)

ENTRY: dict[str, Any] = {"command": "npx", "args": ["-y", "x"], "env": {"A": "1", "API_KEY": "geheim1234"}}


def named(line: str = "@a") -> Target:
    [target] = parse_line(line)
    return target


@pytest.mark.parametrize("file", [".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json", "../.mcp.json"])
def test_a_projects_file_needs_a_yes(here: Here, file: str) -> None:
    here.write(file, {"mcpServers": {"a": ENTRY}})
    assert needs_consent(named())
    agree([named()])
    assert not needs_consent(named())


@pytest.mark.parametrize("file", ["~/.cursor/mcp.json", "~/.claude.json", "mine.json"])
def test_a_users_own_file_and_one_that_is_named_need_none(here: Here, file: str) -> None:
    here.write(file, {"mcpServers": {"a": ENTRY}})
    assert not needs_consent(named("--config mine.json @a" if file == "mine.json" else "@a"))


def test_naming_a_projects_file_is_no_yes(here: Here) -> None:
    here.write("clone/.vscode/mcp.json", {"servers": {"a": ENTRY}})
    assert needs_consent(named("--config clone/.vscode/mcp.json @a"))


def test_what_is_typed_needs_none() -> None:
    assert unagreed(parse_line("--stdio srv --http https://host/")) == []


CHANGES: list[dict[str, Any]] = [
    {**ENTRY, "command": "npm"},
    {**ENTRY, "args": ["-y", "y"]},
    {**ENTRY, "env": {"A": "2", "API_KEY": "geheim1234"}},
    {**ENTRY, "env": {"A": "1", "API_KEY": "another1234"}},
    {**ENTRY, "cwd": "/tmp"},
    {"url": "https://host/mcp"},
]


@pytest.mark.parametrize("changed", CHANGES)
def test_a_changed_entry_asks_again_and_the_old_one_is_still_agreed_to(here: Here, changed: Any) -> None:
    here.write(".mcp.json", {"mcpServers": {"a": ENTRY}})
    agree([named()])
    here.write(".mcp.json", {"mcpServers": {"a": changed, "b": ENTRY}})
    assert needs_consent(named())
    assert needs_consent(named("@b"))
    here.write(".mcp.json", {"other": 1, "mcpServers": {"z": {}, "a": ENTRY}})
    assert not needs_consent(named())


def test_what_the_variables_come_to_counts(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    here.write(".mcp.json", {"mcpServers": {"a": {"command": "${TOOL}", "env": {"T": "${MY_TOKEN}"}}}})
    monkeypatch.setenv("TOOL", "good")
    monkeypatch.setenv("MY_TOKEN", "token-of-today")
    agree([named()])
    monkeypatch.setenv("MY_TOKEN", "token-of-tomorrow")  # renewed: what is done with it is the same
    assert not needs_consent(named())
    monkeypatch.setenv("TOOL", "evil")
    assert needs_consent(named())


def test_another_file_of_variables_asks_again(here: Here) -> None:
    here.write(".vscode/mcp.json", {"servers": {"a": {"command": "node", "envFile": ".env"}}})
    here.write(".env", "LEVEL=1\n")
    agree([named()])
    here.write(".env", "NODE_OPTIONS=--require ./evil.js\n")
    assert needs_consent(named())


def test_the_same_entry_in_another_project_asks_again(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    here.write(".mcp.json", {"mcpServers": {"a": ENTRY}})
    agree([named()])
    here.write("other/.mcp.json", {"mcpServers": {"a": ENTRY}})
    monkeypatch.chdir(here.project / "other")
    assert needs_consent(named())


def test_an_input_that_is_typed_each_time_asks_for_no_new_yes(here: Here) -> None:
    here.copy("vscode.json", ".vscode/mcp.json")
    agree([named("--input stage=dev --input api-key=geheim1234 --input team=a @remote")])
    assert not needs_consent(named("--input stage=prod --input api-key=another12 --input team=b @remote"))


def test_options_of_the_line_are_the_users_own(here: Here) -> None:
    here.write(".mcp.json", {"mcpServers": {"a": ENTRY}})
    agree([named()])
    assert not needs_consent(named("@a --env B=2 --cwd / --name other"))


def test_yes_on_the_line_is_for_this_time(here: Here) -> None:
    here.write(".mcp.json", {"mcpServers": {"a": ENTRY}})
    assert not needs_consent(named("--yes @a"))
    assert needs_consent(named())


def test_what_is_asked_is_shown_whole_and_without_secrets(here: Here) -> None:
    long = [f"argument-{number}" for number in range(60)]
    here.write(".mcp.json", {"mcpServers": {"a": {**ENTRY, "args": [*long, "--token", "geheim1234"]}}})
    lines = asked_lines(named())
    assert question(named()) == ".mcp.json asks to start a:"
    assert lines[0] == f"npx {' '.join(long)} --token '***'"
    assert lines[1:] == [f"in {here.project}", "with the variables A=1, API_KEY=***"]
    entry = {
        "url": "https://h/mcp?token=geheim1234",
        "headers": {"X-A": "1", "Authorization": "Bearer geheim1234"},
    }
    here.write(".mcp.json", {"mcpServers": {"a": entry}})
    assert asked_lines(named()) == [
        "https://h/mcp?token=***",
        "with the headers X-A: 1, Authorization: Bearer ***",
    ]
    assert question(named()) == ".mcp.json asks to connect to a:"


def test_a_script_is_told_how_to_say_yes(here: Here) -> None:
    here.write(".mcp.json", {"mcpServers": {"two words": ENTRY}})
    told = str(ConsentNeeded([named("@'two words'")]))
    assert ".mcp.json asks to start two words: npx -y x" in told
    assert "--yes" in told
    assert "mcp-workbench servers allow 'two words'" in told


def test_agreements_are_for_their_owner_only_and_hold_no_secret(here: Here) -> None:
    here.write(".mcp.json", {"mcpServers": {"a": ENTRY}})
    agree([named()])
    path = consent_path()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "geheim" not in path.read_text()
    [agreed] = json.loads(path.read_text())["allowed"].values()
    assert agreed["name"] == "a"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"allowed": 1}', "\xff"])
def test_agreements_that_cannot_be_read_say_no(here: Here, text: str) -> None:
    here.write(".mcp.json", {"mcpServers": {"a": ENTRY}})
    consent_path().parent.mkdir(parents=True)
    consent_path().write_text(text, encoding="latin-1")
    assert needs_consent(named())
