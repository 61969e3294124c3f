"""Names of tools."""

from __future__ import annotations

import re

from workbench.check.rule import ALL, Rule
from workbench.check.watched import Hooks, Watched, brief, params_of, result_of
from workbench.core.exchange import Exchange
from workbench.core.jsonrpc import Message
from workbench.core.methods import REVISIONS

_TOOLS = "Server features: Tools, Tool names"

TOOL_NAME_ODD = Rule(
    "tool-name-odd",
    "warning",
    (REVISIONS[3], REVISIONS[4]),
    _TOOLS,
    "The tool's name is not 1 to 128 characters of A-Z, a-z, 0-9, _, - and dots; hosts may refuse it.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/list"}',
        '< {"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"a b","inputSchema":{"type":"object"}}]}}',
    ),
)
TOOL_NAME_TWICE = Rule(
    "tool-name-twice",
    "warning",
    ALL,
    _TOOLS,
    "Two tools of one listing have the same name, so only one of them can be called.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/list"}',
        '< {"jsonrpc":"2.0","id":7,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}},'
        '{"name":"a","inputSchema":{"type":"object"}}]}}',
    ),
)

RULES = (TOOL_NAME_ODD, TOOL_NAME_TWICE)

#: Names of a listing that are remembered over its pages.
MAX_NAMES = 10_000

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


class Names:
    """Looks at the names of each listing of tools, over all its pages."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self._seen: set[str] = set()
        hooks.on_request(self._on_request, "tools/list")
        hooks.on_answer(self._on_answer, "tools/list")

    def _on_request(self, _exchange: Exchange, message: Message) -> None:
        if "cursor" not in params_of(message):
            self._seen.clear()

    def _on_answer(self, _exchange: Exchange, message: Message) -> None:
        tools = result_of(message).get("tools")
        for index, tool in enumerate(tools if isinstance(tools, list) else ()):
            name = tool.get("name") if isinstance(tool, dict) else None
            if not isinstance(name, str):
                continue
            if not _NAME.fullmatch(name):
                self._watched.found(TOOL_NAME_ODD, f"/result/tools/{index}/name", name)
            if brief(name) in self._seen:
                self._watched.found(TOOL_NAME_TWICE, f"/result/tools/{index}/name", name)
            elif len(self._seen) < MAX_NAMES:
                self._seen.add(brief(name))
