"""Which era, revision and capabilities hold: learned before any check looks."""

from __future__ import annotations

from typing import Any

from workbench.check.watched import META_CAPABILITIES, META_VERSION, STATELESS_FROM, Hooks, Watched
from workbench.core.exchange import Exchange
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.core.peek import peek


class Agreement:
    """Hands on to ``Watched`` what the two sides say of themselves."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        hooks.requests.append(self._on_request)
        hooks.on_answer(self._on_initialized, "initialize")
        hooks.on_answer(self._on_discovered, "server/discover")

    def _on_request(self, exchange: Exchange, message: Message) -> None:
        watched = self._watched
        if watched.from_server:
            return
        if exchange.method == "initialize":
            watched.era, watched.revision, watched.claimed = "legacy", None, None
            watched.client_capabilities = _dict(peek(message, "params", "capabilities"))
            watched.server_capabilities = None
        elif watched.revision is None or watched.modern:
            self._on_meta(peek(message, "params", "_meta"))

    def _on_meta(self, meta: Any) -> None:
        """Every request of the stateless era tells its own version and capabilities (2026-07-28)."""
        watched = self._watched
        version = meta.get(META_VERSION) if isinstance(meta, dict) else None
        if not isinstance(version, str):
            return
        if watched.modern or version >= STATELESS_FROM:
            if version != watched.claimed:
                watched.agree(version, "modern")
            watched.client_capabilities = _dict(meta.get(META_CAPABILITIES))

    def _on_initialized(self, _exchange: Exchange, message: Message) -> None:
        if message.kind is not Kind.RESULT or not self._watched.from_server:
            return
        version = peek(message, "result", "protocolVersion")
        if isinstance(version, str):
            self._watched.agree(version, "legacy")
        self._watched.server_capabilities = _dict(peek(message, "result", "capabilities"))

    def _on_discovered(self, _exchange: Exchange, message: Message) -> None:
        if message.kind is Kind.RESULT and self._watched.from_server:
            self._watched.server_capabilities = _dict(peek(message, "result", "capabilities"))


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
