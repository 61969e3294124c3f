"""What a server asks is answered from the inbox by exactly what the wire line shows."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.servers.targets import server
from tests.tui.at_work import AtWork, at_work, demo_target
from tests.tui.questions import (
    EVERY_KIND,
    call,
    elicit,
    elicit_url,
    needs_links,
    sample,
    sample_all,
    target,
)
from workbench.config import Target
from workbench.core.frame import Direction, Kind
from workbench.core.jsonrpc import dumps
from workbench.tui.panes.inbox import InboxPane

pytestmark = pytest.mark.anyio

INBOX = ["right_square_bracket"] * 5


async def heard(work: AtWork) -> list[dict[str, Any]]:
    """What the server has heard in its call, when that is over."""
    await work.until(lambda: work.desk.runs.recent(1, "tools/call")[0].outcome is not None)
    outcome = work.desk.runs.recent(1, "tools/call")[0].outcome
    assert outcome is not None
    assert outcome.message is not None
    text = outcome.message.members["result"]["content"][0]["text"]
    return [each for each in json.loads(text) if "id" in each]


def pane(work: AtWork) -> InboxPane:
    found = work.main.panes["inbox"]
    assert isinstance(found, InboxPane)
    return found


@asynccontextmanager
async def inbox(
    *steps: dict[str, Any], size: tuple[int, int] = (120, 40), waiting: int = 1, server: Target | None = None
) -> AsyncIterator[AtWork]:
    """A server that has asked, and the inbox in front of the user."""
    async with at_work([server or target()], size=size) as work:
        await work.ready()
        call(work.desk, *steps)
        await work.until(lambda: len(work.desk.inbox) == waiting)
        await work.press(*INBOX)
        await work.until(lambda: len(pane(work).rows.keys) >= waiting)
        yield work


# The demo


async def asked(work: AtWork, tool: str, *keys: str) -> None:
    """Call a tool that asks, and go to the inbox."""
    await work.ready()
    await work.press("slash", *tool, "enter", "enter", *keys, "enter")
    await work.shows("inbox 1")
    await work.press("escape", "escape", *INBOX, "enter")


async def test_the_wire_line_of_an_elicitation_is_the_answer_as_it_is_sent() -> None:
    async with at_work([demo_target()], size=(120, 40)) as work:
        await asked(work, "ask_for")
        await work.press(*"Zoe")
        await work.shows('{"action":"accept","content":{"name":"Zoe","loud":false}}')
        await work.press("enter")
        await work.until(lambda: work.frames(Kind.RESULT, "elicitation/create"))
        body = work.frames(Kind.RESULT, "elicitation/create")[0].body
        assert b'"result":{"action":"accept","content":{"name":"Zoe","loud":false}}' in body


async def test_the_wire_line_of_a_sampling_answer_is_the_message_as_it_is_sent() -> None:
    async with at_work([demo_target()], size=(200, 50)) as work:
        await asked(work, "sample", *"Hi")
        await work.press(*"Hello")
        sent = {
            "role": "assistant",
            "content": {"type": "text", "text": "Hello"},
            "model": "written by hand",
            "stopReason": "endTurn",
        }
        await work.shows(dumps(sent)[:60])
        await work.press("enter")
        await work.until(lambda: work.frames(Kind.RESULT, "sampling/createMessage"))
        answer = json.loads(work.frames(Kind.RESULT, "sampling/createMessage")[0].body)
        assert answer["result"] == sent


# Elicitation by form


@pytest.mark.parametrize("size", [(60, 15), (120, 40)])
async def test_a_form_with_every_kind_of_field_is_filled_in_by_keys(size: tuple[int, int]) -> None:
    step = elicit(7, "All of it, please", ("name",), **EVERY_KIND)
    async with inbox(step, {"answer": 7}, size=size) as work:
        await work.shows("All of it, please")
        await work.press("enter", *"Zoe", "tab", *"z@x.org", "tab", "tab", *"0.5", "tab", "tab", "tab")
        await work.press(*"lar", "tab", *"imp", "tab", *"red", "tab")
        await work.press("down", "space", "down", "space", "tab", "space", "enter")
        [answer] = await heard(work)
        assert answer["result"] == {
            "action": "accept",
            "content": {
                "name": "Zoe",
                "mail": "z@x.org",
                "day": "2026-12-01",
                "ratio": 0.5,
                "count": 3,
                "sure": True,
                "size": "large",
                "unit": "i",
                "colour": "r",
                "tags": ["b", "c"],
                "paint": ["r", "g"],
            },
        }
        assert not work.desk.inbox


async def test_what_the_schema_is_against_is_told_in_its_place_before_it_goes() -> None:
    step = elicit(7, "Count", ("name",), name=EVERY_KIND["name"], count=EVERY_KIND["count"])
    async with inbox(step, {"answer": 7}) as work:
        await work.press("enter", *"Z", "tab", "backspace", *"9", "enter")
        await work.shows("name needs at least 2 characters.", "count must be at most 5.", "sends it as it is")
        assert not work.frames(Kind.RESULT, "elicitation/create")
        await work.press(*"oe", "tab", "backspace", *"4", "enter")
        [answer] = await heard(work)
        assert answer["result"] == {"action": "accept", "content": {"name": "Zoe", "count": 4}}


async def test_an_answer_of_many_that_are_too_many_is_target() -> None:
    step = elicit(7, "Tags", tags=EVERY_KIND["tags"])
    async with inbox(step, {"answer": 7}) as work:
        await work.press("enter", "space", "down", "space", "down", "space", "enter")
        await work.shows("tags takes at most 2 chosen.")
        await work.press("space", "enter")
        [answer] = await heard(work)
        assert answer["result"]["content"] == {"tags": ["b", "c"]}


@pytest.mark.parametrize(("key", "action"), [("d", "decline"), ("c", "cancel")])
async def test_an_elicitation_is_declined_and_cancelled_with_a_key(key: str, action: str) -> None:
    async with inbox(elicit(7, name={"type": "string"}), {"answer": 7}) as work:
        await work.press(key)
        [answer] = await heard(work)
        assert answer["result"] == {"action": action}


async def test_the_whole_answer_is_written_as_json_and_told_to_be_wrong_before_it_goes() -> None:
    async with inbox(elicit(7, name={"type": "string"}), {"answer": 7}) as work:
        await work.press("e")
        form = pane(work).form
        await work.until(lambda: form.by_hand)
        assert json.loads(form.text) == {"action": "accept", "content": {}}
        form.set_text('{"action":"accept","content":{"other":1}}')
        await work.press("ctrl+r")
        await work.shows("Other is not asked for.")
        assert not work.frames(Kind.RESULT, "elicitation/create")
        await work.press("ctrl+r")
        [answer] = await heard(work)
        assert answer["result"] == {"action": "accept", "content": {"other": 1}}


# Elicitation by URL


async def test_a_url_is_shown_whole_with_its_host_and_what_is_doubtful_and_nothing_is_opened() -> None:
    url = f"http://xn--80ak6aa92e.com/{'long/' * 40}end?token=abc"
    step = elicit_url(7, url)
    done = {"send": {"method": "notifications/elicitation/complete", "params": {"elicitationId": "e1"}}}
    async with inbox(step, {"answer": 7}, done, {"hear": "ping"}, size=(80, 24)) as work:
        await work.shows("host", "xn--80ak6aa92e.com", "punycode", "Nothing is opened here")
        shown = "".join(line.strip(" │") for line in work.lines())
        assert url in shown
        source = work.main.source()
        assert source == ("URL", url.encode())
        await work.press("enter", "enter")
        await work.until(lambda: work.frames(Kind.NOTIFICATION, "notifications/elicitation/complete"))
        results = work.frames(Kind.RESULT, "elicitation/create")
        assert json.loads(results[0].body)["result"] == {"action": "accept"}
        await work.shows("done, says the server")


async def test_copying_a_url_goes_to_the_terminals_clipboard(monkeypatch: pytest.MonkeyPatch) -> None:
    step = elicit_url(7, "https://x.org/a")
    async with inbox(step, {"answer": 7}) as work:
        written: list[str] = []
        assert work.app._driver is not None
        monkeypatch.setattr(work.app._driver, "write", written.append)
        await work.press("y")
        copied = base64.b64encode(b"https://x.org/a").decode()
        assert any(copied in each for each in written)


# Sampling


async def test_a_sampling_request_is_shown_with_all_it_holds_edited_and_answered() -> None:
    async with inbox(sample_all(7), {"answer": 7}) as work:
        await work.shows("Be terse", "image, image/png, 3 B", 'uses find {"q":1}', 'result of "u1": nothing')
        await work.shows("small", "speed 0.9", "max tokens 64", "find(", "Finds")
        await work.press("e")
        form = pane(work).form
        use = {"type": "tool_use", "id": "u2", "name": "lose", "input": {}}
        answer = {"role": "assistant", "content": [use], "model": "m", "stopReason": "toolUse"}
        form.set_text(json.dumps(answer))
        await work.press("ctrl+r")
        await work.shows("No tool lose was given to the model.")
        use["name"] = "find"
        form.set_text(json.dumps(answer))
        await work.press("ctrl+r")
        [got] = await heard(work)
        assert got["result"] == answer


async def test_a_sampling_request_is_refused_with_the_error_of_the_protocol() -> None:
    async with inbox(sample(7), {"answer": 7}) as work:
        assert "d reject" in work.text
        await work.press("d")
        [answer] = await heard(work)
        assert answer["error"]["code"] == -1


# Several, and those that are taken back


async def test_each_of_many_requests_is_answered_while_the_others_wait_and_keeps_what_was_typed() -> None:
    steps = [elicit(1, "First", a={"type": "string"}), sample(2, "Second"), elicit(3, "Third")]
    waits = [{"answer": each} for each in (3, 1, 2)]
    async with inbox(*steps, *waits, waiting=3) as work:
        await work.shows("inbox 3", "First", "Second", "Third", "during echo")
        await work.press("enter", *"half", "escape", "escape", "down", "down", "enter", "enter")
        await work.until(lambda: len(work.desk.inbox) == 2)
        await work.press("up", "up")
        await work.shows('{"action":"accept","content":{"a":"half"}}')
        await work.press("enter", "end", *"way", "enter")
        await work.until(lambda: len(work.desk.inbox) == 1)
        await work.press("d")
        answers: dict[int, Any] = {
            each["id"]: each.get("result", each.get("error")) for each in await heard(work)
        }
        assert answers[1] == {"action": "accept", "content": {"a": "halfway"}}
        assert answers[3] == {"action": "accept", "content": {}}
        assert answers[2]["code"] == -1


async def test_a_request_takes_no_focus_and_shows_a_badge() -> None:
    async with at_work([target()], size=(80, 24)) as work:
        await work.ready()
        before = work.app.focused
        call(work.desk, elicit(1, "Now!"), {"answer": 1})
        await work.shows("inbox 1", "Inbox 1")
        assert work.app.focused is before
        assert work.main.pane_name == "tools"


async def test_of_many_requests_the_one_taken_back_disappears_and_the_call_goes_on() -> None:
    asks = server("asks_while_called", name="asks")
    async with at_work([asks], size=(120, 40)) as work:
        await work.ready()
        await work.press("enter", *"take back", "enter")
        await work.until(lambda: work.frames(Kind.NOTIFICATION, "notifications/cancelled"))
        await work.until(lambda: len(work.desk.inbox) == 1)
        await work.press("escape", "escape", *INBOX)
        await work.shows("inbox 1", "Name?", "waits")
        await work.press("enter", "enter")
        await work.until(lambda: not work.desk.runs.open())
        results = [
            frame
            for frame in work.frames(Kind.RESULT, "tools/call")
            if frame.direction is Direction.TO_CLIENT
        ]
        answers = json.loads(json.loads(results[0].body)["result"]["content"][0]["text"])
        assert answers["ask"] == {"action": "accept", "content": {}}
        assert answers["5"] == {}
        assert answers["4"]["code"] == -32601


async def test_a_request_taken_back_under_the_users_hands_says_so_and_keeps_what_was_typed() -> None:
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": 7, "reason": "too late"}}
    steps = [elicit(7, "Name?", name={"type": "string"}), {"answer": 8}, {"send": cancelled}]
    async with inbox(elicit(8, "Go on?"), *steps, waiting=2) as work:
        await work.press("down", "enter", *"Zoe")
        waiting = next(each for each in work.desk.inbox if each.id == "8")
        work.desk.answer(waiting, '{"action":"cancel"}')
        await work.shows("The server took it back: too late", "What was filled in is kept", "gone")
        assert not work.desk.inbox
        source = work.main.source()
        assert source == ("answer", b'{"action":"accept","content":{"name":"Zoe"}}')
        await work.press("enter")
        await work.shows("Nobody waits for this answer any more")
        await work.press("escape", "escape")
        await work.shows("no server asks for anything")
        answered = work.frames(Kind.RESULT, "elicitation/create")
        assert [json.loads(each.body)["id"] for each in answered] == [8]


async def test_a_connection_that_ends_takes_its_requests_along_and_leaves_the_others() -> None:
    async with at_work([target("one"), target("two")], size=(120, 40)) as work:
        await work.ready(2)
        call(work.desk, elicit(1, "From one"), {"answer": 1})
        call(work.desk, elicit(1, "From two"), {"answer": 1}, connection=2)
        await work.shows("inbox 2")
        await work.press(*INBOX)
        work.desk.disconnect(1)
        await work.until(lambda: [each.connection for each in work.desk.inbox] == [2])
        await work.shows("inbox 1", "From two")
        await work.until(lambda: "From one" not in work.text)


# Roots


async def test_roots_are_told_at_once_or_asked_for_and_changed() -> None:
    async with at_work([target(roots=({"uri": "file:///a"},))], size=(120, 40)) as work:
        await work.ready()
        work.main.do_hold_roots()
        call(work.desk, {"send": {"id": 5, "method": "roots/list"}}, {"answer": 5})
        await work.until(lambda: len(work.desk.inbox) == 1)
        await work.press(*INBOX)
        await work.shows("asks for the roots", '"uri": "file:///a"')
        form = pane(work).form
        await work.press("enter")
        form.set_text('{"roots":[{"uri":"http://x"}]}')
        await work.press("ctrl+r")
        await work.shows("A root is an object with a file:// uri.")
        form.set_text('{"roots":[{"uri":"file:///b"}]}')
        await work.press("ctrl+r")
        [answer] = await heard(work)
        assert answer["result"] == {"roots": [{"uri": "file:///b"}]}


async def test_changing_the_roots_tells_the_server() -> None:
    async with at_work([target(roots=({"uri": "file:///a"},))], size=(120, 40)) as work:
        await work.ready()
        await work.press(*["right_square_bracket"] * 4, "R")
        await work.shows("roots", "file:///a")
        await work.press("end", *" /b", "enter")
        await work.until(lambda: work.frames(Kind.NOTIFICATION, "notifications/roots/list_changed"))
        assert work.desk.roots(1) == ["file:///a", "file:///b"]


# Rules


async def test_a_rule_made_of_an_answer_answers_from_then_on_and_is_told_and_removed() -> None:
    steps = [step for id in (1, 2) for step in (elicit(id, "Name?", name={"type": "string"}), {"answer": id})]
    async with inbox(*steps) as work:
        await work.press("enter", *"Zoe", "escape", "R")
        await work.shows("Always answer so?", "while echo runs", "when it says this")
        await work.press("m")
        answers = await heard(work)
        wanted = {"action": "accept", "content": {"name": "Zoe"}}
        assert [each["result"] for each in answers] == [wanted, wanted]
        remarks = work.desk.runs.recent(1, "tools/call")[0].remarks
        assert len([each for each in remarks if "by rule" in each]) == 2
        notes = work.frames(Kind.NOTE)
        assert any(b'"by": "rule' in each.body or b'"by":"rule' in each.body for each in notes)
        await work.shows("rules that answer", "answered by rule")
        await work.press("d")
        await work.until(lambda: not work.desk.rules)
        call(work.desk, elicit(1, "Name?"), {"answer": 1})
        await work.until(lambda: len(work.desk.inbox) == 1)


async def test_a_rule_can_decline_for_good() -> None:
    steps = [step for id in (1, 2) for step in (sample(id), {"answer": id})]
    async with inbox(*steps) as work:
        await work.press("R")
        await work.shows("not right yet", "d reject every sampling")
        await work.press("d")
        assert [each["error"]["code"] for each in await heard(work)] == [-1, -1]


# The stateless era


async def test_what_a_result_asks_is_answered_and_the_call_is_sent_again_with_it() -> None:
    async with at_work([server("stateless", name="new", era="modern")], size=(120, 40)) as work:
        await work.ready()
        params = dumps({"name": "ask", "arguments": {"who": "Ann"}})
        work.desk.call(1, "ask", "tools/call", params)
        await work.until(lambda: len(work.desk.inbox) == 1)
        await work.press(*INBOX)
        await work.shows("Ann?", "during ask")
        await work.press("enter", *"yes", "enter")
        await work.until(lambda: not work.desk.runs.open())
        second = json.loads(work.sent("tools/call")[1])["params"]
        assert second["inputResponses"]["name"] == {"action": "accept", "content": {"n": "yes"}}
        assert second["requestState"] == "one of Ann"


# In a call's result


async def test_what_a_rule_answered_stands_with_the_calls_result() -> None:
    rule = {"method": "sampling/createMessage", "answer": "text:Good day", "name": "greets"}
    async with at_work([target(rules=(rule,))], size=(120, 40)) as work:
        await work.ready()
        call(work.desk, sample(3), {"answer": 3})
        [answer] = await heard(work)
        assert answer["result"]["content"]["text"] == "Good day"
        await work.shows("✓ result")
        await work.press("enter", "tab", "end")
        await work.shows("on the way", "answered sampling/createMessage by rule 'greets'")


async def test_the_urls_that_a_call_needs_opened_are_shown_and_it_is_sent_again() -> None:
    async with at_work([needs_links()], size=(120, 40)) as work:
        await work.ready()
        await work.press("enter", *"[]", "enter")
        await work.shows(
            "error -32042", "http://x.org/in", "host: x.org", "It is not encrypted", "Log in first"
        )
        await work.shows("open this yourself if you trust it, then r sends the call again")
        await work.press("escape", "escape", "r")
        await work.until(lambda: len(work.sent("tools/call")) == 2)
        first, second = (json.loads(each)["params"] for each in work.sent("tools/call"))
        assert first["arguments"] == second["arguments"] == {"text": "[]"}
