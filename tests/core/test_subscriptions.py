"""Listening: what is asked for, what comes, and how a subscription ends or comes back."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.modern import META, Modern, done
from tests.core.talk import every, only, sent
from workbench.core.actions import Abandon, Relisten, Remarked
from workbench.core.conversation import Completed, Late, Notified
from workbench.core.subscriptions import FIRST_PAUSE, LONGEST_PAUSE

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
TOOLS = "notifications/tools/list_changed"
UPDATED = "notifications/resources/updated"

CHANGING: dict[str, Any] = {
    "tools": {"listChanged": True},
    "prompts": {"listChanged": False},
    "resources": {"listChanged": True, "subscribe": True},
}


def watching(**options: Any) -> tuple[Modern, Any]:
    """A ready conversation that listens to list changes, and the id of its listen request."""
    talk = Modern(**options)
    talk.ready(capabilities=CHANGING)
    (body,) = sent(talk.conversation.watch())
    return talk, body["id"]


def tagged(talk: Modern, method: str, identity: Any, **params: Any) -> Any:
    return talk.tell(method, {**params, "_meta": {META + "subscriptionId": identity}})


def test_every_list_is_listened_to_whose_changes_the_server_tells() -> None:
    talk = Modern()
    talk.ready(capabilities=CHANGING)
    (body,) = sent(talk.conversation.watch())
    assert body["method"] == "subscriptions/listen"
    assert body["params"]["notifications"] == {"toolsListChanged": True, "resourcesListChanged": True}
    assert META + "protocolVersion" in body["params"]["_meta"]
    assert talk.conversation.watch() == []
    assert talk.conversation.next_deadline() is None


@pytest.mark.parametrize(
    "capabilities", [{}, {"tools": {}}, {"tools": {"listChanged": "yes"}}, {"tools": None}]
)
def test_nothing_is_listened_to_where_nothing_is_told(capabilities: Any) -> None:
    talk = Modern()
    talk.ready(capabilities=capabilities)
    assert talk.conversation.watch() == []


def test_changes_are_told_and_what_was_fresh_is_stale() -> None:
    talk, listen = watching()
    id, _ = talk.send("tools/list")
    talk.reply(id, {"resultType": "complete", "tools": [], "ttlMs": 9000, "cacheScope": "public"})
    assert talk.conversation.freshness.is_fresh("tools/list", None, 1.0)
    tagged(talk, ACKNOWLEDGED, listen, notifications={"toolsListChanged": True})
    actions = tagged(talk, TOOLS, listen)
    assert only(Notified, actions).method == TOOLS
    assert not talk.conversation.freshness.is_fresh("tools/list", None, 1.0)


def test_a_notification_with_the_id_in_another_type_counts() -> None:
    talk, listen = watching()
    assert only(Notified, tagged(talk, ACKNOWLEDGED, str(listen))).method == ACKNOWLEDGED
    assert only(Notified, tagged(talk, TOOLS, str(listen))).method == TOOLS


@pytest.mark.parametrize(("method", "identity"), [(TOOLS, 99), (TOOLS, None), (ACKNOWLEDGED, "x")])
def test_what_names_no_subscription_of_ours_is_told(method: str, identity: Any) -> None:
    talk, _ = watching()
    actions = tagged(talk, method, identity)
    assert only(Notified, actions).method == method


def test_acknowledging_late_or_twice_changes_nothing() -> None:
    talk, listen = watching()
    assert only(Notified, tagged(talk, TOOLS, listen)).method == TOOLS
    for _ in range(2):
        assert only(Notified, tagged(talk, ACKNOWLEDGED, listen)).method == ACKNOWLEDGED


def test_several_subscriptions_run_at_once_and_are_told_apart() -> None:
    talk, listen = watching()
    one, _ = talk.send("resources/subscribe", '{"uri":"a:1"}')
    two, body = talk.send("resources/subscribe", '{"uri":"a:2"}')
    assert body["method"] == "subscriptions/listen"
    assert body["params"]["notifications"] == {"resourceSubscriptions": ["a:2"]}
    actions = tagged(talk, ACKNOWLEDGED, two, notifications={"resourceSubscriptions": ["a:2"]})
    assert (only(Completed, actions).id, only(Completed, actions).outcome.how) == (two, "result")
    assert only(Completed, actions).outcome.result == {}
    assert only(Completed, tagged(talk, ACKNOWLEDGED, one)).id == one
    tagged(talk, UPDATED, two, uri="a:2")
    assert len({listen, one, two}) == 3
    assert talk.conversation.next_deadline() is None


def test_a_subscription_that_is_refused_tells_whoever_waits() -> None:
    talk, _ = watching()
    id, _ = talk.send("resources/subscribe", '{"uri":"a:1"}')
    assert only(Completed, talk.fail(id, -32602, "no such resource")).outcome.how == "error"
    again, body = talk.send("resources/subscribe", '{"uri":"a:1"}')
    assert body["id"] == again


def test_a_subscription_that_is_not_acknowledged_in_time_is_given_up() -> None:
    talk, _ = watching()
    id, _ = talk.send("resources/subscribe", '{"uri":"a:1"}')
    actions = talk.tick(60.0)
    assert only(Completed, actions).outcome.how == "timeout"
    assert [body["params"]["requestId"] for body in sent(actions)] == [id]


@pytest.mark.parametrize("own_streams", [False, True])
def test_unsubscribing_ends_the_subscription_the_way_of_the_transport(own_streams: bool) -> None:
    talk = Modern(own_streams=own_streams)
    talk.ready(capabilities=CHANGING)
    id, _ = talk.send("resources/subscribe", '{"uri":"a:1"}')
    tagged(talk, ACKNOWLEDGED, id)
    _, actions = talk.conversation.request("resources/unsubscribe", '{"uri":"a:1"}', 0.0)
    assert only(Completed, actions).outcome.how == "result"
    if own_streams:
        assert only(Abandon, actions).id == str(id)
        assert not sent(actions)
    else:
        assert sent(actions)[0]["params"]["requestId"] == id
    assert only(Late, talk.reply(id, {"resultType": "complete"}))
    _, again = talk.conversation.request("resources/unsubscribe", '{"uri":"a:1"}', 0.0)
    assert "not subscribed" in only(Remarked, again).text


def test_a_lost_stream_is_opened_again_later_each_time() -> None:
    talk, listen = watching(own_streams=True)
    pauses = []
    for _ in range(9):
        told = only(Relisten, talk.conversation.unanswered(str(listen), "The stream broke.", talk.now))
        pauses.append(told.seconds)
        assert talk.conversation.next_deadline() == talk.now + told.seconds
        assert not talk.tick(talk.now + told.seconds - 0.01)
        (body,) = sent(talk.tick(talk.now + 0.01))
        assert body["id"] != listen
        listen = body["id"]
    assert pauses[:3] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]
    assert pauses[-1] == LONGEST_PAUSE
    tagged(talk, ACKNOWLEDGED, listen)
    assert only(Relisten, talk.conversation.unanswered(str(listen), "x", talk.now)).seconds == FIRST_PAUSE


def test_a_subscription_that_the_server_ends_is_not_opened_again() -> None:
    for end in ("result", "cancelled", "error"):
        talk, listen = watching(own_streams=True)
        tagged(talk, ACKNOWLEDGED, listen)
        if end == "result":
            actions = talk.reply(
                listen, {"resultType": "complete", "_meta": {META + "subscriptionId": listen}}
            )
        elif end == "cancelled":
            actions = talk.tell("notifications/cancelled", {"requestId": listen})
        else:
            actions = talk.fail(listen, -32603, "shutting down")
        assert only(Remarked, actions).id is None
        assert talk.conversation.unanswered(str(listen), "The stream ended.", 1.0) == []
        assert talk.conversation.next_deadline() is None


@pytest.mark.parametrize("identity", [99, "2", None])
def test_the_server_may_cancel_nothing_else(identity: Any) -> None:
    talk, _ = watching()
    params = {} if identity is None else {"requestId": identity}
    assert talk.tell("notifications/cancelled", params) == []


def test_a_listen_request_of_a_user_is_a_call_without_an_end_of_its_own() -> None:
    talk, _ = watching()
    id, _ = talk.send("subscriptions/listen", '{"notifications":{"toolsListChanged":true}}')
    assert not every(Completed, tagged(talk, ACKNOWLEDGED, id))
    assert talk.conversation.next_deadline() is None
    tagged(talk, TOOLS, id)
    assert only(Completed, talk.reply(id, done())).outcome.how == "result"
    assert only(Notified, tagged(talk, TOOLS, id)).method == TOOLS


def test_subscriptions_end_with_the_connection() -> None:
    talk, listen = watching(own_streams=True)
    talk.conversation.unanswered(str(listen), "x", 0.0)
    talk.conversation.lost("gone", 1.0)
    assert talk.conversation.next_deadline() is None
