"""The connection as the checks see it: what was agreed, what is open, and the frame at hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.check.rule import Finding, Rule
from workbench.core.exchange import Exchange, Orphaned, Told
from workbench.core.exchanges import Pairing
from workbench.core.frame import Channel, Direction, Frame, Kind, Stream
from workbench.core.jsonrpc import Decoded, Message, dumps
from workbench.core.methods import LATEST_HANDSHAKE, REVISIONS

#: More findings than this on one frame say nothing new.
MAX_PER_FRAME = 20

#: Characters of a peer's text in a detail.
MAX_DETAIL = 200

#: The keys of ``_meta`` that every request of 2026-07-28 has ("Base protocol: _meta").
META_VERSION = "io.modelcontextprotocol/protocolVersion"
META_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
META_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

STATELESS_FROM = REVISIONS[4]

_NO_FRAME = Frame(0, 0, 0, 0, Direction.NONE, Channel.NOTE, Kind.NOTE, b"", 0)
_NOTHING = Decoded(Kind.NOTE)


class Watched:
    """``era`` is ``legacy`` or ``modern``, empty before the client has shown which. ``revision`` is
    the released revision whose rules hold, ``claimed`` what was answered to ``initialize`` or is in
    ``_meta``, word for word. Capabilities are ``None`` while a side has not told them."""

    def __init__(self) -> None:
        self.pairing = Pairing(keep_related=False, live=True)
        self.era = ""
        self.revision: str | None = None
        self.claimed: str | None = None
        self.client_capabilities: dict[str, Any] | None = None
        self.server_capabilities: dict[str, Any] | None = None
        self.frame = _NO_FRAME
        self.decoded = _NOTHING
        self.stream: Stream | None = None
        #: Set, for one frame, by the check of a transport: its body is no message and need not be.
        self.excused = False
        self.findings: list[Finding] = []

    @property
    def modern(self) -> bool:
        return self.era == "modern"

    @property
    def over_http(self) -> bool:
        return self.frame.channel in (Channel.HTTP, Channel.SSE)

    @property
    def from_server(self) -> bool:
        return self.frame.direction is Direction.TO_CLIENT

    def found(self, rule: Rule, pointer: str = "", detail: str = "", seq: int | None = None) -> None:
        """Note that the frame at hand (or ``seq``) breaks a rule, unless the revision has no such rule."""
        if self.revision is not None and not rule.revisions[0] <= self.revision <= rule.revisions[1]:
            return
        if len(self.findings) < MAX_PER_FRAME:
            at = self.frame.seq if seq is None else seq
            self.findings.append(Finding(at, rule, pointer, detail[:MAX_DETAIL]))

    def agree(self, claimed: str, era: str) -> None:
        """From now on the rules of this revision hold."""
        self.claimed, self.era = claimed, era
        revision = released(claimed)
        self.revision = min(revision, LATEST_HANDSHAKE) if era == "legacy" else STATELESS_FROM


def released(claimed: str) -> str:
    """The released revision whose rules fit a claimed one best: itself, or for another date the last
    one before it; the latest with a handshake for what is no date."""
    if claimed in REVISIONS:
        return claimed
    if not claimed[:4].isdecimal():
        return LATEST_HANDSHAKE
    return max((each for each in REVISIONS if each <= claimed), default=REVISIONS[0])


def params_of(message: Message) -> dict[str, Any]:
    """The params of a small message, empty where there are none, or they are no object."""
    params = message.members.get("params")
    return params if isinstance(params, dict) else {}


def result_of(message: Message) -> dict[str, Any]:
    """The result of a small message, empty where there is none, or it is no object."""
    result = message.members.get("result")
    return result if isinstance(result, dict) else {}


def inner(value: Any, *path: str) -> Any:
    """The value at a path of object keys; ``None`` where there is none."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def short(value: Any) -> str:
    """A value as a detail tells it: text and numbers as they are, other things by their kind. (The
    text of something nested deeply cannot be had.)"""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "an object"
    return "an array" if isinstance(value, list) else dumps(value)


def brief(text: str) -> str:
    """What is remembered of an id, a token or a cursor: itself, or of a very long one enough to know
    it again, so that what is held stays small whatever a peer sends."""
    return text if len(text) <= MAX_DETAIL else f"{text[:MAX_DETAIL]}{len(text)}:{hash(text)}"


OnFrame = Callable[[], None]
OnRequest = Callable[[Exchange, Message], None]
OnAnswer = Callable[[Exchange, Message], None]
OnTold = Callable[[Told], None]
OnOrphan = Callable[[Orphaned], None]
OnStream = Callable[[Stream], None]


class Hooks:
    """Where checks ask to be called. Those for one method are found by its name, so that a frame
    costs only the checks that have to do with it."""

    def __init__(self) -> None:
        self.frames: list[OnFrame] = []
        self.requests: list[OnRequest] = []
        self.answers: list[OnAnswer] = []
        self.told: list[OnTold] = []
        self.orphans: list[OnOrphan] = []
        self.streams: list[OnStream] = []
        self.request_of: dict[str, list[OnRequest]] = {}
        self.answer_of: dict[str, list[OnAnswer]] = {}
        self.told_of: dict[str, list[OnTold]] = {}

    def on_request(self, call: OnRequest, *methods: str) -> None:
        """Requests of these methods; before ``Watched`` has learned anything from them."""
        for method in methods:
            self.request_of.setdefault(method, []).append(call)

    def on_answer(self, call: OnAnswer, *methods: str) -> None:
        """Answers, also late ones, to requests of these methods."""
        for method in methods:
            self.answer_of.setdefault(method, []).append(call)

    def on_told(self, call: OnTold, *methods: str) -> None:
        """Notifications of these methods."""
        for method in methods:
            self.told_of.setdefault(method, []).append(call)
