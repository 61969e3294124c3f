"""A conversation of the stateless era in a test."""

from __future__ import annotations

import json
from typing import Any

from tests.core.talk import Talk, sent
from workbench.core.actions import Action
from workbench.core.conversation import Policy, Timeouts
from workbench.core.jsonrpc import decode
from workbench.core.stateless import StatelessConversation

REVISION = "2026-07-28"
META = "io.modelcontextprotocol/"
ALL: dict[str, Any] = {"roots": {}, "sampling": {}, "elicitation": {"form": {}, "url": {}}}
HELD = ("sampling/createMessage", "elicitation/create", "roots/list")
FORM = {"method": "elicitation/create", "params": {"message": "Name?", "requestedSchema": {"type": "object"}}}
SAMPLE = {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}}
ROOTS = {"method": "roots/list"}


class Modern(Talk):
    """A stateless conversation whose peer is the test; see ``Talk``."""

    conversation: StatelessConversation  # type: ignore[assignment]

    def __init__(self, *, policy: Policy | None = None, capabilities: Any = None, **options: Any) -> None:
        self.now = 0.0
        self.seq = 0
        self.conversation = StatelessConversation(
            capabilities=ALL if capabilities is None else capabilities,
            client_info={"name": "bench", "version": "1"},
            policy=policy,
            timeouts=options.pop("timeouts", Timeouts(start=10, request=60, maximum=600)),
            **options,
        )

    def ready(self, capabilities: Any = None, version: str = REVISION) -> list[Action]:
        """Go through discovery; returns the actions on the answer."""
        self.start()
        return self.reply(1, discovered([version], capabilities))

    def hear(self, body: Any, *, status: int | None = None, answers: str | None = None) -> list[Action]:
        self.seq += 1
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.conversation.receive(decode(data), self.seq, self.now, answers, status)

    def send(self, method: str = "tools/call", params: str | None = None, **options: Any) -> tuple[int, Any]:
        """Send a request: its id and the body sent."""
        id, actions = self.conversation.request(method, params, self.now, **options)
        bodies = sent(actions)
        return id, bodies[0] if bodies else None

    def asked(self, identity: int, requests: Any = None, state: Any = None) -> list[Action]:
        """The server answers with a request for input."""
        result: dict[str, Any] = {"resultType": "input_required"}
        result |= {} if requests is None else {"inputRequests": requests}
        result |= {} if state is None else {"requestState": state}
        return self.reply(identity, result)

    def answer(self, id_text: str, result: str | None = None, **more: Any) -> list[Action]:
        return self.conversation.answer(id_text, result, now=self.now, **more)


def discovered(versions: Any = (REVISION,), capabilities: Any = None, **more: Any) -> dict[str, Any]:
    """A ``DiscoverResult``."""
    return {
        "resultType": "complete",
        "supportedVersions": list(versions),
        "capabilities": {"tools": {}} if capabilities is None else capabilities,
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {META + "serverInfo": {"name": "s", "version": "1"}},
        **more,
    }


def done(text: str = "ok") -> dict[str, Any]:
    return {"resultType": "complete", "content": [{"type": "text", "text": text}]}
