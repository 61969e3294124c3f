"""A conversation in a test, with its clock and the words to feed it."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from workbench.core.conversation import Action, Conversation, Policy, Send, Timeouts
from workbench.core.jsonrpc import decode

_Kind = TypeVar("_Kind")


class Talk:
    """A conversation whose peer is the test. ``now`` is its clock; each call returns the actions."""

    def __init__(self, *, policy: Policy | None = None, capabilities: Any = None, **options: Any) -> None:
        self.now = 0.0
        self.seq = 0
        self.conversation = Conversation(
            capabilities={} if capabilities is None else capabilities,
            client_info={"name": "bench", "version": "1"},
            policy=policy,
            timeouts=options.pop("timeouts", Timeouts(start=10, request=60, maximum=600)),
            **options,
        )

    def start(self) -> list[Action]:
        return self.conversation.start(self.now)

    def ready(self, capabilities: Any = None, version: str = "2025-11-25") -> list[Action]:
        """Go through the handshake; returns the actions on the answer."""
        self.start()
        return self.reply(1, {"protocolVersion": version, "capabilities": capabilities or {}})

    def hear(self, body: Any) -> list[Action]:
        """The peer sends a body: bytes, or a value to be sent as JSON."""
        self.seq += 1
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.conversation.receive(decode(data), self.seq, self.now)

    def reply(self, identity: Any, result: Any) -> list[Action]:
        return self.hear({"jsonrpc": "2.0", "id": identity, "result": result})

    def fail(self, identity: Any, code: int, message: str, data: Any = None) -> list[Action]:
        error = {"code": code, "message": message} | ({} if data is None else {"data": data})
        return self.hear({"jsonrpc": "2.0", "id": identity, "error": error})

    def ask(self, identity: Any, method: str, params: Any = None) -> list[Action]:
        body = {"jsonrpc": "2.0", "id": identity, "method": method}
        return self.hear(body if params is None else {**body, "params": params})

    def tell(self, method: str, params: Any = None) -> list[Action]:
        body = {"jsonrpc": "2.0", "method": method}
        return self.hear(body if params is None else {**body, "params": params})

    def call(self, method: str = "tools/call", params: str | None = None, **options: Any) -> int:
        id, _ = self.conversation.request(method, params, self.now, **options)
        return id

    def tick(self, now: float) -> list[Action]:
        self.now = now
        return self.conversation.tick(now)


def only(kind: type[_Kind], actions: list[Action]) -> _Kind:
    """The one action of a kind; fails if there is none or more than one."""
    (found,) = every(kind, actions)
    return found


def every(kind: type[_Kind], actions: list[Action]) -> list[_Kind]:
    return [action for action in actions if isinstance(action, kind)]


def sent(actions: list[Action]) -> list[Any]:
    """The bodies sent, parsed."""
    return [json.loads(action.body) for action in every(Send, actions)]
