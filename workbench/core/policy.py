"""What is answered to a request of the peer without asking anybody.

A server must never hang because nobody is there: what we did not offer is
refused, what needs a person is held only when somebody said they would answer,
and everything else is answered or declined at once ("Sampling", "Elicitation",
"Roots"; error -1 is the protocol's word for a refused sampling request).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from workbench.core.jsonrpc import dumps
from workbench.core.methods import has_capability

#: Requests a person (or a rule) can answer, and the capability that offers it.
ASKING = {
    "roots/list": "roots",
    "sampling/createMessage": "sampling",
    "elicitation/create": "elicitation",
}

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
USER_REJECTED = -1


class Reply(NamedTuple):
    """An answer: the JSON text of a result, or an error's code and message; ``by`` says why."""

    by: str
    result: str | None = None
    code: int = 0
    message: str = ""


class Policy:
    """Answers to requests of the peer.

    ``roots`` are the roots of ``roots/list`` as JSON objects. ``held`` names the methods somebody
    outside will answer: those requests wait, unless we never offered the capability. ``roots/list``
    may be held too; ``ping`` never is.
    """

    def __init__(self, *, roots: Sequence[Mapping[str, Any]] = (), held: Collection[str] = ()) -> None:
        self.roots = list(roots)
        self.held = frozenset(held)

    def answer(self, method: str, params: Any, offered: Mapping[str, Any]) -> Reply | None:
        """The answer to give now, ``None`` to wait for one. ``offered`` are our capabilities."""
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
        if method in self.held:
            return None
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
