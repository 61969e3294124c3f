"""A conversation with a hostile peer: it never raises, and what it promises holds all the same."""

from __future__ import annotations

import json
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.hostile import bodies
from tests.core.talk import Talk, every
from tests.examples import many
from workbench.core.conversation import Action, Completed, Policy, Send
from workbench.core.jsonrpc import MAX_MESSAGES, decode

ALL: dict[str, dict[str, bool]] = {"roots": {}, "sampling": {}, "elicitation": {}}


@given(st.lists(bodies, max_size=20), st.booleans())
@settings(max_examples=many(300))
def test_no_frame_raises_and_every_request_ends_once(script: list[bytes], is_ready: bool) -> None:
    talk = Talk(policy=Policy(held=["sampling/createMessage"]), capabilities=ALL)
    actions: list[Action] = talk.ready() if is_ready else talk.start()
    asked = [] if is_ready else [1]
    for body in script:
        talk.now += 1
        id, sends = talk.conversation.request("tools/call", "{}", talk.now)
        asked.append(id)
        actions += [*sends, *talk.hear(body)]
    actions += talk.conversation.lost("gone", talk.now)
    ended = Counter(done.id for done in every(Completed, actions))
    assert all(ended[id] == 1 for id in asked)
    assert talk.conversation.next_deadline() is None


@given(bodies)
@settings(max_examples=many(300))
def test_what_is_sent_is_always_json(body: bytes) -> None:
    talk = Talk(capabilities=ALL)
    for send in every(Send, [*talk.ready(), *talk.hear(body)]):
        json.loads(send.body)


def test_a_notification_is_never_answered() -> None:
    talk = Talk(capabilities=ALL)
    talk.ready()
    for method in ("ping", "roots/list", "vendor/x", "notifications/initialized", ""):
        assert not every(Send, talk.tell(method))


def test_a_batch_of_more_messages_than_are_listed_is_handled_to_that_bound() -> None:
    talk = Talk(capabilities=ALL)
    talk.ready(version="2025-03-26")
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
    body = b"[" + b",".join([ping] * (MAX_MESSAGES + 5)) + b"]"
    assert decode(body).defects == ("too-many",)
    assert len(every(Send, talk.hear(body))) == MAX_MESSAGES
