"""Rules: what they are meant for, what they answer, and when they are passed over."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.core.talk import Talk, every, sent
from workbench.core.actions import PeerRequest, Remarked, Send
from workbench.core.policy import Policy
from workbench.core.question import Question
from workbench.core.rules import Rule, rule_from, rule_like

OFFERED: dict[str, Any] = {"roots": {}, "sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}}}
NAME = {
    "message": "What is your name?",
    "requestedSchema": {
        "type": "object",
        "properties": {"name": {"type": "string", "minLength": 2, "default": "Ada"}},
        "required": ["name"],
    },
}
SAMPLING = {"messages": [{"role": "user", "content": {"type": "text", "text": "Say hello"}}], "maxTokens": 9}


def talk_with(*rules: Rule, held: tuple[str, ...] = ()) -> Talk:
    talk = Talk(policy=Policy(rules=rules, held=held), capabilities=OFFERED)
    talk.start()
    talk.reply(
        1,
        {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "serverInfo": {"name": "weather", "version": "1"},
        },
    )
    return talk


def answer(talk: Talk, method: str, params: Any = None) -> Any:
    (message,) = sent(talk.ask(1, method, params))
    return message.get("result", message.get("error"))


@pytest.mark.parametrize(
    ("rule", "method", "params", "expected"),
    [
        (
            "elicitation/create=defaults",
            "elicitation/create",
            NAME,
            {"action": "accept", "content": {"name": "Ada"}},
        ),
        ("elicitation=decline", "elicitation/create", NAME, {"action": "decline"}),
        ("elicitation=cancel", "elicitation/create", NAME, {"action": "cancel"}),
        (
            'elicitation={"action":"accept","content":{"name":"Zoe"}}',
            "elicitation/create",
            NAME,
            {"action": "accept", "content": {"name": "Zoe"}},
        ),
        ('roots={"roots":[{"uri":"file:///x"}]}', "roots/list", None, {"roots": [{"uri": "file:///x"}]}),
        (
            "sampling=text:Hello = you",
            "sampling/createMessage",
            SAMPLING,
            {
                "role": "assistant",
                "content": {"type": "text", "text": "Hello = you"},
                "model": "written by hand",
                "stopReason": "endTurn",
            },
        ),
    ],
)
def test_a_rule_answers_as_it_says(rule: str, method: str, params: Any, expected: Any) -> None:
    assert answer(talk_with(rule_from(rule)), method, params) == expected


@pytest.mark.parametrize("word", ["decline", "cancel", "reject"])
def test_refused_sampling_is_the_protocols_error(word: str) -> None:
    assert answer(talk_with(rule_from(f"sampling={word}")), "sampling/createMessage", SAMPLING)["code"] == -1


def test_a_rule_comes_before_the_inbox_and_is_told_as_a_rule() -> None:
    talk = talk_with(Rule("elicitation", "decline", name="never"), held=("elicitation/create",))
    actions = talk.ask(1, "elicitation/create", NAME)
    assert [each.held for each in every(PeerRequest, actions)] == [False]
    assert [each.about for each in every(Send, actions)] == ["rule never"]


def test_a_result_that_does_not_fit_what_was_asked_goes_to_the_next_handler_with_a_remark() -> None:
    wrong = rule_from('elicitation={"action":"accept","content":{"name":"Z"}}')
    talk = talk_with(wrong, held=("elicitation/create",))
    actions = talk.ask(1, "elicitation/create", NAME)
    assert [each.held for each in every(PeerRequest, actions)] == [True]
    (remark,) = every(Remarked, actions)
    assert "does not fit elicitation/create: name needs at least 2 characters" in remark.text
    assert not every(Send, actions)


def test_the_first_rule_that_fits_answers() -> None:
    wrong = rule_from('elicitation={"action":"accept","content":{}}')
    talk = talk_with(wrong, rule_from("elicitation=defaults"), rule_from("elicitation=decline"))
    assert answer(talk, "elicitation/create", NAME)["action"] == "accept"


def test_a_rule_never_answers_what_was_not_offered() -> None:
    talk = Talk(policy=Policy(rules=[rule_from("sampling=text:x")]), capabilities={})
    talk.ready()
    assert answer(talk, "sampling/createMessage", SAMPLING)["code"] == -32601


def test_defaults_do_not_consent_to_a_url() -> None:
    talk = talk_with(rule_from("elicitation=defaults"))
    url = {"mode": "url", "url": "https://x.org", "elicitationId": "1", "message": "?"}
    assert answer(talk, "elicitation/create", url) == {"action": "decline"}


@pytest.mark.parametrize(
    ("filters", "meant"),
    [
        ("message=*NAME*", True),
        ("message=name", False),
        ("server=weather", True),
        ("server=other", False),
        ("tool=ask_*", True),
        ("tool=other", False),
        ("tool=ask_*,message=*name*,server=w*", True),
        ("tool=ask_*,message=*name*,server=x*", False),
    ],
)
def test_filters_look_at_the_message_the_tool_that_runs_and_the_server(filters: str, meant: bool) -> None:
    talk = talk_with(rule_from(f"elicitation/create[{filters}]=defaults"))
    talk.call(params='{"name":"ask_for_name"}')
    assert (answer(talk, "elicitation/create", NAME)["action"] == "accept") is meant


def test_a_request_on_a_calls_own_stream_belongs_to_that_call_alone() -> None:
    from workbench.core.jsonrpc import decode

    talk = talk_with(rule_from("elicitation[tool=other]=defaults"))
    mine = talk.call(params='{"name":"ask_for_name"}')
    talk.call(params='{"name":"other"}')
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": NAME}).encode()
    actions = talk.conversation.receive(decode(body), 9, 0.0, str(mine))
    assert sent(actions)[0]["result"] == {"action": "decline"}


def test_a_request_within_a_task_belongs_to_the_call_that_was_made_that_task() -> None:
    talk = talk_with(rule_from("elicitation[tool=research]=defaults"))
    talk.reply(talk.call(params='{"name":"research"}'), {"task": {"taskId": "t"}})
    talk.call(params='{"name":"other"}')
    assert answer(talk, "elicitation/create", NAME)["action"] == "decline"
    related = {"_meta": {"io.modelcontextprotocol/related-task": {"taskId": "t"}}}
    assert answer(talk, "elicitation/create", NAME | related)["action"] == "accept"


def test_the_message_of_sampling_is_its_last_one() -> None:
    assert Question("sampling/createMessage", SAMPLING).message == "Say hello"
    assert Question("sampling/createMessage", {"messages": [3]}).message == ""


def test_an_answer_of_the_inbox_can_be_given_always() -> None:
    question = Question("elicitation/create", NAME)
    rule = rule_like(question, '{"action":"decline"}', tool="ask_*")
    assert (rule.method, rule.tool) == ("elicitation/create", "ask_*")
    assert rule.reply(question)[0].result == '{"action":"decline"}'
    assert rule_like(Question("sampling/createMessage", SAMPLING), None).answer == "reject"


@pytest.mark.parametrize(
    "text",
    [
        "elicitation/create",
        "tools/call=decline",
        "ping={}",
        "sampling=defaults",
        "elicitation=text:x",
        "roots=text:x",
        "elicitation=perhaps",
        "elicitation=[1]",
        "elicitation={",
        "elicitation[colour=x]=decline",
        "elicitation[tool]=decline",
        "=decline",
    ],
)
def test_a_rule_that_could_answer_nothing_is_refused_in_words(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not|is no|'defaults' is|is an answer"):
        rule_from(text)
