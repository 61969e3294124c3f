"""Error codes."""

from __future__ import annotations

from typing import Any

from workbench.check.rule import STATELESS, Rule
from workbench.check.watched import Hooks, Watched, inner
from workbench.core.exchange import Exchange
from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message
from workbench.core.methods import REVISIONS
from workbench.core.peek import peek

_CODES = "Base protocol: Error codes"
_CALL = '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t","_meta":$META}}'

ERROR_CODE_UNDEFINED = Rule(
    "error-code-undefined",
    "error",
    STATELESS,
    _CODES,
    "The code lies in -32020 to -32099, which the specification keeps for itself, and is none of its codes.",
    ("@ 2026-07-28", _CALL, '< {"jsonrpc":"2.0","id":7,"error":{"code":-32050,"message":"x"}}'),
)
ERROR_CODE_RETIRED = Rule(
    "error-code-retired",
    "error",
    STATELESS,
    _CODES,
    "The code was retired: a missing resource is -32602 now, and -32042 is replaced by input_required.",
    (
        "@ 2026-07-28",
        _CALL,
        '< {"jsonrpc":"2.0","id":7,"error":{"code":-32002,"message":"no such resource"}}',
    ),
)
ERROR_CODE_DRAFT = Rule(
    "error-code-draft",
    "warning",
    STATELESS,
    _CODES,
    "Drafts used -32001, -32003 and -32004 for what has been -32020, -32021 and -32022 since the release.",
    (
        "@ 2026-07-28",
        _CALL,
        '< {"jsonrpc":"2.0","id":7,"error":{"code":-32004,"message":"unsupported version"}}',
    ),
)
VERSIONS_NOT_NAMED = Rule(
    "versions-not-named",
    "error",
    STATELESS,
    "Versioning: Unsupported versions",
    "The error -32022 does not name the supported versions in data.supported, so the client cannot go on.",
    ("@ 2026-07-28", _CALL, '< {"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"no"}}'),
)
CAPABILITIES_NOT_NAMED = Rule(
    "capabilities-not-named",
    "error",
    STATELESS,
    "Versioning: Missing client capabilities",
    "The error -32021 does not name what it misses in data.requiredCapabilities.",
    ("@ 2026-07-28", _CALL, '< {"jsonrpc":"2.0","id":7,"error":{"code":-32021,"message":"no"}}'),
)
ELICITATIONS_NOT_NAMED = Rule(
    "elicitations-not-named",
    "error",
    (REVISIONS[3], REVISIONS[3]),
    "Client features: Elicitation, URL mode required error",
    "The error -32042 holds no list of elicitations in data, so the client has nothing to open.",
    (
        "@ 2025-11-25",
        '> {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"t"}}',
        '< {"jsonrpc":"2.0","id":7,"error":{"code":-32042,"message":"open it"}}',
    ),
)

RULES = (
    ERROR_CODE_UNDEFINED,
    ERROR_CODE_RETIRED,
    ERROR_CODE_DRAFT,
    VERSIONS_NOT_NAMED,
    CAPABILITIES_NOT_NAMED,
    ELICITATIONS_NOT_NAMED,
)

_RESERVED = range(-32099, -32019)
_DEFINED = frozenset((-32020, -32021, -32022))
_RETIRED = frozenset((-32002, -32042))
_DRAFT = frozenset((-32001, -32003, -32004))

#: What the data of an error must hold: the member, its type, and the rule.
_DATA: dict[int, tuple[str, type, Rule]] = {
    -32022: ("supported", list, VERSIONS_NOT_NAMED),
    -32021: ("requiredCapabilities", dict, CAPABILITIES_NOT_NAMED),
    -32042: ("elicitations", list, ELICITATIONS_NOT_NAMED),
}


class Errors:
    """Looks at each error that answers a request."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        hooks.answers.append(self._on_answer)

    def _on_answer(self, _exchange: Exchange, message: Message) -> None:
        if message.kind is not Kind.ERROR:
            return
        error = peek(message, "error")
        code = inner(error, "code")
        if type(code) is not int or self._watched.revision is None:
            return
        if self._watched.modern:
            self._judge(code)
        self._data(code, error)

    def _judge(self, code: int) -> None:
        rule = None
        if code in _RETIRED:
            rule = ERROR_CODE_RETIRED
        elif code in _RESERVED and code not in _DEFINED:
            rule = ERROR_CODE_UNDEFINED
        elif code in _DRAFT:
            rule = ERROR_CODE_DRAFT
        if rule is not None:
            self._watched.found(rule, "/error/code", str(code))

    def _data(self, code: int, error: Any) -> None:
        if code in _DATA:
            member, kind, rule = _DATA[code]
            named = inner(error, "data", member)
            if not isinstance(named, kind) or (code == -32042 and not named):
                self._watched.found(rule, "/error/data" if "data" in error else "/error")
