"""Servers that other people wrote, used on the screen by keys."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tui.at_work import AtWork, at_work
from workbench.config import Target, Timeouts
from workbench.core.frame import Kind

pytestmark = pytest.mark.anyio


def target(name: str, command: list[str], **options: object) -> Target:
    values = {"name": name, "command": command[0], "args": command[1:], "timeouts": Timeouts(shutdown=5)}
    return Target.model_validate({**values, **options})


async def start_filling_in(work: AtWork, name: str) -> None:
    """Go to an item of the pane by the filter, and begin with its form."""
    await work.press("slash", *name, "enter", "enter")
    await work.shows(name, "enter run")


async def called(work: AtWork, method: str, count: int) -> str:
    """Wait for the answer to the last of ``count`` requests; its body."""
    await work.until(
        lambda: len(work.frames(Kind.RESULT, method)) + len(work.frames(Kind.ERROR, method)) >= count
    )
    return work.frames(Kind.RESULT, method)[-1].body.decode()


async def test_the_everything_server_is_listed_called_read_and_prompted(
    everything_command: list[str],
) -> None:
    async with at_work([target("everything", everything_command)]) as work:
        await work.ready()
        await work.shows("everything ready", "echo")
        await start_filling_in(work, "echo")
        await work.press(*"hi there", "enter")
        await work.shows("result", "Echo: hi there")
        await work.press("escape", "escape")
        await start_filling_in(work, "get-sum")
        await work.press("2", "tab", "3", "enter")
        await work.shows('{"a":2,"b":3}', "The sum of 2 and 3 is 5")
        await work.press("escape", "escape", "right_square_bracket", "enter")
        body = await called(work, "resources/read", 1)
        assert json.loads(body)["result"]["contents"]
        await work.press("escape", "right_square_bracket")
        await start_filling_in(work, "args-prompt")
        await work.press(*"Oslo", "enter")
        assert "Oslo" in await called(work, "prompts/get", 1)
        await work.shows("result", "Oslo")


async def test_progress_of_the_everything_server_is_shown_while_it_comes(
    everything_command: list[str],
) -> None:
    async with at_work([target("everything", everything_command)]) as work:
        await work.ready()
        await start_filling_in(work, "long-running")
        await work.press("2", "tab", "4", "enter")
        await work.shows("running", "━")
        await work.shows("result", "completed")
        assert len(work.frames(Kind.NOTIFICATION, "notifications/progress")) == 4


async def test_sampling_of_the_everything_server_is_answered_in_the_inbox(
    everything_command: list[str],
) -> None:
    async with at_work([target("everything", everything_command)]) as work:
        await work.ready()
        await start_filling_in(work, "trigger-sampling-request")
        await work.press(*"Say something", "enter")
        await work.shows("inbox 1")
        await work.press("escape", "escape", *["right_square_bracket"] * 5, "enter", *"I am a hand", "enter")
        assert "I am a hand" in await called(work, "tools/call", 1)


async def test_the_filesystem_server_reads_a_file(filesystem_command: list[str]) -> None:
    folder = filesystem_command[-1]
    async with at_work([target("files", filesystem_command)], size=(120, 40)) as work:
        await work.ready()
        await start_filling_in(work, "read_text_file")
        await work.press(*f"{folder}/hello.txt", "enter")
        await work.shows("result", "hello from a file")


async def test_the_memory_server_keeps_what_it_is_told(memory_command: list[str], tmp_path: Path) -> None:
    env = {"MEMORY_FILE_PATH": f"{tmp_path}/memory.jsonl"}
    async with at_work([target("memory", memory_command, env=env)], size=(120, 40)) as work:
        await work.ready()
        await start_filling_in(work, "create_entities")
        await work.press(*'[{"name":"Ada","entityType":"person","observations":["programs"]}]', "enter")
        await work.shows("result", "Ada")
        await work.press("escape", "escape")
        await start_filling_in(work, "read_graph")
        await work.press("enter")
        assert "programs" in await called(work, "tools/call", 2)


async def test_the_time_server_tells_the_time_and_its_error_is_shown(time_command: list[str]) -> None:
    async with at_work([target("time", time_command)]) as work:
        await work.ready()
        await start_filling_in(work, "get_current_time")
        await work.press(*"Europe/Oslo", "enter")
        assert "Europe/Oslo" in await called(work, "tools/call", 1)
        await work.press("enter", *["backspace"] * 20, *"Nowhere", "enter")
        await work.shows("tool error")


async def test_the_git_server_shows_the_log(git_command: list[str]) -> None:
    async with at_work([target("git", git_command)], size=(120, 40)) as work:
        await work.ready()
        await start_filling_in(work, "git_log")
        await work.press(*git_command[-1], "enter")
        await work.shows("result", "First commit")
