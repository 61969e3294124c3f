"""Requests in several rounds: ``input_required`` and the retry (2026-07-28)."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple

from workbench.check.elicitation import look_at_elicitation
from workbench.check.roots import look_at_roots
from workbench.check.rule import STATELESS, Rule
from workbench.check.sampling import look_at_sampling
from workbench.check.watched import Hooks, Watched, brief, inner, params_of, result_of, short
from workbench.core.exchange import Exchange
from workbench.core.frame import Kind
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message, dumps
from workbench.core.methods import has_capability

_ROUNDS = "Patterns: Multi round-trip requests"
_CALL = '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":$META}}'
_ASK = '"inputRequests":{"r":{"method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}}'
_INPUT = f'< {{"jsonrpc":"2.0","id":7,"result":{{"resultType":"input_required",{_ASK}}}}}'
_STATE = f'< {{"jsonrpc":"2.0","id":7,"result":{{"resultType":"input_required",{_ASK},"requestState":"s1"}}}}'
_RETRY = '> {"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"t","_meta":$META,'
_ANSWER = '"inputResponses":{"r":{"action":"cancel"}}'

ROUND_WRONG_METHOD = Rule(
    "round-wrong-method",
    "error",
    STATELESS,
    _ROUNDS,
    "The method may not be answered with input_required; tools/call, prompts/get and resources/read may.",
    (
        "@ 2026-07-28",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":$META}}',
        _INPUT,
    ),
)
ROUND_EMPTY = Rule(
    "round-empty",
    "error",
    STATELESS,
    _ROUNDS,
    "The result asks for input with neither inputRequests nor requestState: there is nothing to go on with.",
    ("@ 2026-07-28", _CALL, '< {"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required"}}'),
)
ROUND_UNDECLARED = Rule(
    "round-undeclared",
    "error",
    STATELESS,
    _ROUNDS,
    "The server asks for something that the request's clientCapabilities do not have.",
    (
        "@ 2026-07-28",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":'
        '{"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
        '"io.modelcontextprotocol/clientCapabilities":{}}}}',
        _INPUT,
    ),
)
ROUND_UNKNOWN_METHOD = Rule(
    "round-unknown-method",
    "error",
    STATELESS,
    _ROUNDS,
    "An input request has a method other than elicitation/create, sampling/createMessage and roots/list.",
    (
        "@ 2026-07-28",
        _CALL,
        '< {"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","inputRequests":{"r":'
        '{"method":"ping"}}}}',
    ),
)
ROUND_SAME_ID = Rule(
    "round-same-id",
    "error",
    STATELESS,
    _ROUNDS,
    "The retry has the id of the request before it; each round has an id of its own.",
    (
        "@ 2026-07-28",
        _CALL,
        _INPUT,
        '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":$META,'
        + _ANSWER
        + "}}",
    ),
)
ROUND_STATE_MISSING = Rule(
    "round-state-missing",
    "error",
    STATELESS,
    _ROUNDS,
    "The server gave a requestState, and the retry does not bring it back.",
    ("@ 2026-07-28", _CALL, _STATE, _RETRY + _ANSWER + "}}"),
)
ROUND_STATE_CHANGED = Rule(
    "round-state-changed",
    "error",
    STATELESS,
    _ROUNDS,
    "The retry brings back another requestState than the server gave; it must be the same, byte for byte.",
    ("@ 2026-07-28", _CALL, _STATE, _RETRY + _ANSWER + ',"requestState":"s2"}}'),
)
ROUND_STATE_EXTRA = Rule(
    "round-state-extra",
    "error",
    STATELESS,
    _ROUNDS,
    "The request has a requestState that no server gave for it.",
    ("@ 2026-07-28", _CALL, _INPUT, _RETRY + _ANSWER + ',"requestState":"s1"}}'),
)
ROUND_STATE_LEAKED = Rule(
    "round-state-leaked",
    "error",
    STATELESS,
    _ROUNDS,
    "The requestState was given for another request.",
    (
        "@ 2026-07-28",
        _CALL,
        _STATE,
        '> {"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"u","_meta":$META,'
        '"requestState":"s1"}}',
    ),
)

ROUND_STATE_TYPE = Rule(
    "round-state-type",
    "error",
    STATELESS,
    _ROUNDS,
    "requestState is not a string.",
    (
        "@ 2026-07-28",
        _CALL,
        '< {"jsonrpc":"2.0","id":7,"result":{"resultType":"input_required","requestState":{}}}',
    ),
)

RULES = (
    ROUND_WRONG_METHOD,
    ROUND_EMPTY,
    ROUND_UNDECLARED,
    ROUND_UNKNOWN_METHOD,
    ROUND_SAME_ID,
    ROUND_STATE_MISSING,
    ROUND_STATE_CHANGED,
    ROUND_STATE_EXTRA,
    ROUND_STATE_LEAKED,
    ROUND_STATE_TYPE,
)

#: Open requests, and rounds that wait for their retry, that are remembered.
MAX_ROUNDS = 256

#: Requests without an answer that are remembered whole.
MAX_ASKED = 64

#: A request above this size (characters) is not followed from round to round.
MAX_FOLLOWED = 16 * 1024

_METHODS = ("tools/call", "prompts/get", "resources/read")
_KINDS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}

#: Members of params that differ from round to round.
_OF_A_ROUND = frozenset(("inputResponses", "requestState", "_meta"))


class _Waiting(NamedTuple):
    """A round that waits for its retry: the id it had, and the state to bring back."""

    id: str
    state: str | None


class Rounds:
    """Follows a request from round to round, by its method and params."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        self._asked: OrderedDict[tuple[int, int], tuple[Message, Any]] = OrderedDict()
        self._waiting: OrderedDict[str, list[_Waiting]] = OrderedDict()
        hooks.on_request(self._on_request, *_METHODS)
        hooks.answers.append(self._on_answer)

    def _on_request(self, exchange: Exchange, message: Message) -> None:
        watched = self._watched
        if not watched.modern or message.raw or len(message.text) > MAX_FOLLOWED:
            return
        keep(self._asked, exchange.key, (message, watched.client_capabilities), MAX_ASKED)
        params = params_of(message)
        if "requestState" in params or "inputResponses" in params:
            self._retried(exchange, params)
            responses = params.get("inputResponses")
            for key, response in responses.items() if isinstance(responses, dict) else ():
                if isinstance(response, dict) and "roots" in response:
                    look_at_roots(watched, response, f"/params/inputResponses/{key}")

    def _retried(self, exchange: Exchange, params: dict[str, Any]) -> None:
        watched = self._watched
        state = params.get("requestState")
        state = brief(state) if isinstance(state, str) else state
        key = _key(exchange.method, params)
        rounds = self._waiting.get(key, [])
        same = [each for each in rounds if each.state == state] or rounds
        if not same:
            if "requestState" in params:
                leaked = self._given(state)
                watched.found(ROUND_STATE_LEAKED if leaked else ROUND_STATE_EXTRA, "/params/requestState")
            return
        before = same[0]
        rounds.remove(before)
        if not rounds:
            self._waiting.pop(key, None)
        if before.id == exchange.id:
            watched.found(ROUND_SAME_ID, "/id", exchange.id)
        if before.state == state:
            return
        if state is None:
            watched.found(ROUND_STATE_MISSING, "/params")
        elif self._given(state):
            watched.found(ROUND_STATE_LEAKED, "/params/requestState")
        else:
            watched.found(
                ROUND_STATE_EXTRA if before.state is None else ROUND_STATE_CHANGED, "/params/requestState"
            )

    def _given(self, state: Any) -> bool:
        """Whether a round that still waits was given this state."""
        return any(each.state == state for rounds in self._waiting.values() for each in rounds)

    def _on_answer(self, exchange: Exchange, message: Message) -> None:
        watched = self._watched
        if not watched.modern:
            return
        asked, capabilities = self._asked.pop(exchange.key, (None, watched.client_capabilities))
        result = result_of(message)
        if message.kind is not Kind.RESULT or result.get("resultType") != "input_required":
            return
        if exchange.method not in _METHODS:
            watched.found(ROUND_WRONG_METHOD, "/result/resultType", exchange.method)
            return
        if not result.get("inputRequests") and "requestState" not in result:
            watched.found(ROUND_EMPTY, "/result")
        if not isinstance(result.get("requestState", ""), str):
            watched.found(ROUND_STATE_TYPE, "/result/requestState")
        requests = result.get("inputRequests")
        for name, request in list(requests.items())[:100] if isinstance(requests, dict) else ():
            self._look(request, capabilities, f"/result/inputRequests/{name}")
        if asked is not None:
            state = result.get("requestState")
            rounds = self._waiting.get(_key(exchange.method, params_of(asked)), [])
            rounds.append(_Waiting(exchange.id, brief(state) if isinstance(state, str) else None))
            keep(self._waiting, _key(exchange.method, params_of(asked)), rounds[-10:], MAX_ROUNDS)

    def _look(self, request: Any, capabilities: Any, at: str) -> None:
        watched = self._watched
        method, params = inner(request, "method"), inner(request, "params")
        kind = _KINDS.get(method) if isinstance(method, str) else None
        if kind is None:
            watched.found(ROUND_UNKNOWN_METHOD, f"{at}/method", short(method))
            return
        if not has_capability(capabilities, kind):
            watched.found(ROUND_UNDECLARED, f"{at}/method", kind)
        elif isinstance(params, dict) and kind == "elicitation":
            look_at_elicitation(watched, params, f"{at}/params")
        elif isinstance(params, dict) and kind == "sampling":
            look_at_sampling(watched, params, f"{at}/params")


def _key(method: str, params: dict[str, Any]) -> str:
    """What stays the same from round to round."""
    try:
        return dumps([method, {key: value for key, value in params.items() if key not in _OF_A_ROUND}])
    except RecursionError:
        return method
