"""The server files of other tools, in the shapes those tools write."""

from __future__ import annotations

import sys

import pytest

from tests.config.here import Here
from workbench.config import Target, parse_line, shown_headers
from workbench.config.files import server_files
from workbench.config.inputs import InputsNeeded
from workbench.config.looking import Look, look
from workbench.config.servers import found_servers
from workbench.errors import UsageError

PROGRAMS = "Library/Application Support" if sys.platform == "darwin" else ".config"


def named(line: str) -> Target:
    [target] = parse_line(line)
    return target


def test_claude_desktops_file_is_found_and_read(here: Here) -> None:
    here.copy("claude_desktop.json", f"~/{PROGRAMS}/Claude/claude_desktop_config.json")
    target = named("@filesystem")
    assert (target.transport, target.command) == ("stdio", "npx")
    assert target.args[1:] == (
        "@modelcontextprotocol/server-filesystem",
        "/home/me/Documents",
        "/home/me/Desktop",
    )
    assert named("@github").env == {"GITHUB_PERSONAL_ACCESS_TOKEN": "example-value-of-a-token"}
    assert not target.claim  # the user's own file


def test_a_projects_file_of_claude_code_has_variables_with_defaults(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.copy("claude_code_project.json", ".mcp.json")
    monkeypatch.setenv("API_KEY", "k-from-outside")
    api = named("@api")
    assert (api.transport, api.url) == ("http", "https://api.example.com/mcp")
    assert api.headers == {"Authorization": "Bearer k-from-outside"}
    assert shown_headers(api) == {"Authorization": "Bearer ***"}
    assert (named("@events").transport, named("@events").url) == ("sse", "https://events.example.com/sse")
    db = named("@db")
    assert (db.command, db.args[1]) == (f"{here.home}/bin/db-mcp", "sqlite:///tmp/x.db")
    assert db.env == {"CACHE": "/tmp"}


def test_claude_codes_own_file_holds_servers_for_everywhere_and_for_one_folder(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.copy("claude_code_user.json", "~/.claude.json")
    assert named("@everywhere").url == "https://mcp.example.com/mcp"
    assert named("@here").command == "here-mcp"
    assert named("@both").command == "of-the-project"
    with pytest.raises(UsageError, match="no server is named @there"):
        named("@there")
    below = here.project / "src"
    below.mkdir()
    monkeypatch.chdir(below)
    assert named("@here").command == "here-mcp"
    monkeypatch.chdir(here.home)
    assert named("@both").command == "of-the-user"


def test_claude_codes_own_file_lies_where_its_variable_says(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.copy("claude_code_user.json", "~/elsewhere/.claude.json")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(here.home / "elsewhere"))
    assert named("@here").command == "here-mcp"


@pytest.mark.parametrize("place", [".vscode/mcp.json", f"~/{PROGRAMS}/Code/User/mcp.json"])
def test_vs_codes_file_asks_for_its_inputs(here: Here, place: str) -> None:
    here.copy("vscode.json", place)
    with pytest.raises(InputsNeeded) as needed:
        named("@remote")
    assert [one.id for one in needed.value.inputs] == ["stage", "api-key", "team"]
    stage, key, team = needed.value.inputs
    assert stage.choices == (("dev", "dev"), ("prod", "Production"))
    assert (key.question, key.password, team.default) == ("API key", True, "blue")
    assert "give --input stage=VALUE --input api-key=VALUE" in str(needed.value)
    target = named("--input stage=Production --input api-key=geheim123 --input team=red @remote")
    assert target.url == "https://prod.example.com/mcp"
    assert target.headers == {"X-Api-Key": "geheim123", "X-Team": "red"}
    assert "geheim123" in target.secrets.values()


def test_an_input_of_a_choice_takes_nothing_else(here: Here) -> None:
    here.copy("vscode.json", ".vscode/mcp.json")
    with pytest.raises(UsageError, match="'nowhere' is none of dev, Production"):
        named("--input stage=nowhere --input api-key=x --input team=x @remote")


def test_an_input_that_only_vs_code_can_give_is_told_so(here: Here) -> None:
    here.copy("vscode.json", ".vscode/mcp.json")
    with pytest.raises(UsageError, match="is what a command of VS Code gives, which only VS Code runs"):
        named("@'signed in'")
    assert named("--input login=me @'signed in'").args == ("me",)


def test_vs_codes_variables_folders_and_file_of_variables(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.copy("vscode.json", ".vscode/mcp.json")
    env = (
        "# comment\nexport A=1\nLEVEL=from-the-file\nB=\"two words\" # said\nC='#no'\nD=a#b # c\n\nnonsense\n"
    )
    here.write(".env", env)
    monkeypatch.setenv("LEVEL", "debug")
    below = here.project / "src"
    below.mkdir()
    monkeypatch.chdir(below)
    target = named("@local")
    assert target.args == (f"{here.project}/server.py", f"--home={here.home}")
    assert target.env == {"A": "1", "B": "two words", "C": "#no", "D": "a#b", "LEVEL": "debug"}
    assert target.cwd == str(here.project)


def test_a_file_of_variables_that_is_not_there_is_told_with_its_place(here: Here) -> None:
    here.write(".vscode/mcp.json", {"servers": {"a": {"command": "x", "envFile": "nope.env"}}})
    with pytest.raises(UsageError, match=r"mcp\.json:1:\d+: servers\.a\.envFile: .*nope\.env cannot be read"):
        named("@a")


@pytest.mark.parametrize("place", [".cursor/mcp.json", "~/.cursor/mcp.json"])
def test_cursors_file_may_have_a_url_only(here: Here, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    here.copy("cursor.json", place)
    monkeypatch.setenv("CURSOR_TEST_KEY", "c-key")
    assert (named("@linear").transport, named("@linear").url) == ("http", "https://mcp.linear.app/sse")
    assert named("@local").env == {"API_KEY": "c-key"}
    assert named("@init").headers == {"x-a": "3", "X-B": "2"}
    assert bool(named("@linear").claim) is not place.startswith("~")


def test_windsurfs_file_says_server_url(here: Here) -> None:
    here.copy("windsurf.json", "~/.codeium/windsurf/mcp_config.json")
    assert named("@figma").url == "https://mcp.figma.com/mcp"
    assert named("@off").command == "x"
    assert [(one.entry.name, one.state) for one in looks()] == [("figma", "ok"), ("off", "disabled")]


TYPES = [
    ("stdio", "stdio"),
    ("http", "http"),
    ("streamable-http", "http"),
    ("streamableHttp", "http"),
    ("sse", "sse"),
    (None, "http"),
]


@pytest.mark.parametrize(("word", "transport"), TYPES)
def test_every_word_for_a_transport_is_known(here: Here, word: str | None, transport: str) -> None:
    entry = {"url": "https://x/mcp", "type": word} if transport != "stdio" else {"command": "x", "type": word}
    here.write(".mcp.json", {"mcpServers": {"a": entry}})
    assert named("@a").transport == transport


def test_vs_codes_settings_of_old_are_read_where_they_are_named(here: Here) -> None:
    here.write("settings.json", {"editor.tabSize": 2, "mcp": {"servers": {"a": {"command": "x"}}}})
    assert named("--config settings.json @a").command == "x"


def looks() -> list[Look]:
    return [look(entry) for place in found_servers() for entry in place.entries]


ODD = [
    ({"command": "x", "env": {"A": ["list"]}}, "env.A: is neither text, a number, true nor false"),
    ({"command": "x", "env": {"A": {"b": 1}}}, "env.A: is neither text, a number, true nor false"),
    ({"command": "x", "env": "A=1"}, 'env: is not an object; write {"NAME": "VALUE"}'),
    ({"command": "x", "args": [None]}, "args[0]: is neither text"),
    ({"command": "x", "args": "a b"}, "args: is no list"),
    ({"command": ["x"]}, "command: is neither text"),
    ({"command": ""}, "command: is empty"),
    (
        {"command": "x", "cwd": 1.5, "args": ["${NOT_SET_ANYWHERE}"]},
        "the variable NOT_SET_ANYWHERE is not set",
    ),
    ({"command": "x", "url": "https://x"}, 'has a "command" and a "url"'),
    ({"type": "ws", "url": "ws://x"}, 'type: "ws" is no transport; use stdio, http or sse'),
    ({"type": 7, "url": "ws://x"}, "type: 7 is no transport"),
    ({"type": "http"}, 'has no "url"'),
    ({"type": "stdio"}, 'has no "command"'),
    ({}, 'has no "command" and no "url"'),
    ({"url": "host/mcp"}, "url: 'host/mcp' has no scheme"),
    ({"url": "https://x", "headers": {"A": "ä"}}, "headers.A: the value of A holds 'ä'"),
    ({"url": "https://x", "headers": {"A b": "c"}}, "headers.A b: 'A b' is no name of a header"),
    ({"url": "https://x", "headers": {"A": None}}, "headers.A: is neither text"),
    ({"command": "x", "workbench": {"eras": 1}}, "workbench.eras: is not known"),
    ("text", "is not an object"),
    (None, "is not an object"),
]


@pytest.mark.parametrize(("entry", "sentence"), ODD)
def test_an_odd_entry_is_told_with_file_line_column_and_member_and_hides_no_other(
    here: Here, entry: object, sentence: str
) -> None:
    here.write(".mcp.json", {"mcpServers": {"odd": entry, "good": {"command": "x"}}})
    with pytest.raises(UsageError, match=r"^\.mcp\.json:1:\d+: mcpServers\.odd") as failure:
        named("@odd")
    assert sentence in str(failure.value)
    assert "\n" not in str(failure.value)
    assert named("@good").command == "x"
    assert [one.state for one in looks()] == ["bad", "asks"]


def test_a_fault_stands_on_its_line_and_column(here: Here) -> None:
    here.write(
        ".mcp.json",
        '{ // servers\n  "mcpServers": {\n    "git": {"command": "x",\n      "env": {"C": []}\n    }\n}}',
    )
    with pytest.raises(UsageError, match=r"^\.mcp\.json:4:20: mcpServers\.git\.env\.C: "):
        named("@git")


def test_a_value_that_may_be_no_text_has_the_spelling_it_has_in_the_file(here: Here) -> None:
    here.write(
        ".mcp.json",
        '{"mcpServers": {"a": {"command": "x", "args": ["--port", 8080, 1.50], "env": {"C": 1, "D": true, "E": null}}}}',
    )
    target = named("@a")
    assert target.args == ("--port", "8080", "1.50")
    assert target.env == {"C": "1", "D": "true", "E": None}


def test_a_member_or_a_name_given_twice_is_told_and_the_last_one_counts(here: Here) -> None:
    text = '{"mcpServers": {\n"a": {"command": "first"},\n"a": {"command": "x",\n"command": "y"},\n"A": {"command": "z"}}}'
    here.write(".mcp.json", text)
    assert named("@a").command == "y"
    [place] = found_servers()
    assert place.entries[0].notes == (
        "command is given twice, in lines 3 and 4; the last one counts",
        "given twice, in lines 2 and 3; the last one counts",
        "differs from A (line 5) only by case",
    )


def test_names_with_a_slash_a_blank_an_emoji_or_of_another_case_are_names(here: Here) -> None:
    names = ["my/server", "two words", "🦦", "Git", "git"]
    here.write(".mcp.json", {"mcpServers": {name: {"command": f"c-{name}"} for name in names}})
    for name in names:
        assert named(f"@'{name}'").command == f"c-{name}"
        assert named(f"@'{name}'").name == name
    with pytest.raises(UsageError, match=r"@GIT is there more than once .*write @Git or @git"):
        named("@GIT")
    assert named("@'MY/server'").command == "c-my/server"


def test_a_file_that_is_no_json_or_has_no_servers_hides_no_other_file(here: Here) -> None:
    here.write(".mcp.json", '{"mcpServers": {"a": {"command": "x"}\n  "b": 1}}')
    here.write(".vscode/mcp.json", {"servers": ["no", "object"]})
    here.write("~/.claude.json", {"numStartups": 1})
    here.write("~/.cursor/mcp.json", {"mcpServers": {"good": {"command": "x"}}})
    assert named("@good").command == "x"
    first, second, third = found_servers()
    assert first.fault.startswith(".mcp.json:2:3: a comma, or }, is missing where")
    assert second.fault.startswith(".vscode/mcp.json:1:13: servers: is not an object")
    assert [entry.name for entry in third.entries] == ["good"]
    with pytest.raises(UsageError, match=r"no server is named @a .*\.mcp\.json:2:3"):
        named("@a")


def test_a_file_that_is_no_text_or_a_folder_is_told(here: Here) -> None:
    here.write(".mcp.json", "").write_bytes(b'{"mcpServers": "\xff"}')
    assert "is not UTF-8 text" in found_servers()[0].fault
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        named("--config .. @a")
    with pytest.raises(UsageError, match=r"nope\.json cannot be read: No such file"):
        named("--config nope.json @a")


def test_names_are_looked_up_place_by_place(here: Here) -> None:
    def entry(command: str) -> dict[str, object]:
        return {"mcpServers": {"a": {"command": command}}}

    here.write("~/.cursor/mcp.json", entry("tool"))
    assert named("@a").command == "tool"
    here.write(f"~/{PROGRAMS}/mcp-workbench/servers.json", entry("own"))
    assert named("@a").command == "own"
    here.write("../.mcp.json", entry("above"))
    assert named("@a").command == "above"
    here.write(".mcp.json", entry("project"))
    assert named("@a").command == "project"
    here.write(f"~/{PROGRAMS}/mcp-workbench/config.toml", 'config = ["~/mine.json"]')
    here.write("~/mine.json", entry("settings"))
    from workbench.config import load_settings

    assert parse_line("@a", load_settings())[0].command == "settings"
    here.write("named.json", entry("named"))
    assert parse_line("--config named.json @a", load_settings())[0].command == "named"
    assert parse_line("@cursor/a", load_settings())[0].command == "tool"
    assert parse_line("@mcp-workbench/a")[0].command == "own"


def test_two_servers_of_one_name_in_one_place_are_told_with_both_places(here: Here) -> None:
    here.write(".mcp.json", {"mcpServers": {"a": {"command": "x"}, "same": {"command": "s"}}})
    here.write(
        ".cursor/mcp.json",
        {"mcpServers": {"a": {"command": "y"}, "same": {"command": "s", "disabled": False}}},
    )
    with pytest.raises(UsageError) as failure:
        named("@a")
    assert "(.mcp.json:1, .cursor/mcp.json:1); write @project/a or @cursor/a" in str(failure.value)
    assert (named("@project/a").command, named("@cursor/a").command) == ("x", "y")
    assert named("@.mcp.json/a").command == "x"
    assert named("@same").command == "s"


def test_files_are_looked_for_from_here_upwards_and_a_users_file_is_no_projects(here: Here) -> None:
    files = server_files()
    projects = [file.path for file in files if file.project]
    assert projects[:4] == [
        here.project / ".mcp.json",
        here.project / ".vscode/mcp.json",
        here.project / ".cursor/mcp.json",
        here.project.parent / ".mcp.json",
    ]
    [cursor] = [file for file in files if file.path == here.home / ".cursor/mcp.json"]
    assert not cursor.project
    [named_one] = [file for file in server_files([str(here.home / ".cursor/mcp.json")]) if file.tier == 0]
    assert not named_one.project


def test_a_projects_server_starts_in_its_folder_wherever_in_it_one_works(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.write(".mcp.json", {"mcpServers": {"a": {"command": "x"}, "b": {"command": "x", "cwd": "sub"}}})
    assert (named("@a").cwd, named("@b").cwd) == (None, str(here.project / "sub"))
    below = here.project / "src"
    below.mkdir()
    monkeypatch.chdir(below)
    assert (named("@a").cwd, named("@b").cwd) == (str(here.project), str(here.project / "sub"))
