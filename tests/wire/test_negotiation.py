"""What is offered is the user's choice, and goes over the wire exactly as chosen."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.peers.fixtures import everything_command as everything_command
from tests.servers.targets import server
from tests.wire.stage import MemorySink, arguments, running, text_of
from workbench.config import Target, Timeouts, parse_targets
from workbench.core.frame import Channel, Direction
from workbench.core.lifecycle import State
from workbench.core.methods import HANDSHAKE_REVISIONS, LATEST_HANDSHAKE
from workbench.errors import ConnectionFailed
from workbench.wire.connection import Connection

pytestmark = pytest.mark.anyio

TASKS = '{"list":{},"requests":{"sampling":{"createMessage":{}}}}'


def offered(sink: MemorySink) -> Any:
    """The params of ``initialize`` as they went out."""
    return sink.sent()[0]["params"]


def target(*options: str, base: Target | None = None) -> Target:
    """The target of a command line with these options, on a server that does not care."""
    base = base or server("does_as_told")
    (made,) = parse_targets(["--era", "legacy", *options, "--", base.command, *base.args])
    return made.model_copy(update={"cwd": base.cwd, "timeouts": base.timeouts})


@pytest.mark.parametrize(
    ("options", "capabilities"),
    [
        ([], {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}, "url": {}}}),
        (
            ["--no-capability", "sampling"],
            {"roots": {"listChanged": True}, "elicitation": {"form": {}, "url": {}}},
        ),
        (
            [
                "--capability",
                "sampling.tools",
                "--no-capability",
                "elicitation.url",
                "--no-capability",
                "roots",
            ],
            {"sampling": {"tools": {}}, "elicitation": {"form": {}}},
        ),
        (
            [
                *(
                    "--no-capability",
                    "roots",
                    "--no-capability",
                    "sampling",
                    "--no-capability",
                    "elicitation",
                ),
                *("--capability", f"tasks={TASKS}", "--capability", 'experimental.x={"n":1.0}'),
            ],
            {"tasks": json.loads(TASKS), "experimental": {"x": {"n": 1.0}}},
        ),
        (
            [
                *(
                    "--no-capability",
                    "roots",
                    "--no-capability",
                    "sampling",
                    "--no-capability",
                    "elicitation",
                ),
                *("--capability", "tasks.requests.elicitation.create", "--capability", "roots"),
            ],
            {"tasks": {"requests": {"elicitation": {"create": {}}}}, "roots": {}},
        ),
    ],
)
async def test_each_capability_and_each_of_its_parts_is_offered_or_not_as_chosen(
    options: list[str], capabilities: Any
) -> None:
    async with running(target(*options)) as (connection, sink):
        await connection.ready()
        assert offered(sink)["capabilities"] == capabilities


@pytest.mark.parametrize(
    ("revision", "capabilities"),
    [
        ("2024-11-05", {"roots": {"listChanged": True}, "sampling": {}}),
        ("2025-03-26", {"roots": {"listChanged": True}, "sampling": {}}),
        ("2025-06-18", {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}}),
        (
            "2025-11-25",
            {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {"form": {}, "url": {}}},
        ),
        ("1999-01-01", {"roots": {"listChanged": True}, "sampling": {}}),
    ],
)
async def test_a_revision_is_offered_with_what_it_has_and_nothing_else(
    revision: str, capabilities: Any
) -> None:
    async with running(target("--protocol-version", revision)) as (connection, sink):
        await connection.ready()
        assert offered(sink)["protocolVersion"] == revision
        assert offered(sink)["capabilities"] == capabilities


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ([], {"clientCapabilities": {"elicitation": {"form": {}, "url": {}}, "roots": {}, "sampling": {}}}),
        (["--no-capability", "sampling", "--no-capability", "roots"], {"clientCapabilities": {"elicitation": {"form": {}, "url": {}}}}),
        (["--capability", 'extensions={"a/b":{"n":1.0}}', "--no-capability", "elicitation"], {"clientCapabilities": {"roots": {}, "sampling": {}, "extensions": {"a/b": {"n": 1.0}}}}),
        (["--protocol-version", "2026-07-28"], {"protocolVersion": "2026-07-28"}),
        (["--log-level", "error"], {"logLevel": "error"}),
        (["--client-info", '{"name":"me","version":"2","odd":1}'], {"clientInfo": {"name": "me", "version": "2", "odd": 1}}),
    ],
)  # fmt: skip
async def test_without_a_handshake_what_was_chosen_is_in_every_request(
    options: list[str], chosen: dict[str, Any]
) -> None:
    made = target(*options, base=server("stateless")).model_copy(update={"era": "modern"})
    async with running(made) as (connection, sink):
        await connection.ready()
        await connection.request("tools/list")
        assert (await connection.request("tools/call", arguments("x"))).how == "result"
        sent = [each for each in sink.sent() if "id" in each]
        assert [each["method"] for each in sent] == ["server/discover", "tools/list", "tools/call"]
        for each in sent:
            meta = {
                key.removeprefix("io.modelcontextprotocol/"): value
                for key, value in each["params"]["_meta"].items()
            }
            assert {key: meta[key] for key in chosen} == chosen
            assert ("logLevel" in meta) is ("logLevel" in chosen)


async def test_a_revision_the_server_does_not_speak_is_named_until_it_says_which_it_does() -> None:
    base = server("stateless")
    made = target("--protocol-version", "2031-01-01", base=base).model_copy(update={"era": "modern"})
    async with running(made) as (connection, sink):
        await connection.ready()
        assert (await connection.request("tools/call", arguments("x"))).how == "result"
        key = "io.modelcontextprotocol/protocolVersion"
        named = [each["params"]["_meta"][key] for each in sink.sent() if "id" in each]
        assert named == ["2031-01-01", "2026-07-28"]


async def test_who_we_say_we_are_goes_out_whole() -> None:
    info = '{"name":"me","title":"Me","version":"2","websiteUrl":"https://x.org","icons":[],"odd":1}'
    async with running(target("--client-info", info)) as (connection, sink):
        await connection.ready()
        assert offered(sink)["clientInfo"] == json.loads(info)


async def test_what_is_required_of_the_server_down_to_its_parts() -> None:
    needed = server("does_as_told", '{"tools":{"listChanged":true},"resources":{}}')
    for required, state in (
        ("tools.listChanged", State.READY),
        ("resources.subscribe", State.CAPABILITY_MISSING),
    ):
        async with running(needed.model_copy(update={"require": (required,)})) as (connection, _):
            if state is State.READY:
                await connection.ready()
            else:
                with pytest.raises(ConnectionFailed, match=r"does not offer resources\.subscribe"):
                    await connection.ready()
            assert connection.view.state is state


# The same on the reference server.


def everything(command: list[str], *options: str) -> Target:
    base = Target(command=command[0], args=tuple(command[1:]), timeouts=Timeouts(start=60, request=60))
    return target(*options, base=base)


async def tools_of(connection: Connection) -> set[str]:
    return {str(tool["name"]) for tool in await connection.list("tools/list")}


@pytest.mark.parametrize(
    ("option", "tool"),
    [
        ("sampling", "trigger-sampling-request"),
        ("roots", "get-roots-list"),
        ("elicitation", "trigger-elicitation-request"),
        ("elicitation.url", "trigger-url-elicitation"),
    ],
)
async def test_the_reference_server_has_a_tool_only_where_its_capability_is_offered(
    everything_command: list[str], option: str, tool: str
) -> None:
    for flag, there in (("--capability", True), ("--no-capability", False)):
        async with running(everything(everything_command, flag, option)) as (connection, sink):
            await connection.ready()
            await connection.ping().wait()
            assert (tool in await tools_of(connection)) is there
            capabilities = offered(sink)["capabilities"]
            top, _, below = option.partition(".")
            has = top in capabilities and (not below or below in capabilities[top])
            assert has is there


@pytest.mark.parametrize("revision", [*HANDSHAKE_REVISIONS, "1999-01-01", "2026-07-28", "DRAFT-2030-v1"])
async def test_the_reference_server_answers_each_revision(
    everything_command: list[str], revision: str
) -> None:
    async with running(everything(everything_command, "--protocol-version", revision)) as (connection, sink):
        await connection.ready()
        assert offered(sink)["protocolVersion"] == revision
        known = revision in HANDSHAKE_REVISIONS
        assert connection.conversation.revision == (revision if known else LATEST_HANDSHAKE)
        outcome = await connection.request("tools/call", arguments("x").replace('"text"', '"message"'))
        assert text_of(outcome) == "Echo: x"


async def test_a_revision_nobody_speaks_ends_as_a_mismatch_with_the_next_step() -> None:
    async with running(server("wants_another_revision", "1999-01-01")) as (connection, sink):
        with pytest.raises(ConnectionFailed, match="--protocol-version 1999-01-01"):
            await connection.ready()
        assert connection.view.state is State.VERSION_MISMATCH
    assert b"initialized" not in b"".join(sink.bodies(Channel.STDIO, Direction.TO_SERVER))


# What is asked within a chosen offer ("Capability lies", and the reverse).


@pytest.mark.parametrize(
    ("option", "method", "params", "code"),
    [
        ("--no-capability=roots", "roots/list", None, -32601),
        ("--no-capability=sampling", "sampling/createMessage", {"messages": [], "maxTokens": 1}, -32601),
        ("--no-capability=elicitation", "elicitation/create", {"message": "?"}, -32601),
        (
            "--no-capability=elicitation.url",
            "elicitation/create",
            {"mode": "url", "url": "https://x.org"},
            -32602,
        ),
        ("--no-capability=elicitation.form", "elicitation/create", {"message": "?", "mode": "form"}, -32602),
        ("--no-capability=sampling.tools", "sampling/createMessage", {"messages": [], "tools": []}, -32602),
        ("--no-capability=tasks", "tasks/list", None, -32601),
        ("--capability=elicitation", "made/up", None, -32601),
    ],
)
async def test_what_was_not_offered_is_refused_with_its_code_and_told(
    option: str, method: str, params: Any, code: int
) -> None:
    asked = {"id": "q", "method": method} | ({} if params is None else {"params": params})
    async with running(target(option), held=[method]) as (connection, _):
        await connection.ready()
        call = connection.call("tools/call", arguments(json.dumps([{"send": asked}, {"answer": "q"}])))
        (answer,) = json.loads(text_of(await call.wait()))
        assert answer["error"]["code"] == code
        assert any(remark.startswith(f"refused {method}") for remark in call.remarks)
