"""What a recording tells of its sessions and connections."""

from __future__ import annotations

from typing import NamedTuple

#: What is said of frames that were not recorded as they are, by their provenance.
PROVENANCE = {"edited": "edited", "hand": "made by hand", "recorded": "recorded later"}


class SessionRow(NamedTuple):
    """One session of a file. Times are nanoseconds since the epoch; ``ended_how`` is ``None`` for
    a live session and for one that was killed."""

    number: int
    name: str
    group: str | None
    started_ns: int
    ended_ns: int | None
    ended_how: str | None
    origin: str
    note: str | None
    tags: str | None
    product: str
    frames: int
    connections: int


class ConnectionRow(NamedTuple):
    """One connection of a session. Identities and capabilities are JSON text."""

    number: int
    name: str
    transport: str
    target: str
    era: str | None
    era_found: str | None
    revision: str | None
    client_info: str | None
    server_info: str | None
    client_capabilities: str | None
    server_capabilities: str | None
    opened_ns: int
    closed_ns: int | None
    closed_how: str | None
    exit_code: int | None
    parent: int | None
