"""What the client half of a connection is in either era: its state, its requests, what is known.

``Conversation`` (handshake) and ``StatelessConversation`` are the two kinds. A
connection holds one of them at a time and treats both alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.core import jsonrpc
from workbench.core.actions import Action, Send, StateChanged
from workbench.core.asked import Asked
from workbench.core.calling import Calling
from workbench.core.frame import ANSWERS, Kind
from workbench.core.jsonrpc import Decoded, Message
from workbench.core.lifecycle import Event, State, advance
from workbench.core.methods import gate_of, has_capability
from workbench.core.pending import Timeouts
from workbench.core.policy import Policy
from workbench.core.question import name_of_server


class ClientHalf:
    """The part of a conversation that does not depend on the era. See ``Conversation`` for the words.

    ``calls`` are the requests of a conversation before this one on the same connection, if there
    was one: ids go on, and its late answers are known as late. ``era`` is ``legacy`` or ``modern``,
    ``era_found`` a sentence that says how it was found out.
    """

    era = ""

    def __init__(
        self,
        *,
        capabilities: Mapping[str, Any],
        client_info: Mapping[str, Any],
        require: Sequence[str],
        policy: Policy | None,
        timeouts: Timeouts | None,
        calls: Calling | None,
        first_id: int,
        state: State,
    ) -> None:
        self.capabilities = dict(capabilities)
        self.client_info = dict(client_info)
        self.require = tuple(require)
        self.timeouts = timeouts or Timeouts()
        self.state = state
        self.era_found = ""
        self.revision: str | None = None
        self.server_info: Any = None
        self.server_capabilities: dict[str, Any] = {}
        self.instructions: str | None = None
        #: The level of log messages last asked for.
        self.log_level: str | None = None
        self.calls = Calling(first_id, self.timeouts) if calls is None else calls
        self._asked = Asked(
            policy or Policy(),
            self.capabilities,
            lambda: name_of_server(self.server_info),
            self.calls.tools,
        )

    @property
    def policy(self) -> Policy:
        return self._asked.policy

    @property
    def peer_requests(self) -> Mapping[str, str]:
        """Requests of the peer that wait for an answer, oldest first: id (JSON text) -> method."""
        return self._asked.methods

    def asked_during(self, id_text: str) -> Sequence[str]:
        """The tools that run while an open request of the peer waits (the one it belongs to, where
        that is known)."""
        waiting = self._asked.open.get(id_text)
        return () if waiting is None else waiting.question.during()

    def offers(self, method: str) -> bool:
        """Whether the server said that it has a method."""
        gate = gate_of(method, self.revision)
        return not gate or has_capability(self.server_capabilities, gate)

    def send_raw(self, body: bytes) -> list[Action]:
        """Send any bytes. Ids of requests in them are noted, so that their answers are no surprise,
        and an answer in them to a request of the peer counts as given."""
        for message in jsonrpc.decode(body).messages:
            if message.id is None:
                continue
            if message.kind is Kind.REQUEST:
                self.calls.remember_raw(message.id)
            elif message.kind in ANSWERS:
                self._asked.open.pop(message.id, None)
        return [Send(body, "raw")]

    def happened(self, event: Event, why: str = "", next_step: str = "") -> list[Action]:
        """Move on in the lifecycle, for events that no message carries."""
        state = advance(self.state, event)
        if state is self.state:
            return []
        self.state = state
        return [StateChanged(state, why, next_step)]

    def reconsider(self, id_text: str, now: float | None = None) -> list[Action]:  # noqa: ARG002
        """Answer an open request of the peer if a rule does so now."""
        return self._asked.reconsider(id_text)

    def report(
        self,
        id_text: str,  # noqa: ARG002 - see Conversation
        progress: float,  # noqa: ARG002
        total: float | None = None,  # noqa: ARG002
        message: str | None = None,  # noqa: ARG002
    ) -> list[Action]:
        """Tell the peer how an open request of its comes on; nothing if it did not ask for that, or
        in an era that has no such thing."""
        return []

    def closing(self) -> list[Action]:
        """We have begun to end the connection; its end will be no failure."""
        return self.happened(Event.CLOSE)

    def lost(self, why: str, now: float | None = None, next_step: str = "") -> list[Action]:
        """The peer is gone: what waits ends at once. ``why`` and ``next_step`` are sentences;
        without ``now`` the lost requests are told to have taken no time."""
        actions = self.happened(Event.ENDED, why, next_step) + self.calls.lost(why, now)
        self._asked.open.clear()
        return actions

    def receive(
        self, decoded: Decoded, seq: int, now: float, answers: str | None = None, status: int | None = None
    ) -> list[Action]:
        """Take a frame of the peer; ``seq`` is its number, ``answers`` the id of the request on whose
        own stream it came and ``status`` that stream's HTTP status. Never raises."""
        if answers is not None and len(decoded.messages) == 1:
            decoded = _addressed(decoded, answers)
        actions: list[Action] = []
        self._asked.within = answers
        for message in decoded.messages:
            actions += self._receive(message, seq, now, status)
        return actions

    def _receive(self, message: Message, seq: int, now: float, status: int | None) -> list[Action]:
        raise NotImplementedError


def _addressed(decoded: Decoded, answers: str) -> Decoded:
    """An error that names no request, or null, is the answer to the request it came back for
    (the envelope allows it where the id could not be read, and servers do so on HTTP)."""
    message = decoded.messages[0]
    if message.kind is Kind.ERROR and message.id in (None, "null"):
        return decoded._replace(messages=(message._replace(id=answers),))
    return decoded
