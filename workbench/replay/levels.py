"""How closely a live answer must be like the recorded one, and where it need not be.

``exact`` compares every value, ``shape`` keys and types, ``schema`` what a tool
declares as its ``outputSchema``, and ``status`` only whether it is a result, a tool
error or an error of this code. Each may be set for all, for a method, or for one
tool, and the most particular setting counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from workbench.core.frame import Kind
from workbench.core.jsonrpc import Message, dumps
from workbench.errors import UsageError
from workbench.replay.aligned import aligned_differences
from workbench.replay.diff import ABSENT, MAX_DIFFERENCES, Difference
from workbench.replay.matching import Ignore
from workbench.replay.shape import shape_differences

EXACT, SHAPE, SCHEMA, STATUS = "exact", "shape", "schema", "status"

#: From the closest to the loosest.
LEVELS = (EXACT, SHAPE, SCHEMA, STATUS)

#: Members of answers that name something the server made up for this time, or when it did so.
_OPAQUE = re.compile(
    r"(?:/nextCursor|/requestState|(?:/data/elicitations/\d+)?/elicitationId|/_meta/progressToken"
    r"|/_meta/io\.modelcontextprotocol~1(?:subscriptionId|related-task/taskId)"
    r"|(?:/task|/tasks/\d+)?/(?:taskId|createdAt|lastUpdatedAt))"
)

#: Where a server sends a person: a page that it makes for this time, on a host of its own.
_MADE_URL = re.compile(r"(?:/inputRequests/[^/]+/params|/data/elicitations/\d+)?/url")
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")

#: Whether a place may differ: its pointer, the recorded and the live value.
Excuse = Callable[[str, Any, Any], bool]

#: Says what is wrong with a value by a schema: pointers and reasons.
Validate = Callable[[Any, Any], Iterable[tuple[str, str]]]


class Level(NamedTuple):
    """A setting of ``--compare``: a level for a method and a name, or any."""

    level: str
    method: str = ""
    name: str = ""

    @property
    def text(self) -> str:
        """As it is written on the command line."""
        scope = f"{self.method}:{self.name}" if self.name else self.method
        return f"{scope}={self.level}" if scope else self.level


def parse_level(text: str) -> Level:
    """``shape``, ``tools/list=status``, or ``tools/call:search=shape``. Raises ``UsageError``."""
    scope, _, level = text.rpartition("=")
    if level not in LEVELS:
        raise UsageError(f"--compare {text}: a level is one of {', '.join(LEVELS)}.")
    method, _, name = scope.partition(":")
    return Level(level, method, name)


class Levels:
    """Which level counts where, and what is ignored."""

    def __init__(self, levels: Iterable[Level] = (), ignores: Iterable[Ignore] = ()) -> None:
        self._levels = tuple(levels)
        self._ignores = [(rule, _pattern(rule)) for rule in ignores]

    def of(self, method: str, name: str | None) -> str:
        """The level for an answer: of the settings that fit the most particular, of equal ones the last."""
        best = Level(EXACT)
        for each in self._levels:
            if each.method in ("", method) and each.name in ("", name) and _weight(each) >= _weight(best):
                best = each
        return best.level

    def ignored(self, method: str, name: str | None) -> Callable[[str], bool]:
        """Whether a pointer leads to or into something that is not compared."""
        patterns = [
            pattern
            for rule, pattern in self._ignores
            if rule.method in ("", method) and rule.name in ("", name)
        ]
        return lambda pointer: any(pattern.match(pointer) for pattern in patterns)


def opaque(pointer: str, recorded: Any, live: Any) -> bool:
    """Whether a place holds what its server made up for this time only."""
    if not isinstance(recorded, str) or not isinstance(live, str):
        return False
    if _OPAQUE.fullmatch(pointer) is not None:
        return True
    origins = [_ORIGIN.match(url) for url in (recorded, live)]
    if _MADE_URL.fullmatch(pointer) is None or origins[0] is None or origins[1] is None:
        return False
    return origins[0][0] == origins[1][0]


def answers_differ(
    level: str,
    kind: Kind,
    was: Any,
    now: Any,
    excuse: Excuse,
    schema: Any = None,
    validate: Validate | None = None,
) -> list[Difference]:
    """Where two results, or two errors, differ by a level. ``schema`` is the ``outputSchema`` that the
    called tool declares, if it does; without one ``schema`` compares as ``shape`` does."""
    if kind is Kind.ERROR:
        return _errors_differ(level, was, now, excuse)
    was = with_keys_of(was, now)
    if level == EXACT:
        return values_differ(EXACT, was, now, excuse)
    flags = _is_tool_error(was), _is_tool_error(now)
    if flags[0] != flags[1]:
        return [Difference("/isError", flags[0], flags[1])]
    if level == STATUS:
        return []
    if level == SCHEMA and schema is not None and validate is not None:
        return [] if flags[1] else _against(schema, now, validate, excuse)
    return shape_differences(was, now, excuse)


def with_keys_of(was: Any, now: Any) -> Any:
    """A recorded result whose questions stand under the live keys of the same ones: a key is the
    server's own name for a question ("Multi round-trip requests", 2026-07-28)."""
    left, right = (each.get("inputRequests") if isinstance(each, dict) else None for each in (was, now))
    if not isinstance(left, dict) or not isinstance(right, dict) or left.keys() == right.keys():
        return was
    free = {key: value for key, value in right.items() if key not in left}
    renamed: dict[str, Any] = {}
    for key, asked in left.items():
        same = [] if key in right else [other for other, now in free.items() if _asks_the_same(asked, now)]
        name = same[0] if same else key
        free.pop(name, None)
        renamed[name] = asked
    return {**was, "inputRequests": renamed}


def _asks_the_same(recorded: Any, live: Any) -> bool:
    return not aligned_differences(
        recorded, live, lambda pointer, *both: opaque(pointer.removeprefix("/params"), *both)
    )


def values_differ(level: str, recorded: Any, live: Any, excuse: Excuse) -> list[Difference]:
    """Where two values differ, exactly or in shape; at the other levels nowhere."""
    if level == EXACT:
        return aligned_differences(recorded, live, excuse)
    return [] if level == STATUS else shape_differences(recorded, live, excuse)


def _errors_differ(level: str, was: Any, now: Any, excuse: Excuse) -> list[Difference]:
    if level == EXACT:
        return aligned_differences(was, now, excuse)
    before, after = (each.get("code") if isinstance(each, dict) else None for each in (was, now))
    return [Difference("/code", before, after)] if before != after else []


def _against(schema: Any, result: Any, validate: Validate, excuse: Excuse) -> list[Difference]:
    content = result.get("structuredContent", ABSENT) if isinstance(result, dict) else ABSENT
    if content is ABSENT:
        return [
            Difference("/structuredContent", ABSENT, ABSENT, "missing, though the tool has an outputSchema")
        ]
    found = [
        Difference(f"/structuredContent{pointer}", ABSENT, ABSENT, why)
        for pointer, why in validate(schema, content)
    ]
    return [each for each in found if not excuse(each.pointer, ABSENT, ABSENT)][:MAX_DIFFERENCES]


def _is_tool_error(result: Any) -> bool:
    return isinstance(result, dict) and result.get("isError") is True


def _weight(level: Level) -> int:
    return 2 * bool(level.name) + bool(level.method)


def _pattern(rule: Ignore) -> re.Pattern[str]:
    steps = ("[^/]*" if part == "*" else re.escape(_escaped(part)) for part in rule.pointer)
    return re.compile("".join(f"/{step}" for step in steps) + r"(?:/|\Z)")


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def rule_text(rule: Ignore) -> str:
    """An ignore rule as it is written on the command line."""
    pointer = "".join(f"/{_escaped(part)}" for part in rule.pointer)
    scope = f"{rule.method}:{rule.name}" if rule.name else rule.method
    return f"{scope}={pointer}" if scope else pointer


def kind_word(message: Message) -> str:
    """``error``, ``tool error`` or ``result``."""
    if message.kind is Kind.ERROR:
        return "error"
    return "tool error" if _is_tool_error(message.value("result")) else "result"


def short(value: Any, longest: int = 200) -> str:
    """A value as JSON text, cut; empty for what is not there."""
    if value is ABSENT:
        return ""
    try:
        text = dumps(value)
    except RecursionError:
        return "…"
    return text if len(text) <= longest else text[:longest] + "…"
