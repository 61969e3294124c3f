"""Which subscription a server's message is for ("Subscriptions", 2026-07-28).

What a server tells a listener names the listener's request by its id. A server
that writes the id in another type is understood all the same.
"""

from __future__ import annotations

from workbench.core.exchanges import Opened, Told
from workbench.core.jsonrpc import Message, id_text
from workbench.core.peek import peek
from workbench.replay.cues import Cue

LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

#: The member of ``_meta`` that names the listener.
SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"


class Listeners:
    """The recorded ``subscriptions/listen`` requests by their ids, the newest of each."""

    def __init__(self) -> None:
        self._cues: dict[str, Cue] = {}

    def add(self, id: str, cue: Cue) -> None:
        self._cues[_bare(id)] = cue

    def of(self, message: Message, event: Opened | Told) -> Cue | None:
        """The listener that a message is for, ``None`` if for none."""
        if not self._cues:
            return None
        named = peek(message, "params", "_meta", SUBSCRIPTION)
        if named is None and message.method == "notifications/cancelled" and event.owner is None:
            named = peek(message, "params", "requestId")
        if named is None and event.how == "stream" and event.owner and event.owner.method == LISTEN:
            return self._cues.get(_bare(event.owner.id))
        return None if named is None else self._cues.get(_bare(id_text(named)))


def _bare(id: str) -> str:
    return id.strip('"')
