"""Sampling with tools: what must be refused, and what an answer must keep to (2025-11-25)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.talk import Talk, sent
from workbench.core.policy import Policy
from workbench.core.sampling import refusal, result_faults

TOOLS = [{"name": "add", "inputSchema": {"type": "object"}}]
USE = {"type": "tool_use", "id": "1", "name": "add", "input": {}}
RESULT = {"type": "tool_result", "toolUseId": "1", "content": []}
TEXT = {"type": "text", "text": "x"}
WITH_TOOLS: dict[str, Any] = {"sampling": {"tools": {}}}


def said(*contents: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    return {
        "messages": [{"role": roles[n % 2], "content": content} for n, content in enumerate(contents)],
        "maxTokens": 1,
    }


@pytest.mark.parametrize(
    ("params", "offered", "why"),
    [
        (said(TEXT), {"sampling": {}}, ""),
        ({**said(TEXT), "tools": TOOLS}, {"sampling": {}}, "does not offer sampling.tools"),
        ({**said(TEXT), "toolChoice": {"mode": "auto"}}, {"sampling": {}}, "does not offer sampling.tools"),
        ({**said(TEXT), "tools": TOOLS}, WITH_TOOLS, ""),
        (said(TEXT, USE, RESULT), WITH_TOOLS, ""),
        (said(TEXT, [TEXT, USE], [RESULT]), WITH_TOOLS, ""),
        (said(TEXT, USE, [RESULT, TEXT]), WITH_TOOLS, "holds something else"),
        (said(TEXT, USE, TEXT), WITH_TOOLS, "has no tool result"),
        (said(TEXT, [USE, {**USE, "id": "2"}], RESULT), WITH_TOOLS, "has no tool result"),
        (said(TEXT, USE), WITH_TOOLS, ""),
        ({"messages": "odd"}, WITH_TOOLS, ""),
        ({"messages": [None, {"content": [1]}]}, WITH_TOOLS, ""),
        (None, WITH_TOOLS, ""),
    ],
)
def test_requests_that_break_the_rules_of_tools_are_refused(params: Any, offered: Any, why: str) -> None:
    assert (why in refusal(params, offered)) if why else refusal(params, offered) == ""


def test_a_request_that_breaks_them_is_answered_as_invalid_even_if_somebody_is_there() -> None:
    held = "sampling/createMessage"
    talk = Talk(policy=Policy(held=[held]), capabilities=WITH_TOOLS)
    talk.ready()
    (answer,) = sent(talk.ask(1, held, said(TEXT, USE, TEXT)))
    assert answer["error"]["code"] == -32602


def answer(content: Any, **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "model": "m", "content": content, **more}


ASKED = {**said(TEXT), "tools": TOOLS}


@pytest.mark.parametrize(
    ("params", "result", "why"),
    [
        (said(TEXT), answer(TEXT), ""),
        (said(TEXT), answer([TEXT, TEXT]), ""),
        (said(TEXT), answer({"type": "image", "data": "", "mimeType": "x/y"}), ""),
        (said(TEXT), answer({"type": "resource", "resource": {}}), "does not answer with"),
        (said(TEXT), answer([]), "is no block"),
        (said(TEXT), answer({"type": "text"}), "has no text"),
        (said(TEXT), {"content": TEXT, "model": "m", "role": "user"}, "not assistant"),
        (said(TEXT), {"content": TEXT, "role": "assistant"}, "not named"),
        (said(TEXT), "x", "no JSON object"),
        (said(TEXT), answer(USE), "no tool add was given"),
        (ASKED, answer(USE, stopReason="toolUse"), ""),
        (ASKED, answer([TEXT, USE]), ""),
        (ASKED, answer(USE, stopReason="endTurn"), "stopReason is toolUse"),
        (ASKED, answer([USE, USE]), "same id"),
        (ASKED, answer({**USE, "input": 1}), "needs an id"),
        ({**ASKED, "toolChoice": {"mode": "none"}}, answer(USE), "forbids"),
        ({**ASKED, "toolChoice": {"mode": "required"}}, answer(TEXT), "wants a tool"),
    ],
)
def test_an_answer_is_held_against_its_request(params: Any, result: Any, why: str) -> None:
    faults = result_faults(params, result)
    assert any(why in fault for fault in faults) if why else faults == []
