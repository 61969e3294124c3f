"""URLs that the reference server wants opened: asked, required first, and completed (2025-11-25)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.peers.fixtures import everything_command as everything_command
from tests.servers.targets import server
from tests.wire.stage import arguments, running, text_of, until
from workbench.config import Target, Timeouts

pytestmark = pytest.mark.anyio

TOOL = "trigger-url-elicitation"


def everything(command: list[str]) -> Target:
    timeouts = Timeouts(start=60, request=60)
    return Target(command=command[0], args=tuple(command[1:]), era="legacy", timeouts=timeouts)


def calling(**given: Any) -> str:
    return json.dumps(
        {"name": TOOL, "arguments": {"url": "https://example.com/a?b=c", "message": "Log in", **given}}
    )


@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
async def test_a_url_waits_for_consent_and_is_answered_without_content(
    everything_command: list[str], action: str
) -> None:
    async with running(everything(everything_command), held=["elicitation/create"]) as (connection, _):
        await connection.ready()
        call = connection.call("tools/call", calling(elicitationId="e-1"))
        await until(lambda: connection.inbox)
        (asked,) = connection.inbox.values()
        assert asked.params["url"] == "https://example.com/a?b=c"
        assert [(link.id, link.host) for link in connection.dealings.links] == [("e-1", "example.com")]
        connection.answer(asked.id, json.dumps({"action": action}))
        assert f'"action": "{action}"' in json.dumps((await call.wait()).result).replace("\\", "")


async def test_urls_that_are_required_first_end_the_call_with_a_sentence(
    everything_command: list[str],
) -> None:
    async with running(everything(everything_command)) as (connection, _):
        await connection.ready()
        outcome = await connection.request("tools/call", calling(errorPath=True))
        assert (outcome.how, outcome.error["code"]) == ("error", -32042)
        assert "then send the request again: https://" in outcome.sentence
        (link,) = connection.dealings.links
        assert link.url in outcome.sentence


async def test_what_is_done_is_told_once_for_a_url_that_was_asked_for_and_never_for_another() -> None:
    asked = {"mode": "url", "url": "https://example.com/x", "elicitationId": "1", "message": "?"}
    complete = "notifications/elicitation/complete"
    steps = [
        {"send": {"method": complete, "params": {"elicitationId": "1"}}},
        {"send": {"id": "q", "method": "elicitation/create", "params": asked}},
        {"answer": "q"},
        *({"send": {"method": complete, "params": {"elicitationId": id}}} for id in ("2", "1", "1")),
    ]
    async with running(server("does_as_told")) as (connection, _):
        await connection.ready()
        call = connection.call("tools/call", arguments(json.dumps(steps)))
        assert text_of(await call.wait())
        done = [remark for remark in connection.dealings.remarks if "is done" in remark]
        assert done == ["the server says that what was asked for at https://example.com/x is done"]
