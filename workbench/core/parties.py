"""Who talks to whom: what both sides said of themselves, in the handshake or without one."""

from __future__ import annotations

from typing import Any

from workbench.core.jsonrpc import Message
from workbench.core.peek import peek

META = "io.modelcontextprotocol/"

#: Capabilities by the revision that brought them; all others are as old as the protocol.
_SINCE = {"completions": "2025-03-26", "elicitation": "2025-06-18", "tasks": "2025-11-25"}

#: Capability names of one side that are shown; a hostile peer may name more.
MAX_CAPABILITIES = 50


class Parties:
    """What ``initialize`` and its answer said, or ``server/discover`` and the ``_meta`` of requests in
    the stateless era; empty where they said nothing readable."""

    def __init__(self) -> None:
        self.era = ""
        self.offered: str | None = None
        self.revision: str | None = None
        self.client_info: dict[str, Any] = {}
        self.client_capabilities: dict[str, Any] = {}
        self.server_info: dict[str, Any] = {}
        self.server_capabilities: dict[str, Any] = {}
        self.instructions = ""
        self.agreed: tuple[str, ...] = ()

    def asked(self, message: Message) -> None:
        """Take an ``initialize`` request."""
        self.era = "legacy"
        self.offered = _string(peek(message, "params", "protocolVersion")) or None
        self.client_info = _object(peek(message, "params", "clientInfo"))
        self.client_capabilities = _object(peek(message, "params", "capabilities"))

    def answered(self, message: Message) -> None:
        """Take the result of ``initialize``."""
        self.revision = _string(peek(message, "result", "protocolVersion")) or None
        self.server_info = _object(peek(message, "result", "serverInfo"))
        self.server_capabilities = _object(peek(message, "result", "capabilities"))
        self.instructions = _string(peek(message, "result", "instructions"))
        self.agreed = self._agreed()

    def stateless(self, message: Message) -> bool:
        """Take a request of the stateless era, which says who sends it; False for any other."""
        meta = _object(peek(message, "params", "_meta"))
        revision = _string(meta.get(META + "protocolVersion"))
        if not revision:
            return False
        if self.era != "modern" or message.method == "server/discover":
            self.offered = self.offered or revision
            self.client_info = _object(meta.get(META + "clientInfo"))
            self.client_capabilities = _object(meta.get(META + "clientCapabilities"))
        if message.method != "server/discover":
            self.era, self.revision = "modern", revision
            self.agreed = self._agreed()
        return True

    def discovered(self, message: Message) -> None:
        """Take the result of ``server/discover``."""
        self.server_info = _object(peek(message, "result", "_meta", META + "serverInfo"))
        self.server_capabilities = _object(peek(message, "result", "capabilities"))
        self.instructions = _string(peek(message, "result", "instructions"))
        named = peek(message, "result", "supportedVersions")
        if isinstance(named, list) and self.offered in named:
            self.revision = self.offered
            self.agreed = self._agreed()

    def _agreed(self) -> tuple[str, ...]:
        """Top-level capabilities of either side that exist in the agreed revision."""
        names: list[str] = []
        for side in (self.server_capabilities, self.client_capabilities):
            for name, value in list(side.items())[:MAX_CAPABILITIES]:
                known = self.revision is not None and _SINCE.get(name, "") <= self.revision
                if known and value is not None and value is not False and name not in names:
                    names.append(name)
        return tuple(names)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
