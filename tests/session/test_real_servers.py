"""Sessions with servers that other people wrote."""

from __future__ import annotations

import json

import anyio
import pytest

from tests.wire.stage import text_of, until
from workbench.config import Target, Timeouts
from workbench.core.actions import Outcome
from workbench.core.lifecycle import State
from workbench.session import Session
from workbench.wire.connection import Connection

pytestmark = pytest.mark.anyio


def target(name: str, command: list[str], **options: object) -> Target:
    values = {"name": name, "command": command[0], "args": command[1:], "timeouts": Timeouts(shutdown=5)}
    return Target.model_validate({**values, **options})


async def call(connection: Connection, name: str, **arguments: object) -> Outcome:
    return await connection.request("tools/call", json.dumps({"name": name, "arguments": arguments}))


async def test_all_of_them_are_used_in_one_session_and_all_are_closed(
    everything_command: list[str],
    filesystem_command: list[str],
    memory_command: list[str],
    time_command: list[str],
    git_command: list[str],
    tmp_path: object,
) -> None:
    memory_file = {"MEMORY_FILE_PATH": f"{tmp_path}/memory.jsonl"}
    targets = [
        target("everything", everything_command),
        target("filesystem", filesystem_command),
        target("memory", memory_command, env=memory_file),
        target("time", time_command),
        target("git", git_command),
    ]
    async with Session.open(record=False) as session:
        connections = [session.connect(each) for each in targets]
        everything, filesystem, memory, clock, git = connections
        for connection in connections:
            await connection.ready()
            await connection.refresh()
            assert connection.view.tools, connection.name
            assert connection.view.list_errors == {}, connection.name
        assert "hi" in text_of(await call(everything, "echo", message="hi"))
        assert "hello.txt" in text_of(await call(filesystem, "list_directory", path=filesystem_command[-1]))
        assert (await call(memory, "read_graph")).how == "result"
        assert "UTC" in text_of(await call(clock, "get_current_time", timezone="UTC"))
        assert "First commit" in text_of(await call(git, "git_log", repo_path=git_command[-1]))
        uri = json.dumps({"uri": everything.view.resources[0].name})
        assert (await everything.request("resources/read", uri)).result["contents"]
        prompt = await everything.request(
            "prompts/get", json.dumps({"name": everything.view.prompts[0].name})
        )
        assert prompt.result["messages"]
        await session.close_connections()
        assert {connection.view.state for connection in connections} == {State.CLOSED}


async def test_progress_sampling_and_elicitation_of_the_everything_server(
    everything_command: list[str],
) -> None:
    held = ("sampling/createMessage", "elicitation/create")
    async with Session.open(record=False, held=held) as session:
        connection = session.connect(target("everything", everything_command))
        await connection.ready()
        await connection.refresh()
        names = {tool.name for tool in connection.view.tools}
        slow = connection.call(
            "tools/call",
            json.dumps(
                {"name": "trigger-long-running-operation", "arguments": {"duration": 0.6, "steps": 3}}
            ),
        )
        assert (await slow.wait()).how == "result"
        assert [report.progress for report in slow.progress] == [1, 2, 3]

        [sampling] = [name for name in names if "sampling-request" in name and "async" not in name]
        asking = connection.call(
            "tools/call", json.dumps({"name": sampling, "arguments": {"prompt": "x", "maxTokens": 5}})
        )
        await until(lambda: connection.inbox)
        answer = {"role": "assistant", "content": {"type": "text", "text": "I am a test"}, "model": "none"}
        connection.answer(next(iter(connection.inbox)), json.dumps(answer))
        assert "I am a test" in json.dumps((await asking.wait()).result)

        [eliciting] = [name for name in names if "elicitation-request" in name and "async" not in name]
        asking = connection.call("tools/call", json.dumps({"name": eliciting, "arguments": {}}))
        with anyio.fail_after(30):
            await until(lambda: connection.inbox)
        connection.answer(next(iter(connection.inbox)), '{"action":"decline"}')
        assert (await asking.wait()).how == "result"
