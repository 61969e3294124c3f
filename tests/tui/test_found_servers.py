"""The empty screen: servers of config files to choose from, with what is asked before they start."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.config.here import Here, set_up
from tests.tui.at_work import AtWork, at_work
from tests.tui.test_snapshots import at_rest
from tests.tui.waiting import until
from workbench.tui.app import Workbench
from workbench.tui.bridge import LiveDesk
from workbench.tui.empty import Empty

pytestmark = pytest.mark.anyio

DEMO: dict[str, Any] = {"command": sys.executable, "args": ["-P", "-m", "workbench.demo"]}
SIZES = [(60, 15), (80, 24), (120, 40)]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    monkeypatch.setenv("MCP_WORKBENCH_STORE", str(tmp_path / "store"))
    return set_up(tmp_path, monkeypatch)


def projects(here: Here, **servers: Any) -> None:
    here.write(".mcp.json", {"mcpServers": servers})


async def chosen(work: AtWork, *keys: str) -> None:
    await work.shows("down choose")
    await work.press("down", *keys, "enter")


@pytest.mark.parametrize("size", SIZES)
async def test_servers_are_shown_with_their_files_and_bad_ones_with_the_reason(
    here: Here, size: tuple[int, int]
) -> None:
    projects(here, odd={"command": "x", "env": {"A": []}}, good=DEMO)
    here.write("~/.cursor/mcp.json", {"mcpServers": {"mine": {"url": "https://host/mcp"}}})
    async with at_work(size=size) as work:
        await work.shows(
            ".mcp.json  project", "✗ odd", "env.A: is", "good", "asks first", "d  opens the demo"
        )
        await work.shows("~/.cursor/mcp.json  Cursor", "https://host/mcp")
        await chosen(work)
        await work.shows("mcpServers.odd.env.A: is neither text,")
        assert not work.desk.views
        await work.press("down")
        assert "mcpServers.odd.env.A" not in work.text


async def test_a_users_own_server_connects_with_two_keys(here: Here) -> None:
    here.write("~/.cursor/mcp.json", {"mcpServers": {"mine": DEMO}})
    async with at_work() as work:
        await chosen(work)
        await work.ready()
        assert work.desk.views[0].name == "mine"


@pytest.mark.parametrize("size", SIZES)
async def test_a_projects_server_is_shown_whole_and_starts_only_after_a_yes(
    here: Here, size: tuple[int, int]
) -> None:
    projects(here, demo={**DEMO, "args": [*DEMO["args"], *(f"--o={n:04}" for n in range(20))]})
    async with at_work(size=size) as work:
        await chosen(work)
        await work.shows(".mcp.json asks to start demo:")
        for _ in range(30):
            if "--o=0019" in work.text and "n no" in work.text:
                break
            await work.press("down")
        await work.shows("--o=0019", "y yes, and remember it", "n no")
        await work.press("enter", "x", "n")
        await work.until(lambda: "asks to start" not in work.text)
        assert not work.desk.views


@pytest.mark.parametrize(("key", "again"), [("y", False), ("o", True)])
async def test_a_yes_is_remembered_or_is_for_once(here: Here, key: str, again: bool) -> None:
    projects(here, demo=DEMO)
    async with at_work() as work:
        await chosen(work)
        await work.shows("asks to start demo:")
        await work.press(key)
        await work.ready()
        await work.press("n", *"@demo", "enter")
        if again:
            await work.shows("asks to start demo:")
            await work.press("escape")
            assert len(work.desk.views) == 1
        else:
            await work.ready(2)


async def test_what_is_typed_filters_the_list_and_enter_connects_to_what_is_typed(here: Here) -> None:
    here.write("~/.cursor/mcp.json", {"mcpServers": {"first": {"command": "x"}, "second": DEMO}})
    async with at_work() as work:
        await work.shows("first", "second")
        await work.press("enter", *"sec")
        await work.until(lambda: "first" not in work.text)
        await work.press("ctrl+u", *"--nonsense")
        await work.shows("first", "second")
        await work.press("enter")
        await work.shows("unknown option")
        await work.press("ctrl+u", *"sec", "down", "enter")
        await work.ready()
        assert work.desk.views[0].name == "second"


async def test_inputs_are_asked_for_one_after_the_other_and_a_password_is_not_shown(here: Here) -> None:
    inputs = [
        {"type": "promptString", "id": "key", "description": "The API key", "password": True},
        {"type": "pickString", "id": "stage", "options": ["dev", {"label": "Production", "value": "prod"}]},
    ]
    server = {**DEMO, "env": {"KEY": "${input:key}", "STAGE": "${input:stage}"}}
    here.write("~/.cursor/mcp.json", {"servers": {"mine": server}, "inputs": inputs})
    async with at_work() as work:
        await chosen(work)
        await work.shows("The API key")
        await work.press(*"geheim1234")
        assert "geheim" not in work.text
        assert "**********" in work.text
        await work.press("enter")
        await work.shows("stage: dev, Production")
        await work.press(*"x", "enter")
        await work.shows("is none of dev, Production")
        await work.press("ctrl+u", *"Production", "enter")
        await work.ready()
        target = next(iter(work.desk._thread.session.connections.values())).target  # type: ignore[attr-defined]
        assert target.env == {"KEY": "geheim1234", "STAGE": "prod"}


async def test_an_input_nobody_here_can_give_is_told_in_its_place(here: Here) -> None:
    inputs = [{"type": "command", "id": "login", "command": "x"}]
    here.write("~/.cursor/mcp.json", {"servers": {"a": {"command": "${input:login}"}}, "inputs": inputs})
    async with at_work() as work:
        await chosen(work)
        await work.shows("which only VS Code runs")


async def test_without_any_server_the_screen_says_where_it_looked(here: Here) -> None:
    async with at_work(size=(80, 24)) as work:
        await work.shows("No server stands in a config file here", ".vscode/mcp.json", "d  opens the demo")
        assert "down choose" not in work.text
    async with at_work(size=(120, 40)) as work:
        await work.shows("No server stands in a config file here", "~/.claude.json", "Windsurf")


async def test_escape_leaves_the_list_and_letters_are_commands(here: Here) -> None:
    here.write("~/.cursor/mcp.json", {"mcpServers": {"mine": {"command": "x"}}})
    async with at_work() as work:
        await work.shows("mine", "down choose")
        await work.press("down")
        await work.until(lambda: work.app.query_one(Empty).rows.has_focus)
        await work.press("escape")
        assert work.app.focused is None
        await work.press("d")
        await work.shows("demo", "weather")


async def test_a_name_of_a_file_cannot_command_the_terminal(here: Here) -> None:
    projects(here, **{"e\x1b[2Jvil\u202e": {"command": "x\x1b[2J\u202e", "args": ["a\nb"]}})
    async with at_work() as work:
        await chosen(work)
        await work.shows("asks to start")
        assert not set(work.text) & {"\x1b", "\u202e"}


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_found_servers_look_as_they_did(
    here: Here, snap_compare: Callable[..., bool], size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("API_KEY", raising=False)
    servers = {
        "api": {
            "type": "http",
            "url": "https://api.example.com/mcp",
            "headers": {"Authorization": "${API_KEY}"},
        },
        "events": {"type": "sse", "url": "https://events.example.com/sse"},
        "files": {
            "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv/documents"],
        },
    }
    projects(here, **servers)
    here.copy("vscode.json", ".vscode/mcp.json")
    cursor = {"figma": {"url": "https://mcp.figma.com/mcp"}, "off": {"command": "x", "disabled": True}}
    here.write("~/.cursor/mcp.json", {"mcpServers": cursor})
    here.write("~/.claude.json", '{"mcpServers": {"a" 1}}')
    desk = LiveDesk([])
    app = Workbench(desk)

    async def play(pilot: Pilot[Any]) -> None:
        await until(pilot, lambda: any(empty.rows.keys for empty in app._main.query(Empty)))
        await pilot.press("down")
        await until(pilot, lambda: app.keys.idle)
        await at_rest(app, pilot)

    try:
        assert snap_compare(app, terminal_size=size, run_before=play)
    finally:
        desk.close()
