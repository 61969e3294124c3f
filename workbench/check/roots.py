"""Roots."""

from __future__ import annotations

from typing import Any

from workbench.check.rule import ALL, Rule
from workbench.check.watched import Hooks, Watched, inner, result_of
from workbench.core.exchange import Exchange
from workbench.core.jsonrpc import Message

ROOT_NOT_FILE = Rule(
    "root-not-file",
    "error",
    ALL,
    "Client features: Roots",
    "The URI of a root does not begin with file://; servers refuse it or take it for a path.",
    (
        "@ 2025-11-25",
        '< {"jsonrpc":"2.0","id":1,"method":"roots/list"}',
        '> {"jsonrpc":"2.0","id":1,"result":{"roots":[{"uri":"/home/me"}]}}',
    ),
)

RULES = (ROOT_NOT_FILE,)


class Roots:
    """Looks at each answer to ``roots/list``, and (2026-07-28) at those within a request."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        hooks.on_answer(self._on_answer, "roots/list")

    def _on_answer(self, _exchange: Exchange, message: Message) -> None:
        look_at_roots(self._watched, result_of(message), "/result")


def look_at_roots(watched: Watched, result: dict[str, Any], at: str) -> None:
    """Look at a ``ListRootsResult``; ``at`` is the pointer to it."""
    roots = result.get("roots")
    for index, root in enumerate(roots if isinstance(roots, list) else ()):
        uri = inner(root, "uri")
        if not isinstance(uri, str) or not uri.startswith("file://"):
            watched.found(ROOT_NOT_FILE, f"{at}/roots/{index}/uri", uri if isinstance(uri, str) else "")
