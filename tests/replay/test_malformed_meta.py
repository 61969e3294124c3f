"""Stateless requests that say of themselves what may not be get the answers that such ones got, and no others do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.replay.build import Live, Tape, request, result

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
GOOD = {VERSION: "2026-07-28", CAPABILITIES: {}}
ODD: list[dict[str, Any]] = [
    {VERSION: "2026-07-28"},
    {CAPABILITIES: {}},
    {VERSION: "1999-01-01", CAPABILITIES: {}},
    {VERSION: 7, CAPABILITIES: {}},
    {VERSION: "2026-07-28", CAPABILITIES: "none"},
    {},
]


def asked(id: Any, method: str, meta: dict[str, Any], **params: Any) -> dict[str, Any]:
    return request(id, method, **params, _meta=meta)


def refused(id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "bad _meta"}}


def tape(method: str, odd: dict[str, Any], **params: Any) -> Tape:
    """The malformed one first, as a suite that tries a server's manners does it."""
    told = Tape().c(asked(1, method, odd, **params)).s(refused(1))
    return told.c(asked(2, method, GOOD, **params)).s(result(2, resultType="complete"))


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(("method", "params"), [("server/discover", {}), ("tools/call", {"name": "t"})])
def test_each_gets_its_own_answer_whatever_comes_first(
    method: str, params: dict[str, Any], odd: dict[str, Any]
) -> None:
    live = Live(tape(method, odd, **params))
    assert live.say(asked("a", method, GOOD, **params)) == [result("a", resultType="complete")]
    assert live.say(asked("b", method, odd, **params)) == [refused("b")]


def test_one_that_says_too_little_is_answered_where_none_such_was_recorded() -> None:
    live = Live(Tape().c(asked(1, "tools/call", GOOD, name="t")).s(result(1, resultType="complete")))
    assert live.say(asked("a", "tools/call", {VERSION: "2026-07-28"}, name="t")) == [
        result("a", resultType="complete")
    ]


def test_one_that_says_all_is_answered_as_one_that_did_not_where_there_is_no_other() -> None:
    live = Live(Tape().c(asked(1, "tools/call", {VERSION: "2026-07-28"}, name="t")).s(result(1, content=[])))
    assert live.say(asked("a", "tools/call", GOOD, name="t")) == [result("a", content=[])]


def test_another_client_of_the_same_manners_is_no_other_request() -> None:
    named = {
        **GOOD,
        "io.modelcontextprotocol/clientInfo": {"name": "other", "version": "2"},
        CAPABILITIES: {"roots": {}},
    }
    live = Live(tape("tools/call", {}, name="t"))
    assert live.say(asked("a", "tools/call", named, name="t")) == [result("a", resultType="complete")]
