"""Which conversation is held with a target: the one of the era that was chosen, or found out.

``auto`` begins with ``server/discover`` and goes on with what the answer to it
decides. What was found is remembered for as long as a session lasts, so that
connecting again does not probe a server of the handshake era once more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.config import Root, Target
from workbench.config.targets import default_capabilities
from workbench.core.actions import EraFound
from workbench.core.conversation import Conversation
from workbench.core.methods import LATEST_HANDSHAKE, LATEST_STATELESS, STATELESS_REVISIONS
from workbench.core.policy import Policy
from workbench.core.stateless import StatelessConversation

#: A conversation of either era.
Either = Conversation | StatelessConversation

#: Found eras by what they were found at: a command with its environment, or an address.
Verdicts = dict[tuple[object, ...], str]


class Eras:
    """Makes the conversations of one connection, one after the other.

    ``schema_of`` gives the ``inputSchema`` of a listed tool by its name. ``verdicts`` are shared by
    the connections of a session.
    """

    def __init__(
        self,
        target: Target,
        client_info: dict[str, Any],
        policy: Policy,
        schema_of: Callable[[str], Any],
        verdicts: Verdicts | None = None,
    ) -> None:
        self.target = target
        self.policy = policy
        self._client_info = target.client_info or client_info
        self._schema_of = schema_of
        self._verdicts = {} if verdicts is None else verdicts
        self._timeouts = target.timeouts.plain()
        #: Why there is nothing to find out, as a sentence; empty where there is.
        self.given = given(target)

    def first(self) -> Either:
        """The conversation to begin with."""
        era = chosen(self.target)
        if era == "auto" and self._verdicts.get(place_of(self.target)) == "legacy":
            known = self._legacy(doubt="known")
            known.era_found = "An earlier connection of this session found it."
            return known
        began = self._legacy() if era == "legacy" else self._modern(probing=era == "auto")
        began.era_found = self.given
        return began

    def after(self, found: EraFound, before: Either) -> Either:
        """The conversation that goes on from another one."""
        options = {"calls": before.calls, "state": before.state}
        if found.era != "legacy":
            return self._modern(probing=found.era == "auto", **options)
        late = before.probe if isinstance(before, StatelessConversation) and not found.restart else None
        return self._legacy(doubt="probed", probe=late, **options)

    def settled(self, conversation: Either) -> None:
        """The connection is ready: its era is known."""
        self._verdicts[place_of(self.target)] = conversation.era

    def refuted(self) -> None:
        """What was known of the target's era is not true any more."""
        self._verdicts.pop(place_of(self.target), None)

    def _legacy(self, **more: Any) -> Conversation:
        target = self.target
        return Conversation(
            offer=target.offer,
            capabilities=target.offered_capabilities,
            client_info=self._client_info,
            require=target.require,
            policy=self.policy,
            timeouts=self._timeouts,
            **more,
        )

    def _modern(self, **more: Any) -> StatelessConversation:
        target = self.target
        offer = LATEST_STATELESS if target.offer == LATEST_HANDSHAKE else target.offer
        given = target.capabilities
        return StatelessConversation(
            offer=offer,
            capabilities=default_capabilities(offer) if given is None else without_sessions(given),
            client_info=self._client_info,
            log_level=target.log_level,
            require=target.require,
            policy=self.policy,
            timeouts=self._timeouts,
            own_streams=target.transport == "http",
            schema_of=self._schema_of,
            **more,
        )


def chosen(target: Target) -> str:
    """The era to begin with. Where it is to be found out, but a revision was named or the transport
    is the older one over HTTP, there is nothing to find out."""
    if target.era != "auto":
        return target.era
    if target.transport == "sse":
        return "legacy"
    if target.offer == LATEST_HANDSHAKE:
        return "auto"
    return "modern" if target.offer in STATELESS_REVISIONS else "legacy"


def given(target: Target) -> str:
    """Why the era of a target need not be found out, as a sentence; empty where it must be."""
    if target.era != "auto":
        return "It was asked for."
    if target.transport == "sse":
        return "The transport has no other."
    return "" if chosen(target) == "auto" else f"Revision {target.offer} was asked for."


def without_sessions(capabilities: dict[str, Any]) -> dict[str, Any]:
    """Capabilities without what only a session can have, so that one target fits both eras."""
    fit = {name: value for name, value in capabilities.items() if name != "tasks"}
    roots = fit.get("roots")
    if isinstance(roots, dict) and "listChanged" in roots:
        fit["roots"] = {name: value for name, value in roots.items() if name != "listChanged"}
    return fit


def place_of(target: Target) -> tuple[object, ...]:
    """What a verdict about a server's era holds for."""
    if target.transport == "stdio":
        return ("stdio", target.command, target.args, target.cwd, tuple(sorted(target.env.items(), key=str)))
    return (target.transport, target.url)


def plain(root: Root) -> dict[str, Any]:
    """A root as ``roots/list`` tells it."""
    return root.model_dump(exclude_none=True)
