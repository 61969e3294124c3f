"""Server files of other tools, and the user's own settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.config import Target, load_settings, parse_line, settings_path
from workbench.errors import UsageError


@pytest.fixture
def servers(tmp_path: Path) -> Any:
    def write(entries: dict[str, Any], key: str = "mcpServers") -> Path:
        path = tmp_path / "servers.json"
        path.write_text(json.dumps({key: entries}))
        return path

    return write


def named(path: Path, name: str, options: str = "") -> Target:
    [target] = parse_line(f"--config {path} {options} @{name}")
    return target


def test_a_server_of_a_file_is_found_by_name(servers: Any) -> None:
    entry = {
        "command": "npx",
        "args": ["-y", "x"],
        "env": {"A": "1", "C": 1},
        "cwd": "/w",
        "unknown": {"x": 1},
    }
    target = named(servers({"git": entry}), "git")
    assert (target.command, target.args, target.cwd, target.name) == ("npx", ("-y", "x"), "/w", "git")
    assert target.env == {"A": "1", "C": "1"}
    assert target.origin.endswith("servers.json")


def test_the_line_may_add_to_what_the_file_says(servers: Any) -> None:
    path = servers({"git": {"command": "x", "env": {"A": "1", "B": "1"}}})
    target = named(path, "git", "--env B=2 --name other --timeout 3")
    assert (target.env, target.name, target.timeouts.request) == ({"A": "1", "B": "2"}, "other", 3)


def test_variables_are_put_in(servers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLDER", "/f")
    monkeypatch.delenv("UNSET", raising=False)
    entry = {"command": "${FOLDER}/run", "env": {"A": "${env:FOLDER}/x", "B": "${UNSET:-d}", "C": "$FOLDER"}}
    target = named(servers({"a": entry}), "a")
    assert target.command == "/f/run"
    assert target.env == {"A": "/f/x", "B": "d", "C": "$FOLDER"}


ODD = [
    ({"command": "x", "env": {"A": ["list"]}}, "env.A: is neither text, a number, true nor false"),
    ({"command": "x", "env": {"A": "${NOT_SET_ANYWHERE}"}}, "the variable NOT_SET_ANYWHERE is not set"),
    ({"args": []}, 'has no "command"'),
    ({"command": "x", "args": "not a list"}, "args"),
    (["no object"], "is not an object"),
]


@pytest.mark.parametrize(("entry", "sentence"), ODD)
def test_an_odd_entry_is_told_by_file_and_name_and_hides_no_other(
    servers: Any, entry: Any, sentence: str
) -> None:
    path = servers({"odd": entry, "good": {"command": "x"}})
    with pytest.raises(UsageError) as failure:
        named(path, "odd")
    assert sentence in str(failure.value)
    assert "mcpServers.odd" in str(failure.value)
    assert named(path, "good").command == "x"


def test_a_name_that_is_not_there_is_told_with_those_that_are(servers: Any) -> None:
    with pytest.raises(UsageError, match="there: one, two"):
        named(servers({"one": {"command": "x"}, "two": {"command": "x"}}), "three")


def test_a_file_that_is_no_json_is_told_with_the_place(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text('{"mcpServers": {\n  "a": \n}}')
    with pytest.raises(UsageError, match=r"broken\.json:3:1: a value is missing"):
        named(path, "a")


def test_a_project_file_is_found_without_being_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path(".mcp.json").write_text('{"mcpServers":{"here":{"command":"x"}}}')
    [target] = parse_line("@here")
    assert target.command == "x"


def test_settings_come_from_a_file_and_variables_go_before_it(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('record = false\ntheme = "dark"\n[timeouts]\nstart = 5\nrequest = 6\n')
    environ = {"MCP_WORKBENCH_TIMEOUTS_START": "9", "MCP_WORKBENCH_RECORD": "1", "MCP_WORKBENCH_STORE": "/s"}
    settings = load_settings(path, environ)
    assert (settings.record, settings.theme) == (True, "dark")
    assert (settings.timeouts.start, settings.timeouts.request) == (9, 6)


def test_settings_that_are_not_there_are_the_defaults(tmp_path: Path) -> None:
    assert load_settings(tmp_path / "none.toml", {}).timeouts.start == 60


BROKEN = [
    ("recrod = true", "recrod: extra inputs are not permitted"),
    ("[timeouts]\nstart = 0", "timeouts.start"),
    ("record = ", "are not TOML"),
]


@pytest.mark.parametrize(("text", "sentence"), BROKEN)
def test_a_wrong_setting_is_told_with_the_file(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as failure:
        load_settings(path, {})
    assert sentence in str(failure.value)
    assert str(path) in str(failure.value)


def test_the_settings_file_can_be_named(tmp_path: Path) -> None:
    assert settings_path({"MCP_WORKBENCH_CONFIG": f"{tmp_path}/mine.toml"}) == tmp_path / "mine.toml"
    assert settings_path({"XDG_CONFIG_HOME": "/c", "HOME": "/h"}).name == "config.toml"
