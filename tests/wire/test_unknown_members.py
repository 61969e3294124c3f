"""Servers that say more than anybody knows: they are used, and what they say is shown as it came."""

from __future__ import annotations

from typing import Any

import pytest

from tests.servers.http_script import as_json, said
from tests.wire.http_stage import connected
from tests.wire.stage import text_of
from tests.wire.test_eras_http import stateless
from workbench.core.lifecycle import State

pytestmark = pytest.mark.anyio

TOOL = {
    "name": "echo",
    "inputSchema": {"type": "object"},
    "icons": [{"src": "data:image/png;base64,AAAA"}],
    "execution": {"taskSupport": "required"},
    "vendor/more": [1],
}
HELLO: dict[str, Any] = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}, "experimental": {"x": {}}, "vendor": True},
    "serverInfo": {"name": "no version"},
    "more": None,
}


async def test_a_server_with_members_that_nobody_knows_is_used_and_they_are_shown() -> None:
    table = {
        "initialize": lambda asked: as_json(asked, HELLO),
        "tools/list": lambda asked: as_json(asked, {"tools": [TOOL], "more": 1}),
        "tools/call": lambda asked: as_json(asked, {**said("hello"), "more": 1}),
    }
    async with connected(table) as stage:
        assert await stage.connection.list("tools/list") == [TOOL]
        outcome = await stage.connection.request("tools/call", '{"name":"echo"}')
        assert (text_of(outcome), outcome.result["more"]) == ("hello", 1)
        assert stage.connection.view.server_info == {"name": "no version"}
        assert stage.connection.view.server_capabilities["experimental"] == {"x": {}}
        assert stage.connection.state is State.READY
        assert [each for each in stage.connection.findings if each.rule.severity == "error"] == []


async def test_a_kind_of_result_that_nobody_knows_is_given_as_it_came() -> None:
    table = stateless(
        **{"tools/call": lambda asked: as_json(asked, {"resultType": "vendor", **said("hello")})}
    )
    async with connected(table, era="modern") as stage:
        call = stage.connection.call("tools/call", '{"name":"echo"}')
        outcome = await call.wait()
        assert (outcome.how, outcome.result["resultType"], text_of(outcome)) == ("result", "vendor", "hello")
        assert call.remarks == ['The result\'s resultType is "vendor"; it is shown as it came.']
        assert "result-type-unknown" in {each.rule.id for each in stage.connection.findings}
        assert stage.connection.state is State.READY
