"""Requests of the peer: answered at once by the policy, or open until somebody answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from workbench.core import jsonrpc
from workbench.core.actions import Action, Odd, PeerCancelled, PeerRequest, Send
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message
from workbench.core.peek import peek
from workbench.core.policy import Policy

#: Requests of the peer that are kept open at once; the oldest beyond it are forgotten unanswered.
MAX_PEER_REQUESTS = 10_000


class Asked:
    """What the peer asks. ``open`` maps the id (JSON text) of each request that waits for an
    answer to its method, oldest first; ``offered`` are our capabilities."""

    def __init__(self, policy: Policy, offered: Mapping[str, Any]) -> None:
        self.policy = policy
        self.offered = offered
        self.open: OrderedDict[str, str] = OrderedDict()

    def take(self, message: Message, seq: int) -> list[Action]:
        """Take a request: it is told, and answered if the policy has an answer."""
        id, method = message.id or "null", message.method or ""
        actions: list[Action] = [Odd("reused-id", seq)] if id in self.open else []
        params = peek(message, "params")
        reply = self.policy.answer(method, params, self.offered)
        keep(self.open, id, method, MAX_PEER_REQUESTS)
        actions.append(PeerRequest(id, method, params, seq, reply is None, message))
        if reply is not None:
            error = None if reply.result is not None else (reply.code, reply.message, None)
            actions += self.answer(id, reply.result, error, f"policy {reply.by}")
        return actions

    def answer(
        self, id_text: str, result: str | None, error: tuple[int, str, str | None] | None, about: str
    ) -> list[Action]:
        """Answer a request, once; nothing if it is not open."""
        if self.open.pop(id_text, None) is None:
            return []
        if error is not None:
            body = jsonrpc.error(id_text, *error)
        else:
            body = jsonrpc.result(id_text, "{}" if result is None else result)
        return [Send(body, about, id_text)]

    def cancelled(self, message: Message, seq: int) -> list[Action]:
        """Take a ``notifications/cancelled``: the peer wants no answer any more."""
        identity = peek(message, "params", "requestId")
        id = None if identity is None else jsonrpc.id_text(identity)
        if id is None or self.open.pop(id, None) is None:
            return [Odd("unknown-cancel", seq)]
        reason = peek(message, "params", "reason")
        return [PeerCancelled(id, reason if isinstance(reason, str) else None, seq)]
