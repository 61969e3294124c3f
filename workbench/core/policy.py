"""What is answered to a request of the peer without asking anybody.

A server must never hang because nobody is there: what we did not offer is
refused, a rule of the user's comes next, what needs a person is held only when
somebody said they would answer, and everything else is answered or declined at
once ("Sampling", "Elicitation", "Roots"; error -1 is the protocol's word for a
refused sampling request).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from workbench.core import sampling
from workbench.core.jsonrpc import dumps
from workbench.core.methods import has_capability
from workbench.core.question import Decision, Question, Reply
from workbench.core.received import ReceivedTasks
from workbench.core.rules import USER_REJECTED, Rule

#: Requests a person (or a rule) can answer, and the capability that offers it.
ASKING = {
    "roots/list": "roots",
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
}

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602

#: What a request is answered with that nobody is asked about.
REFUSALS = (METHOD_NOT_FOUND, INVALID_PARAMS)


class Policy:
    """Answers to requests of the peer.

    A request goes to the ``rules`` in their order, then to somebody outside if its method is
    ``held``, and is answered or declined at once otherwise. What we never offered reaches none of
    them. ``roots`` are the roots of ``roots/list`` as JSON objects. ``roots/list`` may be held
    too; ``ping`` never is. ``tasks`` are the requests that the peer made tasks.
    """

    def __init__(
        self,
        *,
        roots: Sequence[Mapping[str, Any]] = (),
        held: Collection[str] = (),
        rules: Sequence[Rule] = (),
        tasks: ReceivedTasks | None = None,
    ) -> None:
        self.roots = list(roots)
        self.held = frozenset(held)
        self.rules = list(rules)
        self.tasks = tasks or ReceivedTasks()

    def decide(self, question: Question, offered: Mapping[str, Any]) -> Decision:
        """Who answers a request, and what. ``offered`` are our capabilities."""
        refused = self._refused(question, offered)
        if refused is not None:
            return Decision(refused)
        reply, remarks = self._ruled(question)
        if reply is None and question.method not in self.held:
            reply = self._at_once(question.method)
        return Decision(reply, remarks)

    def _refused(self, question: Question, offered: Mapping[str, Any]) -> Reply | None:
        """The answer to what nobody is asked about: a ping, and what we did not offer."""
        method, params = question.method, question.params
        if method == "ping":
            return Reply("ping", "{}")
        capability = ASKING.get(method)
        if capability is None:
            return Reply("unknown method", None, METHOD_NOT_FOUND, f"Method not found: {method}")
        if not has_capability(offered, capability):
            return Reply("not offered", None, METHOD_NOT_FOUND, f"The client does not offer {capability}")
        if method == "elicitation/create" and not _mode_offered(params, offered):
            return Reply(
                "mode not offered", None, INVALID_PARAMS, "The client does not offer this mode of elicitation"
            )
        why = sampling.refusal(params, offered) if method == "sampling/createMessage" else ""
        return Reply("invalid", None, INVALID_PARAMS, why) if why else None

    def _ruled(self, question: Question) -> tuple[Reply | None, tuple[str, ...]]:
        """The answer of the first rule that fits, and remarks about those before it that did not."""
        remarks: list[str] = []
        for rule in self.rules:
            if not rule.meant_for(question):
                continue
            reply, faults = rule.reply(question)
            if not faults:
                return reply, tuple(remarks)
            remarks.append(f"the rule {rule.label} does not fit {question.method}: {'; '.join(faults)}")
        return None, tuple(remarks)

    def _at_once(self, method: str) -> Reply:
        if method == "roots/list":
            return Reply("roots", dumps({"roots": self.roots}))
        if method == "elicitation/create":
            return Reply("declined", '{"action":"decline"}')
        return Reply("declined", None, USER_REJECTED, "The user rejected the sampling request")


def _mode_offered(params: Any, offered: Mapping[str, Any]) -> bool:
    """Elicitation by form needs ``form`` or no mode at all in the capability (2025-11-25)."""
    mode = params.get("mode", "form") if isinstance(params, dict) else "form"
    modes = offered.get("elicitation")
    if not isinstance(modes, dict) or (mode == "form" and "url" not in modes):
        return mode == "form"
    return isinstance(mode, str) and has_capability(modes, mode)
