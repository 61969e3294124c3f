"""What the panes show of one connection, as plain immutable values.

``fold`` makes them from frames, for a live connection and for an opened
recording alike. All text in them is the peer's own and unsafe for a terminal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from workbench.core.frame import Direction
from workbench.core.lifecycle import State


@dataclass(frozen=True, slots=True)
class Item:
    """A tool, resource, template or prompt (``kind``) as listed.

    ``name`` is what it is called by: the name, for resources the URI, for templates the URI
    template. ``title`` is what to show, never empty. ``value`` is the definition as parsed.
    ``marks`` are words such as ``read-only``, ``destructive``, ``idempotent``, ``task``.
    ``change`` tells how it differs from the listing before: ``""``, ``added``, ``changed`` or
    ``removed`` (a removed item keeps its last definition).
    """

    kind: str
    name: str
    title: str
    description: str
    value: dict[str, Any]
    signature: str = ""
    marks: tuple[str, ...] = ()
    change: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the lifecycle. ``duration_ns`` is set where something was waited for."""

    seq: int
    mono_ns: int
    direction: Direction
    label: str
    detail: str = ""
    duration_ns: int | None = None


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A ``notifications/message``. ``text`` is ``data`` if that is a string, else its JSON text,
    cut at ``logbook.MAX_LOG_TEXT`` characters. ``level`` is as sent, whatever it is."""

    seq: int
    wall_ns: int
    level: str
    logger: str
    text: str


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A request of ours without an answer. ``progress`` and ``total`` are as last reported."""

    id: str
    seq: int
    method: str
    name: str | None
    started_ns: int
    progress: float | None = None
    total: float | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class PeerCall:
    """A request of the peer without an answer. ``params`` is the parsed value."""

    id: str
    seq: int
    method: str
    params: Any
    started_ns: int


class FindingCounts(NamedTuple):
    """How often rules were broken on a connection, by severity."""

    error: int = 0
    warning: int = 0
    info: int = 0

    @property
    def total(self) -> int:
        return sum(self)


class OpenStream(NamedTuple):
    """A pipe of the server's process, or an HTTP stream that stays open.

    ``name`` is ``stdin``, ``stdout``, ``stderr``; for HTTP ``listening`` (a GET), ``events`` (the
    stream of HTTP+SSE), ``subscription``, ``resumed call``, or ``calls``, of which ``posts`` are
    open. ``state`` is ``open`` or ``closed`` for a pipe, else one of ``stream_states``. ``number``
    is that of its ``Stream`` now; ``since_ns`` is monotonic. ``why`` and ``status`` belong to the
    state, ``attempt`` and ``seconds`` to a wait.
    """

    name: str
    state: str
    verb: str = ""
    number: int = 0
    since_ns: int | None = None
    why: str = ""
    status: int | None = None
    event_id: str | None = None
    retry_ms: int | None = None
    attempt: int = 0
    seconds: float | None = None
    posts: int = 0


@dataclass(frozen=True, slots=True)
class ConnectionView:
    """One connection at one moment. ``version`` grows with every change."""

    number: int
    name: str
    transport: str
    target: str
    version: int = 0
    state: State = State.NEW
    why: str = ""
    next_step: str = ""
    era: str = ""
    #: By what the era was found out, a sentence or the end of one.
    era_found: str = ""
    offered: str | None = None
    revision: str | None = None
    client_info: dict[str, Any] = field(default_factory=dict)
    server_info: dict[str, Any] = field(default_factory=dict)
    client_capabilities: dict[str, Any] = field(default_factory=dict)
    server_capabilities: dict[str, Any] = field(default_factory=dict)
    agreed: tuple[str, ...] = ()
    instructions: str = ""
    command: tuple[str, ...] = ()
    cwd: str = ""
    pid: int | None = None
    exit_code: int | None = None
    signal: str | None = None
    steps: tuple[Step, ...] = ()
    tools: tuple[Item, ...] = ()
    resources: tuple[Item, ...] = ()
    templates: tuple[Item, ...] = ()
    prompts: tuple[Item, ...] = ()
    #: Listings (methods) that have been read to their end at least once.
    listed: frozenset[str] = frozenset()
    list_errors: dict[str, str] = field(default_factory=dict)
    #: What is strange about a listing that came, by method.
    list_notes: dict[str, str] = field(default_factory=dict)
    subscribed: frozenset[str] = frozenset()
    #: Updated resources: URI -> seq of the last ``resources/updated``.
    updates: dict[str, int] = field(default_factory=dict)
    log_level: str | None = None
    logs: tuple[LogEntry, ...] = ()
    #: Log messages seen in all; ``logs`` holds the last of them.
    log_count: int = 0
    stderr: tuple[tuple[int, str], ...] = ()
    stderr_count: int = 0
    #: What is open between the two, and what was.
    streams: tuple[OpenStream, ...] = ()
    #: How often a stream of HTTP was asked for again.
    reconnects: int = 0
    #: The HTTP session: its id as granted, and ``granted``, ``lost``, ``ended`` or ``kept``.
    session_id: str = ""
    session: str = ""
    frames: int = 0
    errors: int = 0
    findings: FindingCounts = field(default_factory=FindingCounts)
    latency_ns: int | None = None
    open_calls: tuple[OpenCall, ...] = ()
    peer_requests: tuple[PeerCall, ...] = ()
