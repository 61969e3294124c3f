"""Which recorded request a live one is, and why none is.

Requests are compared as method and params after removing what is volatile: the
progress token, trace context, the stateless era's per-request ``_meta`` keys,
and what ignore rules name. ``initialize`` is matched by its method alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from workbench.core.methods import INPUT_METHODS, LIST_METHODS, REVISIONS, name_of
from workbench.errors import UsageError
from workbench.replay.cues import Cue, Plain
from workbench.replay.diff import Difference, Secrets, canonical, differences, parts_of
from workbench.replay.identity import renumbered

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

_VERSION = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"

#: Requests whose effect is the point: asking once more than recorded is a miss by default.
ONCE = frozenset(("tools/call", "tasks/cancel"))

#: Recorded requests that a client may leave out without a word.
OPTIONAL = frozenset(("ping", "server/discover"))

#: Requests of which only the method is compared: what they carry is the client's own business.
BY_METHOD = frozenset(("initialize", "ping", "server/discover"))

#: Recorded requests that a miss is compared with, at most.
MAX_COMPARED = 200


#: What is worked out once of each recorded request, by its key: what it is found by, whether it has
#: placeholders, and what it would be found by if it said of itself what it should.
Prepared = dict[int, tuple[str, bool, str]]


class Miss(NamedTuple):
    """Why nothing recorded answers a live request. ``used`` tells that it was recorded, but
    every recording of it has been used; ``nearest`` is the closest recorded request."""

    nearest: Cue | None
    found: list[Difference]
    used: bool


#: The kind of the rules kept with a recording that say what a mock server leaves out of the comparison.
KEPT_IGNORE = "match-ignore"


class Live(NamedTuple):
    """A live request as it is looked for: ``bare`` are its params without what is not compared, ``key``
    is equal for requests that are equal, and ``base`` also where they say of themselves what may not be."""

    method: str
    name: str | None
    bare: Any
    key: str
    base: str


_Table = dict[str, "Cue | deque[Cue]"]


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
    return Ignore(parts_of(pointer), method, name)


def kept_ignores(rules: Iterable[tuple[str, str]]) -> tuple[Ignore, ...]:
    """The ignore rules among those kept with a recording. Raises ``UsageError``."""
    return tuple(parse_ignore(text) for what, text in rules if what == KEPT_IGNORE)


class Matcher:
    """Finds the recorded request for each live one; each is used once, then ``after`` decides.

    Ask for the ``next`` one while there are recorded requests that have not been added yet, and once all
    have been, for what is ``left``. ``prepared`` is what matchers of the same requests with the same mode
    and rules share. ``modern``: the requests are of the stateless era."""

    def __init__(
        self,
        *,
        mode: str = "exact",
        after: str = "",
        ignores: tuple[Ignore, ...] = (),
        prepared: Prepared | None = None,
        modern: bool = False,
    ) -> None:
        self._mode = mode
        self._modern = modern
        #: The keys of recorded requests that say of themselves what may not be, by what they are else.
        self._odd: dict[str, list[str]] = {}
        self._prepared = prepared
        self._after = after
        self._ignores = ignores
        self._cues: list[Cue] = []
        #: Those that nobody has looked at yet: their keys are worked out when it comes to that.
        self._fresh: deque[Cue] = deque()
        #: By key: recorded requests that no live one has asked for, and those that one has.
        self._unused: _Table = {}
        self._spent: _Table = {}
        #: What has been used since ``_spent`` was needed, and under which key if that is known.
        self._just_spent: list[tuple[str | None, Cue]] = []
        self._veiled: dict[int, Cue] = {}
        self._next = 0
        self._first_unused = 0
        #: Which live text stands for which placeholder, on this connection.
        self.secrets = Secrets()
        #: The keys of the recorded requests that a live one has asked for.
        self.used: set[int] = set()
        #: How many no live one has asked for, of those that a client may not leave out.
        self.waiting = 0
        #: Whether equal keys tell that two requests say the same.
        self.compares_all = mode in ("exact", "strict") and not ignores

    def add(self, cue: Cue) -> None:
        """Add a recorded request; they come in recorded order."""
        self._cues.append(cue)
        self.waiting += cue.method not in OPTIONAL
        self._fresh.append(cue)

    @property
    def ready(self) -> bool:
        """Whether there are recorded requests that have not been looked at yet."""
        return bool(self._fresh)

    def verbatim(self, body: bytes) -> tuple[Plain, str] | None:
        """The next recorded request if a live body is the same to the byte, but for its id, and so the same
        message, and nothing before it has been left out; with the live id (JSON text)."""
        if not self._fresh or self._unused or self._mode == "strict":
            return None
        cue = self._fresh[0]
        if not isinstance(cue, Plain):
            return None
        id = cue.reply.id if cue.body == body else renumbered(body, cue.body)
        if id is None:
            return None
        self._fresh.popleft()
        self._take(None, cue)
        return cue, id

    def live(self, method: str, params: Any) -> Live:
        """A live request, to be looked for."""
        name = name_of(method, params)
        bare = self._bare(method, name, params)
        base = self._key(method, name, bare)
        return Live(method, name, bare, base + self._oddity(params), base)

    def next(self, live: Live) -> Cue | Miss | None:
        """The first of the recorded requests added so far that is equal and has not been used; ``None`` if
        a later one may be. A miss where the order decides."""
        if self._mode == "strict" and live.method not in BY_METHOD:
            return self._in_order(live)
        cue = _pop(self._unused, live.key) or self._first_fresh(live.key)
        return None if cue is None else self._take(live.key, cue)

    def left(self, live: Live) -> Cue | Miss:
        """What is left for a request that is equal to no unused one of all."""
        if self._mode == "strict" and live.method not in BY_METHOD:
            return self._miss(live)
        cue = self._behind_veil(live)
        if cue is not None:
            _remove(self._unused, self._prepared_of(cue)[0], cue)
            return self._take(live.key, cue)
        return self._of_another_kind(live) or self._again(live) or self._miss(live)

    def unused(self) -> Iterator[Cue]:
        """Those that are waited for, in recorded order."""
        cues, used = self._cues, self.used
        while self._first_unused < len(cues) and cues[self._first_unused].key in used:
            self._first_unused += 1
        rest = islice(cues, self._first_unused, None)
        return (cue for cue in rest if cue.key not in used and cue.method not in OPTIONAL)

    def _of_another_kind(self, live: Live) -> Cue | None:
        """One that is equal but for what it says of itself: well formed where the live one is not, or the
        reverse. Only where none is equal in that too."""
        for key in (live.base, *self._odd.get(live.base, ())):
            cue = _pop(self._unused, key)
            if cue is not None:
                return self._take(live.key, cue)
        return None

    def _first_fresh(self, key: str) -> Cue | None:
        """The first of those that nobody has looked at with this key; the others are sorted in."""
        while self._fresh:
            cue = self._fresh.popleft()
            own, veiled, base = self._prepared_of(cue)
            if own == key:
                return cue
            if veiled:
                self._veiled[cue.key] = cue
            if own != base:
                self._odd.setdefault(base, []).append(own)
            _push(self._unused, own, cue)
        return None

    def _prepared_of(self, cue: Cue) -> tuple[str, bool, str]:
        if self._prepared is None:
            return self._prepare(cue)
        known = self._prepared.get(cue.key)
        if known is None:
            known = self._prepared[cue.key] = self._prepare(cue)
        return known

    def _sort_spent(self) -> None:
        for key, cue in self._just_spent:
            _push(self._spent, key or self._prepared_of(cue)[0], cue)
        self._just_spent.clear()

    def _take(self, key: str | None, cue: Cue) -> Cue:
        """Use a cue up; ``key`` is that of the live request, under which it may be asked for again."""
        self._just_spent.append((key, cue))
        self.used.add(cue.key)
        self.waiting -= cue.method not in OPTIONAL
        if self._veiled:
            self._veiled.pop(cue.key, None)
        return cue

    def _again(self, live: Live) -> Cue | None:
        self._sort_spent()
        spent = self._spent.get(live.key)
        after = self._after or ("error" if live.method in ONCE else "last")
        if spent is None or after == "error":
            return None
        if not isinstance(spent, deque):
            return spent
        if after == "cycle":
            spent.rotate(-1)
        return spent[-1]

    def _in_order(self, live: Live) -> Cue | Miss | None:
        while self._next < len(self._cues) and self._cues[self._next].method in BY_METHOD:
            self._next += 1
        if self._next == len(self._cues):
            return None
        cue = self._cues[self._next]
        found = self._compared(cue, live.bare)
        if cue.method != live.method or found:
            return Miss(cue, found, False)
        self._next += 1
        return self._take(live.key, cue)

    def _behind_veil(self, live: Live) -> Cue | None:
        for cue in self._veiled.values():
            if cue.method == live.method and not self._compared(cue, live.bare):
                return cue
        return None

    def _compared(self, cue: Cue, bare: Any) -> list[Difference]:
        """What differs; where nothing does, which secret is which is settled."""
        trial = self.secrets.trial()
        found = differences(self._bare(cue.method, cue.name, cue.params), bare, trial)
        if not found:
            self.secrets = trial
        return found

    def _miss(self, live: Live) -> Miss:
        best: tuple[int, bool, Cue, list[Difference]] | None = None
        self._sort_spent()
        used = live.key in self._spent
        near = [cue for cue in self._cues if cue.method == live.method]
        near.sort(key=lambda cue: (cue.name != live.name, cue.key in self.used, cue.seq))
        for cue in near[:MAX_COMPARED]:
            bare = self._bare(live.method, cue.name, cue.params)
            found = differences(bare, live.bare, self.secrets.trial())
            rank = len(found) + (1000 if cue.name != live.name else 0)
            if best is None or (rank, cue.key in self.used) < best[:2]:
                best = (rank, cue.key in self.used, cue, found)
        if best is None:
            return Miss(None, [], used)
        return Miss(best[2], best[3], used or (not best[3] and best[1]))

    def _prepare(self, cue: Cue) -> tuple[str, bool, str]:
        """What ``Prepared`` holds of a recorded request. Placeholders count where they hide something."""
        params = cue.params
        key = self._key(cue.method, cue.name, self._bare(cue.method, cue.name, params))
        hides = self._mode in ("exact", "strict") and cue.method not in BY_METHOD
        return key + self._oddity(params), hides and "<redacted:" in key, key

    def _oddity(self, params: Any) -> str:
        """What a stateless request says of itself that no server may take ("Per-request metadata",
        2026-07-28): servers answer it with an error, whatever it asks for."""
        if not self._modern:
            return ""
        meta = params.get("_meta") if isinstance(params, dict) else None
        meta = meta if isinstance(meta, dict) else {}
        version, capabilities = meta.get(_VERSION), meta.get(_CAPABILITIES)
        odd = "" if isinstance(version, str) and version in REVISIONS else " version"
        return odd if isinstance(capabilities, dict) else f"{odd} capabilities"

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


def _push(table: _Table, key: str, cue: Cue) -> None:
    """Add one under a key; nearly always it is the only one."""
    there = table.setdefault(key, cue)
    if isinstance(there, deque):
        there.append(cue)
    elif there is not cue:
        table[key] = deque((there, cue))


def _pop(table: _Table, key: str) -> Cue | None:
    """Take the first one under a key."""
    there = table.pop(key, None)
    if not isinstance(there, deque):
        return there
    cue = there.popleft()
    if there:
        table[key] = there
    return cue


def _remove(table: _Table, key: str, cue: Cue) -> None:
    there = table.pop(key)
    if isinstance(there, deque):
        there.remove(cue)
        if there:
            table[key] = there


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
