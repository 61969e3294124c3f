"""The states of a connection as tables, one row a step: what both eras share, and each by itself.

``docs/lifecycle.md`` is drawn from them; a test holds the two together. Nothing
else decides what a connection's state is: the conversation advances through the
tables while it is live, and the fold advances through them again when a
recording is opened.

Source: "Lifecycle" of the revisions 2024-11-05 to 2025-11-25, "Versioning" of
2026-07-28. What the protocol leaves open (a peer that never starts, refuses, or
will not end) has states of its own here, because each needs another next step.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class State(StrEnum):
    """Where a connection stands. The value is the word that is shown and stored."""

    NEW = "new"
    STARTING = "starting"
    PROBING = "probing"
    INITIALIZING = "initializing"
    READY = "ready"
    CLOSING = "closing"
    CLOSED = "closed"
    NOT_STARTED = "not_started"
    UNREACHABLE = "unreachable"
    UNAUTHORIZED = "unauthorized"
    START_TIMEOUT = "start_timeout"
    VERSION_MISMATCH = "version_mismatch"
    CAPABILITY_MISSING = "capability_missing"
    REFUSED = "refused"
    EXITED = "exited"
    LOST = "lost"
    SESSION_LOST = "session_lost"
    SHUTDOWN_TIMEOUT = "shutdown_timeout"


class Event(StrEnum):
    """What moves a connection on."""

    START = "start"
    START_FAILED = "start failed"
    UNREACHABLE = "not reached"
    UNAUTHORIZED = "authorization refused"
    PROBED = "server/discover sent"
    DISCOVERED = "stateless era found"
    OFFERED = "initialize sent"
    AGREED = "initialize answered"
    MISMATCHED = "revision not acceptable"
    LACKING = "required capability not offered"
    REFUSED = "initialize refused"
    TIMED_OUT = "initialize not answered in time"
    CLOSE = "closing begun"
    ENDED = "peer gone"
    LOST = "transport lost"
    SESSION_LOST = "session unknown to the server"
    FORCED = "peer had to be ended by a signal"


ON_THE_WAY = frozenset((State.NEW, State.STARTING, State.PROBING, State.INITIALIZING, State.CLOSING))

FAILED = frozenset(
    (
        State.NOT_STARTED,
        State.UNREACHABLE,
        State.UNAUTHORIZED,
        State.START_TIMEOUT,
        State.VERSION_MISMATCH,
        State.CAPABILITY_MISSING,
        State.REFUSED,
        State.EXITED,
        State.LOST,
        State.SESSION_LOST,
        State.SHUTDOWN_TIMEOUT,
    )
)

#: States in which nothing more is expected from the peer.
OVER = FAILED | {State.CLOSED}

_BEGINNING = (State.NEW, State.STARTING, State.PROBING, State.INITIALIZING)
_STARTED = (State.STARTING, State.PROBING, State.INITIALIZING, State.READY)

Table = Mapping[tuple[State, Event], State]

#: What happens in either era, and how every connection ends.
EITHER: Table = {
    (State.NEW, Event.START): State.STARTING,
    (State.NEW, Event.START_FAILED): State.NOT_STARTED,
    (State.NEW, Event.CLOSE): State.CLOSED,
    (State.STARTING, Event.START_FAILED): State.NOT_STARTED,
    (State.STARTING, Event.TIMED_OUT): State.START_TIMEOUT,
    **{(state, Event.UNREACHABLE): State.UNREACHABLE for state in _BEGINNING},
    **{(state, Event.UNAUTHORIZED): State.UNAUTHORIZED for state in (*_BEGINNING, State.READY)},
    **{(state, Event.LOST): State.LOST for state in (*_BEGINNING, State.READY)},
    **{(state, Event.CLOSE): State.CLOSING for state in _STARTED},
    **{(state, Event.ENDED): State.EXITED for state in _STARTED},
    (State.CLOSING, Event.ENDED): State.CLOSED,
    (State.CLOSING, Event.FORCED): State.SHUTDOWN_TIMEOUT,
    # A connection stays when it is over, and one key starts it again.
    **{(state, Event.START): State.STARTING for state in State if state in OVER},
}

#: The handshake era: ``initialize`` is offered and answered.
HANDSHAKE: Table = {
    (State.STARTING, Event.OFFERED): State.INITIALIZING,
    (State.INITIALIZING, Event.AGREED): State.READY,
    (State.INITIALIZING, Event.MISMATCHED): State.VERSION_MISMATCH,
    (State.INITIALIZING, Event.LACKING): State.CAPABILITY_MISSING,
    (State.INITIALIZING, Event.REFUSED): State.REFUSED,
    (State.INITIALIZING, Event.TIMED_OUT): State.START_TIMEOUT,
    (State.READY, Event.SESSION_LOST): State.SESSION_LOST,
}

#: The stateless era: ``server/discover`` asks who is there.
STATELESS: Table = {
    (State.STARTING, Event.PROBED): State.PROBING,
    (State.PROBING, Event.DISCOVERED): State.READY,
    (State.PROBING, Event.MISMATCHED): State.VERSION_MISMATCH,
    (State.PROBING, Event.LACKING): State.CAPABILITY_MISSING,
    (State.PROBING, Event.REFUSED): State.REFUSED,
    (State.PROBING, Event.TIMED_OUT): State.START_TIMEOUT,
}

#: From one era to the other, where it had to be found out which one a server speaks.
TURNING: Table = {
    (State.PROBING, Event.OFFERED): State.INITIALIZING,
    # The answer to server/discover came after its time, and before the one to initialize.
    (State.INITIALIZING, Event.DISCOVERED): State.READY,
    # The other era can need a new process: the first one is locked to the era it was asked in.
    (State.PROBING, Event.START): State.STARTING,
    (State.INITIALIZING, Event.START): State.STARTING,
}

TABLES = (EITHER, HANDSHAKE, STATELESS, TURNING)

#: Every step there is.
STEPS: Table = {key: after for table in TABLES for key, after in table.items()}


def advance(state: State, event: Event) -> State:
    """The state after an event; an event that means nothing in a state leaves it as it is."""
    return STEPS.get((state, event), state)


def group(state: State) -> str:
    """The mark a state is shown with: ``ready``, ``on the way``, ``closed`` or ``failed``."""
    if state is State.READY:
        return "ready"
    if state in ON_THE_WAY:
        return "on the way"
    return "closed" if state is State.CLOSED else "failed"


def diagram(table: Table) -> str:
    """A table as a Mermaid state diagram, which ``docs/lifecycle.md`` holds."""
    begin = ["    [*] --> new"] if (State.NEW, Event.START) in table else []
    steps = [f"    {state} --> {after}: {event}" for (state, event), after in table.items()]
    return "\n".join(["stateDiagram-v2", *begin, *steps])
