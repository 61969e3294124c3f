"""What a user says of correlation: followed from place to place, or never; and what is followed, shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import workbench
from tests.replay.build import Live, Tape, call, request, result, text
from tests.replay.serving import saved
from workbench.errors import UsageError
from workbench.replay.client import MockClient
from workbench.replay.client_script import build
from workbench.replay.correlate import NO_RULES, Rules, parse_follow, parse_never
from workbench.replay.followable import followable
from workbench.replay.manner import Manner


def order(number: Any) -> Tape:
    tape = (
        Tape()
        .hello()
        .c(call(2, "order"))
        .s(result(2, structuredContent={"id": number, "in": {"place": "x"}}))
    )
    return tape.c(call(3, "pay", order=number, other=number)).s(text(3, "paid"))


def sent(tape: Tape, rules: Rules, answer: dict[str, Any]) -> dict[str, Any]:
    """What the client sends as its second call when the first is answered like this."""
    client = MockClient(build(tape.frames), Manner(correlations=rules))
    client.next()
    said = client.opened(1)
    bodies: list[Any] = []
    for _ in range(10):
        asked = [json.loads(getattr(each, "body", b"{}")) for each in said]
        bodies += asked
        said = []
        for each in asked:
            if each.get("method") == "initialize":
                said += client.feed(tape.frames[1].body.replace(b'"id":1', b'"id":%d' % each["id"]))
            elif each.get("params", {}).get("name") == "order":
                said += client.feed(json.dumps(result(each["id"], **answer)).encode())
    pay = next(each for each in bodies if each.get("params", {}).get("name") == "pay")
    arguments: dict[str, Any] = pay["params"]["arguments"]
    return arguments


def test_a_number_is_followed_only_where_it_is_said() -> None:
    answer = {"structuredContent": {"id": 8, "in": {"place": "x"}}}
    assert sent(order(7), NO_RULES, answer) == {"order": 7, "other": 7}
    rules = Rules((parse_follow("/structuredContent/id=/arguments/order"),))
    assert sent(order(7), rules, answer) == {"order": 8, "other": 7}


def test_a_short_string_too() -> None:
    rules = Rules((parse_follow("/structuredContent/id=/arguments/other"),))
    answer = {"structuredContent": {"id": "b", "in": {"place": "x"}}}
    assert sent(order("a"), rules, answer) == {"order": "a", "other": "b"}


@pytest.mark.parametrize("pointer", ["/structuredContent/id", "/structuredContent/*", "/*/id"])
def test_what_would_be_followed_is_not_where_that_is_said(pointer: str) -> None:
    answer = {"structuredContent": {"id": "order-0002-of-today", "in": {"place": "x"}}}
    followed = {"order": "order-0002-of-today", "other": "order-0002-of-today"}
    assert sent(order("order-0001-of-today"), NO_RULES, answer) == followed
    kept = {"order": "order-0001-of-today", "other": "order-0001-of-today"}
    assert sent(order("order-0001-of-today"), Rules(never=(parse_never(pointer),)), answer) == kept


def test_a_mock_server_follows_what_its_client_sent() -> None:
    tape = Tape().hello().c(call(2, "t", n=1)).s(result(2, structuredContent={"was": 1}))
    rules = Rules((parse_follow("/arguments/n=/structuredContent/was"),))
    live = Live(tape, match="name", correlations=rules)
    live.hello()
    assert live.say(call(9, "t", n=55)) == [result(9, structuredContent={"was": 55})]


@pytest.mark.parametrize("wrong", ["", "/a", "/a=b", "a=/b"])
def test_what_is_no_rule_is_told(wrong: str) -> None:
    with pytest.raises(UsageError, match="FROM=TO"):
        parse_follow(wrong)
    with pytest.raises(UsageError, match="begins with /"):
        parse_never(wrong.lstrip("/"))


def test_what_is_followed_is_shown_with_who_gave_it_and_who_used_it(tmp_path: Path) -> None:
    tape = order("order-0001-of-today").c(request(4, "tools/list", cursor="p2")).s(result(4, tools=[]))
    (found,) = followable(tape.frames, NO_RULES)
    assert (found.seq, found.pointer, found.used) == (5, "/structuredContent/id", (6,))
    assert followable(tape.frames, Rules(never=(parse_never("/structuredContent/id"),))) == []
    rules = Rules((parse_follow("/structuredContent/in/place=/arguments/x"),))
    assert len(followable(order("x").frames, rules)) == 1
    path = saved(tape, tmp_path / "a.db")
    shown = workbench("sessions", "show", str(path), "--correlations").stdout
    assert "/structuredContent/id" in shown
    data = json.loads(workbench("sessions", "show", str(path), "--correlations", "--json").stdout)
    assert data["sessions"][0]["correlations"][0]["used"] == [6]
    done = workbench("sessions", "edit", str(path), "--no-correlate", "/structuredContent/id")
    assert done.returncode == 0, done.stderr
    assert "Nothing is followed" in workbench("sessions", "show", str(path), "--correlations").stdout
