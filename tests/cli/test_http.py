"""Commands on a server over HTTP."""

from __future__ import annotations

import json

import anyio
import pytest

from tests.cli.command import workbench
from tests.servers.http_script import Asked, as_json, plain, reply, said, serve_http, tells

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def run(*words: str) -> tuple[int, str, str]:
    """Run a command beside the server of this test: its status, stdout and stderr."""
    done = await anyio.to_thread.run_sync(lambda: workbench(*words))
    return done.returncode, done.stdout, done.stderr


LEGACY = ("--era", "legacy")


async def test_a_tool_is_called_over_http() -> None:
    async with serve_http({"tools/call": tells("over HTTP")}) as site:
        assert await run("call", "echo", "text:=1", *LEGACY, "--http", site.url) == (0, "over HTTP\n", "")


async def test_a_session_that_was_forgotten_is_begun_anew_and_the_request_repeated() -> None:
    forgotten = reply(
        404, '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}'
    )
    async with serve_http({"tools/call": [forgotten, tells("after all")]}) as site:
        status, stdout, stderr = await run("call", "echo", "text:=1", *LEGACY, "--http", site.url)
        assert (status, stdout) == (0, "after all\n")
        assert "does not know this session any more" in stderr
        assert "It is connected again, and tools/call is repeated." in stderr
        assert len(site.of("initialize")) == len(site.of("tools/call")) == 2


async def test_a_session_that_is_forgotten_again_and_again_is_begun_anew_once() -> None:
    async with serve_http({"tools/call": reply(404)}) as site:
        status, stdout, stderr = await run("call", "echo", "text:=1", "--json", *LEGACY, "--http", site.url)
        assert status == 3
        assert json.loads(stdout)["how"] == "lost"
        assert len(site.of("initialize")) == 2
        assert stderr.count("is repeated") == 1


async def test_a_server_that_cannot_be_had_again_ends_the_command_with_why() -> None:
    times = 0

    def initialize(asked: Asked) -> bytes:
        nonlocal times
        times += 1
        return plain(asked) if times == 1 else reply(503)

    async with serve_http({"initialize": initialize, "tools/call": reply(404)}) as site:
        status, _, stderr = await run("call", "echo", "text:=1", *LEGACY, "--http", site.url)
        assert status == 3
        assert "status 503" in stderr
        assert "Traceback" not in stderr


async def test_a_call_that_the_server_refuses_is_not_repeated() -> None:
    async with serve_http({"tools/call": reply(500, "oh dear")}) as site:
        status, _, stderr = await run("call", "echo", "text:=1", *LEGACY, "--http", site.url)
        assert status == 3
        assert "status 500: “oh dear”" in stderr
        assert len(site.of("tools/call")) == 1


async def test_a_token_of_the_command_line_is_sent_and_a_missing_one_is_named() -> None:
    def guarded(asked: Asked) -> bytes:
        if asked.headers.get("authorization") == "Bearer abc-123-def":
            return plain(asked) if asked.method != "tools/call" else as_json(asked, said("in"))
        return reply(401, www_authenticate='Bearer realm="x"')

    async with serve_http({"POST": guarded, "initialize": guarded, "tools/call": guarded}) as site:
        status, _, stderr = await run("call", "echo", "text:=1", *LEGACY, "--http", site.url)
        assert status == 3
        assert "--header 'Authorization: Bearer" in stderr
        header = ("--header", "Authorization: Bearer abc-123-def")
        status, stdout, _ = await run("call", "echo", "text:=1", *LEGACY, *header, "--http", site.url)
        assert (status, stdout) == (0, "in\n")
