"""Which recorded request a live one is, and why none is.

Requests are compared as method and params after removing what is volatile: the
progress token, trace context, the stateless era's per-request ``_meta`` keys,
and what ignore rules name. ``initialize`` is matched by its method alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple

from workbench.core.methods import INPUT_METHODS, LIST_METHODS, name_of
from workbench.errors import UsageError
from workbench.replay.cues import Cue
from workbench.replay.diff import Difference, Secrets, canonical, differences, has_placeholder

MODES = ("strict", "exact", "name", "method")
AFTER = ("last", "error", "cycle")

#: Members of ``params._meta`` that differ from run to run by their nature.
VOLATILE = frozenset(
    (
        "progressToken",
        "traceparent",
        "tracestate",
        "baggage",
        "io.modelcontextprotocol/protocolVersion",
        "io.modelcontextprotocol/clientCapabilities",
        "io.modelcontextprotocol/clientInfo",
        "io.modelcontextprotocol/logLevel",
    )
)

#: Requests whose effect is the point: asking once more than recorded is a miss by default.
ONCE = frozenset(("tools/call", "tasks/cancel"))

#: Requests of which only the method is compared: what they carry is the client's own business.
BY_METHOD = frozenset(("initialize", "ping", "server/discover"))

#: Recorded requests that a miss is compared with, at most.
MAX_COMPARED = 200


#: What is worked out once of each recorded request, by its key: what it is found by, and whether it has
#: placeholders.
Prepared = dict[int, tuple[str, bool]]


class Miss(NamedTuple):
    """Why nothing recorded answers a live request. ``used`` tells that it was recorded, but
    every recording of it has been used; ``nearest`` is the closest recorded request."""

    nearest: Cue | None
    found: list[Difference]
    used: bool


#: The kind of the rules kept with a recording that say what a mock server leaves out of the comparison.
KEPT_IGNORE = "match-ignore"


class Ignore(NamedTuple):
    """An ignore rule: a pointer into ``params`` (``*`` for one level), for a method and a name or any."""

    pointer: tuple[str, ...]
    method: str = ""
    name: str = ""


def parse_ignore(text: str) -> Ignore:
    """``/arguments/limit``, or ``tools/call:search=/arguments/limit`` for one method and name.

    Raises ``UsageError``.
    """
    scope, equals, pointer = text.rpartition("=")
    if not pointer.startswith("/"):
        raise UsageError(f"--ignore {text}: a JSON pointer begins with /, e.g. /arguments/limit.")
    method, _, name = scope.partition(":") if equals else ("", "", "")
    parts = tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/"))
    return Ignore(parts, method, name)


def kept_ignores(rules: Iterable[tuple[str, str]]) -> tuple[Ignore, ...]:
    """The ignore rules among those kept with a recording. Raises ``UsageError``."""
    return tuple(parse_ignore(text) for what, text in rules if what == KEPT_IGNORE)


class Matcher:
    """Finds the recorded request for each live one; each is used once, then ``after`` decides.

    ``prepared`` is what matchers of the same requests with the same mode and rules share."""

    def __init__(
        self,
        *,
        mode: str = "exact",
        after: str = "",
        ignores: tuple[Ignore, ...] = (),
        prepared: Prepared | None = None,
    ) -> None:
        self._mode = mode
        self._prepared = {} if prepared is None else prepared
        self._after = after
        self._ignores = ignores
        self._cues: list[Cue] = []
        self._unused: dict[str, deque[Cue]] = {}
        self._used: dict[str, deque[Cue]] = {}
        self._veiled: dict[int, Cue] = {}
        self._next = 0
        #: Which live text stands for which placeholder, on this connection.
        self.secrets = Secrets()
        #: Recorded requests that no live one has asked for, by key, in recorded order.
        self.left: dict[int, Cue] = {}

    def add(self, cue: Cue) -> None:
        """Add a recorded request; they come in recorded order."""
        self._cues.append(cue)
        self.left[cue.key] = cue
        prepared = self._prepared.get(cue.key)
        if prepared is None:
            params = self._bare(cue.method, cue.name, cue.params)
            hides = self._mode in ("exact", "strict") and cue.method not in BY_METHOD
            veiled = hides and has_placeholder(params)
            prepared = self._prepared[cue.key] = self._key(cue.method, cue.name, params), veiled
        key, veiled = prepared
        if veiled:
            self._veiled[cue.key] = cue
        self._unused.setdefault(key, deque()).append(cue)

    def match(self, method: str, params: Any) -> Cue | Miss:
        name = name_of(method, params)
        bare = self._bare(method, name, params)
        key = self._key(method, name, bare)
        if self._mode == "strict" and method not in BY_METHOD:
            return self._in_order(method, name, bare, key)
        unused = self._unused.get(key)
        if unused:
            return self._take(key, unused.popleft())
        cue = self._behind_veil(method, bare)
        if cue is not None:
            self._unused[self._key_of(cue)].remove(cue)
            return self._take(key, cue)
        return self._again(method, key) or self._miss(method, name, bare, key in self._used)

    def _take(self, key: str, cue: Cue) -> Cue:
        """Use a cue up; ``key`` is that of the live request, under which it may be asked for again."""
        self._used.setdefault(key, deque()).append(cue)
        self.left.pop(cue.key, None)
        self._veiled.pop(cue.key, None)
        return cue

    def _again(self, method: str, key: str) -> Cue | None:
        used = self._used.get(key)
        after = self._after or ("error" if method in ONCE else "last")
        if not used or after == "error":
            return None
        if after == "cycle":
            used.rotate(-1)
        return used[-1]

    def _in_order(self, method: str, name: str | None, bare: Any, key: str) -> Cue | Miss:
        while self._next < len(self._cues) and self._cues[self._next].method in BY_METHOD:
            self._next += 1
        if self._next == len(self._cues):
            return self._miss(method, name, bare, key in self._used)
        cue = self._cues[self._next]
        found = self._compared(cue, bare)
        if cue.method != method or found:
            return Miss(cue, found, False)
        self._next += 1
        return self._take(key, cue)

    def _behind_veil(self, method: str, bare: Any) -> Cue | None:
        for cue in self._veiled.values():
            if cue.method == method and not self._compared(cue, bare):
                return cue
        return None

    def _compared(self, cue: Cue, bare: Any) -> list[Difference]:
        """What differs; where nothing does, which secret is which is settled."""
        trial = self.secrets.trial()
        found = differences(self._bare(cue.method, cue.name, cue.params), bare, trial)
        if not found:
            self.secrets = trial
        return found

    def _miss(self, method: str, name: str | None, bare: Any, used: bool) -> Miss:
        best: tuple[int, bool, Cue, list[Difference]] | None = None
        near = [cue for cue in self._cues if cue.method == method]
        near.sort(key=lambda cue: (cue.name != name, cue.key not in self.left, cue.seq))
        for cue in near[:MAX_COMPARED]:
            found = differences(self._bare(method, cue.name, cue.params), bare, self.secrets.trial())
            rank = len(found) + (1000 if cue.name != name else 0)
            if best is None or (rank, cue.key not in self.left) < best[:2]:
                best = (rank, cue.key not in self.left, cue, found)
        if best is None:
            return Miss(None, [], used)
        return Miss(best[2], best[3], used or (not best[3] and best[1]))

    def _key_of(self, cue: Cue) -> str:
        return self._key(cue.method, cue.name, self._bare(cue.method, cue.name, cue.params))

    def _key(self, method: str, name: str | None, bare: Any) -> str:
        if self._mode == "method" or method in BY_METHOD:
            return method
        if self._mode == "name":
            return f"{method} {name}"
        return f"{method} {canonical(bare)}"

    def _bare(self, method: str, name: str | None, params: Any) -> Any:
        """Params without what is volatile or ignored; missing params equal ``{}``."""
        if params is None:
            params = {}
        if not isinstance(params, dict):
            return params
        params = steady(params)
        if method in LIST_METHODS and params.get("cursor", "") is None:
            params = {key: value for key, value in params.items() if key != "cursor"}
        if method in INPUT_METHODS and isinstance(params.get("inputResponses"), dict):
            # What the client answers is no matter of which request it is, but what it was asked is.
            params = {**params, "inputResponses": dict.fromkeys(params["inputResponses"], "")}
        for rule in self._ignores:
            if (not rule.method or rule.method == method) and (not rule.name or rule.name == name):
                params = _without(params, rule.pointer)
        return params


def steady(params: Any) -> Any:
    """Params without the members of ``_meta`` that differ from run to run by their nature."""
    if not isinstance(params, dict) or "_meta" not in params:
        return params
    meta = params["_meta"]
    kept = (
        {key: value for key, value in meta.items() if key not in VOLATILE} if isinstance(meta, dict) else {}
    )
    rest = {key: value for key, value in params.items() if key != "_meta"}
    return {**rest, "_meta": kept} if kept else rest


def _without(value: Any, pointer: tuple[str, ...]) -> Any:
    """A copy of a value without what a pointer names."""
    head, rest = pointer[0], pointer[1:]
    if isinstance(value, dict):
        keys = list(value) if head == "*" else [head]
        copy = dict(value)
        for key in keys:
            if key in copy and rest:
                copy[key] = _without(copy[key], rest)
            else:
                copy.pop(key, None)
        return copy
    if isinstance(value, list) and (head == "*" or head.isdigit()):
        wanted = range(len(value)) if head == "*" else [int(head)]
        if rest:
            return [_without(item, rest) if at in wanted else item for at, item in enumerate(value)]
        return [item for at, item in enumerate(value) if at not in wanted]
    return value
