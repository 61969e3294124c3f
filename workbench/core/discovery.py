"""Asking a server what it is, and what its answer means for the connection.

``server/discover`` is asked once, or twice where the server names another
version for it. With ``probing`` the era itself is in question, so the answer is
waited for only so long, and one that does not speak for the stateless era ends
the asking. Where the era was chosen, any answer will do: what it does not say
is not known, and that is told. Where nothing comes that could be an answer, there
is no server.

Source: "Versioning" and "Discovery", 2026-07-28.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from workbench.core.actions import EraFound, sentence
from workbench.core.frame import Kind
from workbench.core.handshake import listed
from workbench.core.jsonrpc import Message
from workbench.core.lifecycle import Event
from workbench.core.methods import STATELESS_REVISIONS, has_capability
from workbench.core.peek import peek
from workbench.core.probing import Patience, has_handshake, judge
from workbench.core.routing import META

DISCOVER = "server/discover"


class Server(NamedTuple):
    """What a server says of itself; empty where it says nothing readable."""

    info: Any = None
    capabilities: dict[str, Any] = {}  # noqa: RUF012 - never written to
    instructions: str | None = None


class Found(NamedTuple):
    """What follows from an answer. ``era`` is set when the era is known by it, ``version`` is the
    revision to speak, ``again`` tells to ask once more with it. Otherwise ``event`` is what happens
    to the connection, with ``why`` and ``next``; ``remark`` is a sentence about an odd answer."""

    era: EraFound | None = None
    version: str | None = None
    again: bool = False
    event: Event | None = None
    why: str = ""
    next: str = ""
    remark: str = ""
    server: Server = Server()


class Discovery:
    """The asking of one connection. ``id`` is that of the request, once it was sent."""

    def __init__(self, speak: Sequence[str], require: Sequence[str], probing: bool) -> None:
        self.id: int | None = None
        self.probing = probing
        self._speak = speak
        self._require = require
        self._patience: Patience | None = None
        self._again = False

    def timeout(self, usual: float) -> float:
        """How long the request itself may take: a probe ends by other rules."""
        return math.inf if self.probing else usual

    def begun(self, now: float) -> None:
        self._patience = Patience(now) if self.probing else None

    def heard(self, now: float) -> None:
        """The peer has shown a sign of life."""
        if self._patience is not None:
            self._patience.heard(now)

    @property
    def deadline(self) -> float | None:
        """When the waiting for a probe is over."""
        return None if self._patience is None else self._patience.deadline

    def over(self) -> None:
        """Nothing is waited for any more."""
        self._patience = None

    def expired(self, now: float) -> EraFound | None:
        """Take the time: whether a probe was waited for long enough."""
        if self._patience is None or now < self._patience.deadline:
            return None
        found = EraFound("legacy", f"the server {self._patience.why}")
        self.over()
        return found

    def unanswered(self, why: str) -> Found:
        """There will be no answer."""
        self.over()
        if self.probing:
            return Found(EraFound("legacy", f"the server did not answer {DISCOVER}: {why}"))
        return Found(event=Event.LOST, why=f"{DISCOVER} was not answered: {why}")

    def answered(self, message: Message, status: int | None) -> Found:
        """Take the answer, whatever it is; ``status`` is its HTTP status."""
        finding = judge(message, self._speak, status)
        self.over()
        if finding.era == "legacy" and self.probing:
            return Found(EraFound("legacy", f"the server {finding.found}"))
        if finding.again and not self._again:
            self._again = True
            return Found(version=finding.version, again=True)
        era = EraFound("modern", f"the server {finding.found}")
        if finding.names and finding.version is None:
            why = f"The server speaks {listed(finding.names[:10])}, and we speak {listed(self._speak)}."
            return Found(era, event=Event.MISMATCHED, why=why, next=_next_step(finding.names))
        wrong = sentence(f"The server {finding.found}") if finding.era == "legacy" else ""
        found = Found(era, finding.version, remark=finding.remark or wrong, server=_server(message))
        missing = [name for name in self._require if not has_capability(found.server.capabilities, name)]
        if missing:
            why = f"The server does not offer {listed(missing)}, which this connection requires."
            step = "Connect without requiring it, or use a server that offers it."
            return found._replace(event=Event.LACKING, why=why, next=step)
        return found._replace(event=Event.DISCOVERED)


def _server(message: Message) -> Server:
    result = peek(message, "result") if message.kind is Kind.RESULT else None
    said = result if isinstance(result, dict) else {}
    capabilities, instructions = said.get("capabilities"), said.get("instructions")
    return Server(
        peek(message, "result", "_meta", META + "serverInfo"),
        capabilities if isinstance(capabilities, dict) else {},
        instructions if isinstance(instructions, str) else None,
    )


def _next_step(names: Sequence[str]) -> str:
    if any(name in STATELESS_REVISIONS for name in names):
        return "Connect again."
    if any(map(has_handshake, names)):
        return "Connect with --era legacy."
    return f"Name it with --protocol-version {names[-1]}, or use another release of the server."
