"""Completion of arguments."""

from __future__ import annotations

from workbench.check.rule import ALL, Rule
from workbench.check.watched import Hooks, Watched, result_of
from workbench.core.exchange import Exchange
from workbench.core.jsonrpc import Message

#: The most values an answer may hold ("Completion", all revisions).
MAX_VALUES = 100

COMPLETION_TOO_MANY = Rule(
    "completion-too-many",
    "error",
    ALL,
    "Utilities: Completion",
    "The answer holds more than 100 values; hasMore is for the rest.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{"ref":{"type":"ref/prompt",'
        '"name":"p"},"argument":{"name":"a","value":""}}}',
        '< {"jsonrpc":"2.0","id":7,"result":{"completion":{"values":[' + ",".join(['"x"'] * 101) + "]}}}",
    ),
)
COMPLETION_TOTAL = Rule(
    "completion-total",
    "warning",
    ALL,
    "Utilities: Completion",
    "total is smaller than the number of values in the answer.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"completion/complete","params":{"ref":{"type":"ref/prompt",'
        '"name":"p"},"argument":{"name":"a","value":""}}}',
        '< {"jsonrpc":"2.0","id":7,"result":{"completion":{"values":["x","y"],"total":1}}}',
    ),
)

RULES = (COMPLETION_TOO_MANY, COMPLETION_TOTAL)


class Completion:
    """Looks at each answer to ``completion/complete``."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        hooks.on_answer(self._on_answer, "completion/complete")

    def _on_answer(self, _exchange: Exchange, message: Message) -> None:
        completion = result_of(message).get("completion")
        values = completion.get("values") if isinstance(completion, dict) else None
        if not isinstance(completion, dict) or not isinstance(values, list):
            return
        if len(values) > MAX_VALUES:
            self._watched.found(COMPLETION_TOO_MANY, "/result/completion/values", f"{len(values)} values")
        total = completion.get("total")
        if type(total) is int and total < len(values):
            self._watched.found(COMPLETION_TOTAL, "/result/completion/total", f"{total} of {len(values)}")
