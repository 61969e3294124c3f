"""Elicitation: what a server may ask the user, and how."""

from __future__ import annotations

from typing import Any

from workbench.check.rule import Rule
from workbench.check.watched import Hooks, Watched, inner, params_of
from workbench.core.exchange import Exchange
from workbench.core.jsonrpc import Message
from workbench.core.methods import REVISIONS

_ELICITATION = "Client features: Elicitation"
_URL = (REVISIONS[3], REVISIONS[4])

ELICITATION_MODE_UNDECLARED = Rule(
    "elicitation-mode-undeclared",
    "error",
    _URL,
    _ELICITATION,
    "The server asks in a mode that the client has not declared.",
    (
        '> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
        '"capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}',
        '< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},'
        '"serverInfo":{"name":"s","version":"1"}}}',
        '> {"jsonrpc":"2.0","method":"notifications/initialized"}',
        '< {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"mode":"url","message":"Log in",'
        '"url":"https://example.com/","elicitationId":"e"}}',
    ),
)
ELICITATION_URL_NOT_HTTPS = Rule(
    "elicitation-url-not-https",
    "info",
    _URL,
    "Client features: Elicitation, Security",
    "The URL that the user is to open is not https.",
    (
        "@ 2025-11-25",
        '< {"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"mode":"url","message":"Log in",'
        '"url":"http://example.com/","elicitationId":"e"}}',
    ),
)

RULES = (ELICITATION_MODE_UNDECLARED, ELICITATION_URL_NOT_HTTPS)


class Elicitation:
    """Looks at each ``elicitation/create``, and (2026-07-28) at those within a result."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        hooks.on_request(self._on_request, "elicitation/create")

    def _on_request(self, _exchange: Exchange, message: Message) -> None:
        look_at_elicitation(self._watched, params_of(message), "/params")


def look_at_elicitation(watched: Watched, params: dict[str, Any], at: str) -> None:
    """Look at the params of an elicitation; ``at`` is the pointer to them."""
    mode = params.get("mode", "form")
    declared = inner(watched.client_capabilities, "elicitation")
    if isinstance(declared, dict) and mode in ("form", "url"):
        # An empty object means forms only (2025-11-25).
        modes = declared if declared.keys() & {"form", "url"} else {"form": {}}
        if mode not in modes:
            watched.found(ELICITATION_MODE_UNDECLARED, f"{at}/mode", str(mode))
    url = params.get("url")
    if mode == "url" and isinstance(url, str) and not url.lower().startswith("https:"):
        watched.found(ELICITATION_URL_NOT_HTTPS, f"{at}/url", url)
