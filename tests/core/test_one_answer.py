"""Every request of a peer gets exactly one answer, or none after it was taken back or all was over."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.talk import Talk, sent
from tests.examples import many
from workbench.core.actions import Action, PeerCancelled
from workbench.core.jsonrpc import dumps, loads
from workbench.core.policy import Policy
from workbench.core.received import ReceivedTasks
from workbench.core.rules import rule_from

CAPABILITIES = {
    "roots": {},
    "sampling": {"tools": {}},
    "elicitation": {"form": {}, "url": {}},
    "tasks": {"list": {}, "cancel": {}, "requests": {"elicitation": {"create": {}}}},
}
FORM = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}

asked = st.sampled_from(
    [
        ("ping", None),
        ("roots/list", None),
        ("made/up", {"any": "thing"}),
        ("sampling/createMessage", {"messages": [], "maxTokens": 1}),
        ("sampling/createMessage", {"messages": [], "toolChoice": {"mode": "required"}}),
        ("elicitation/create", {"message": "?", "requestedSchema": FORM}),
        ("elicitation/create", {"message": "name", "requestedSchema": FORM}),
        ("elicitation/create", {"mode": "url", "url": "https://x.org", "elicitationId": "1"}),
        ("elicitation/create", {"mode": "odd"}),
        ("elicitation/create", {"message": "?", "requestedSchema": FORM, "task": {"ttl": 5}}),
        ("tasks/list", None),
        ("tasks/get", {"taskId": "-"}),
        ("tasks/result", None),
        ("tasks/cancel", None),
    ]
)
step = st.one_of(
    st.tuples(st.just("ask"), asked),
    st.tuples(st.just("take back"), st.integers(0, 30)),
    st.tuples(st.just("answer"), st.integers(0, 30)),
    st.tuples(st.just("refuse"), st.integers(0, 30)),
    st.tuples(st.just("report"), st.integers(0, 30)),
    st.tuples(
        st.just("rule"), st.sampled_from(["elicitation=defaults", "sampling=text:x", "elicitation=decline"])
    ),
)


class Play:
    """A peer that asks and takes back, and a user who answers, in any order."""

    def __init__(self, held: list[str]) -> None:
        tasks = ReceivedTasks()
        rules = [rule_from("elicitation[message=name]=defaults")]
        self.talk = Talk(policy=Policy(held=held, rules=rules, tasks=tasks), capabilities=CAPABILITIES)
        self.answers: Counter[str] = Counter()
        self.taken_back: set[str] = set()
        self.asked: list[str] = []
        self.tasks: list[str] = []
        self.seen(self.talk.ready())

    def seen(self, actions: list[Action]) -> None:
        for message in sent(actions):
            if "method" in message:
                continue
            self.answers[dumps(message["id"])] += 1
            task = message.get("result", {}).get("task")
            if task:
                self.tasks.append(task["taskId"])
        self.taken_back |= {action.id for action in actions if isinstance(action, PeerCancelled)}

    def do(self, what: str, value: Any) -> None:
        conversation = self.talk.conversation
        if what == "ask":
            method, params = value
            if method in ("tasks/result", "tasks/cancel"):
                params = {"taskId": self.tasks[-1] if self.tasks else "none"}
            self.asked.append(dumps(f"s{len(self.asked)}"))
            self.seen(self.talk.ask(loads(self.asked[-1]), method, params))
        elif what == "rule":
            conversation.policy.rules.insert(0, rule_from(value))
            for id in list(conversation.peer_requests):
                self.seen(conversation.reconsider(id))
        elif self.asked:
            id = self.asked[value % len(self.asked)]
            if what == "take back":
                self.seen(self.talk.tell("notifications/cancelled", {"requestId": loads(id)}))
            elif what == "answer":
                self.seen(conversation.answer(id, '{"any":"thing"}'))
            elif what == "refuse":
                self.seen(conversation.answer(id, error=(-1, "no", None)))
            else:
                self.seen(conversation.report(id, value))


@given(
    st.lists(step, max_size=40), st.sets(st.sampled_from(["sampling/createMessage", "elicitation/create"]))
)
@settings(max_examples=many(400), deadline=None)
def test_every_request_gets_exactly_one_answer_or_none_after_it_was_taken_back(
    script: list[tuple[str, Any]], held: set[str]
) -> None:
    play = Play(sorted(held))
    for what, value in script:
        play.do(what, value)
    open_ = set(play.talk.conversation.peer_requests)
    for id in play.asked:
        if play.answers[id] == 0:
            assert id in open_ or id in play.taken_back
        else:
            assert play.answers[id] == 1
    before = play.answers.copy()
    play.seen(play.talk.conversation.lost("gone"))
    for id in play.asked:
        play.seen(play.talk.conversation.answer(id, "{}"))
    assert play.answers == before, "nothing is answered once the connection is over"
    assert set(play.answers) <= set(play.asked), "nothing is answered that was not asked"
