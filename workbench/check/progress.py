"""Progress: tokens, and what is reported with them."""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from workbench.check.answers import MESSAGE_AFTER_CANCEL, other_type
from workbench.check.rule import ALL, Rule
from workbench.check.watched import Hooks, Watched, brief
from workbench.core.exchange import Exchange, Told
from workbench.core.frame import Direction
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message, id_text
from workbench.core.peek import number, peek

_PROGRESS = "Utilities: Progress"
_CALL = '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":7}}}'

PROGRESS_NOT_GROWING = Rule(
    "progress-not-growing",
    "warning",
    ALL,
    _PROGRESS,
    "progress is not greater than before.",
    (
        "@ 2025-11-25",
        _CALL,
        '< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":2}}',
        '< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":2}}',
    ),
)
PROGRESS_NOT_A_NUMBER = Rule(
    "progress-not-a-number",
    "error",
    ALL,
    _PROGRESS,
    "progress is missing or no number.",
    (
        "@ 2025-11-25",
        _CALL,
        '< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":"x"}}',
    ),
)
PROGRESS_UNKNOWN_TOKEN = Rule(
    "progress-unknown-token",
    "warning",
    ALL,
    _PROGRESS,
    "progressToken is that of no request.",
    (
        "@ 2025-11-25",
        '< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1}}',
    ),
)
PROGRESS_TOKEN_TYPE = Rule(
    "progress-token-type",
    "error",
    ALL,
    _PROGRESS,
    'progressToken is that of an open request in another type (7 and "7" are two tokens); clients drop it.',
    (
        "@ 2025-11-25",
        _CALL,
        '< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"7","progress":1}}',
    ),
)
PROGRESS_AFTER_ANSWER = Rule(
    "progress-after-answer",
    "warning",
    ALL,
    _PROGRESS,
    "Progress was reported after the answer to its request.",
    (
        "@ 2025-11-25",
        _CALL,
        '< {"jsonrpc":"2.0","id":7,"result":{"content":[]}}',
        '< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1}}',
    ),
)
PROGRESS_TOKEN_REUSED = Rule(
    "progress-token-reused",
    "error",
    ALL,
    _PROGRESS,
    "The progressToken is in use by another open request of the same sender.",
    (
        "@ 2025-11-25",
        _CALL,
        '> {"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":7}}}',
    ),
)
PROGRESS_TOKEN_INVALID = Rule(
    "progress-token-invalid",
    "error",
    ALL,
    _PROGRESS,
    "progressToken is neither a string nor an integer.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":8,"method":"tools/list","params":{"_meta":{"progressToken":1.5}}}',
    ),
)

RULES = (
    PROGRESS_NOT_GROWING,
    PROGRESS_NOT_A_NUMBER,
    PROGRESS_UNKNOWN_TOKEN,
    PROGRESS_TOKEN_TYPE,
    PROGRESS_AFTER_ANSWER,
    PROGRESS_TOKEN_REUSED,
    PROGRESS_TOKEN_INVALID,
)

#: Tokens in use that are followed, and used ones that are remembered, on one connection.
MAX_TOKENS = 1_000

_Key = tuple[Direction, str]


class _Run(NamedTuple):
    exchange: Exchange
    progress: float


class Progress:
    """Follows every token from its request to the answer, and beyond where the answer is a task."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self._active: OrderedDict[_Key, _Run] = OrderedDict()
        self._ended: OrderedDict[_Key, None] = OrderedDict()
        hooks.requests.append(self._on_request)
        hooks.answers.append(self._on_answer)
        hooks.on_told(self._on_progress, "notifications/progress")

    def _on_request(self, exchange: Exchange, message: Message) -> None:
        if exchange.token is None:
            return
        token = peek(message, "params", "_meta", "progressToken")
        if isinstance(token, (bool, float)) or not isinstance(token, (str, int)):
            self._watched.found(PROGRESS_TOKEN_INVALID, "/params/_meta/progressToken", exchange.token)
            return
        key = (exchange.direction, brief(exchange.token))
        if key in self._active:
            self._watched.found(PROGRESS_TOKEN_REUSED, "/params/_meta/progressToken", exchange.token)
        keep(self._active, key, _Run(exchange, float("-inf")), MAX_TOKENS)

    def _on_answer(self, exchange: Exchange, message: Message) -> None:
        if exchange.token is None or peek(message, "result", "task") is not None:
            return  # the token of a task is good until the task has ended (2025-11-25)
        key = (exchange.direction, brief(exchange.token))
        run = self._active.get(key)
        if run is not None and run.exchange is exchange:
            del self._active[key]
            keep(self._ended, key, None, MAX_TOKENS)

    def _on_progress(self, told: Told) -> None:
        watched = self._watched
        if watched.modern and not watched.from_server:
            return  # ``method-wrong-way`` says all of it
        token = id_text(peek(told.message, "params", "progressToken"))
        asker = Direction.TO_SERVER if watched.from_server else Direction.TO_CLIENT
        key = (asker, brief(token))
        run = self._active.get(key)
        if run is not None:
            self._grow(key, run, number(peek(told.message, "params", "progress")))
        elif key in self._ended:
            watched.found(PROGRESS_AFTER_ANSWER, "/params/progressToken", token)
        elif (asker, brief(other_type(token))) in self._active:
            watched.found(PROGRESS_TOKEN_TYPE, "/params/progressToken", token)
        else:
            watched.found(PROGRESS_UNKNOWN_TOKEN, "/params/progressToken", token)

    def _grow(self, key: _Key, run: _Run, progress: float | None) -> None:
        watched = self._watched
        if watched.modern and run.exchange.given_up is not None:
            watched.found(MESSAGE_AFTER_CANCEL, "", f"progress of frame {run.exchange.request}")
        if progress is None:
            watched.found(PROGRESS_NOT_A_NUMBER, "/params/progress")
        elif progress > run.progress:
            self._active[key] = _Run(run.exchange, progress)
        else:
            watched.found(PROGRESS_NOT_GROWING, "/params/progress", f"{progress:g} after {run.progress:g}")
