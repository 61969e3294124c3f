"""A session of a recording with everything in it that is needed to replay its clients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.core.frame import Frame, Stream
from workbench.errors import UsageError
from workbench.store.library import resolve
from workbench.store.reader import Reader


class Whole(NamedTuple):
    """``frames`` of all connections (or of those that were named) in order and the HTTP ``streams`` they
    came on, ``names`` of these connections by number, and the ``rules`` kept with the session."""

    path: str
    session: int
    name: str
    names: dict[int, str]
    frames: list[Frame]
    streams: list[Stream]
    rules: list[tuple[str, str]]


def read_whole(file: str, connections: Sequence[str] = ()) -> Whole:
    """What FILE names: a session, or one connection of it; ``connections`` leave the others out.

    Raises ``UsageError`` where several sessions are there and none is named, ``RecordingError`` when
    there is no such recording.
    """
    chosen = resolve(file)
    with Reader.open(chosen.path, session=chosen.session) as reader:
        sessions = reader.sessions()
        if chosen.session is None and len(sessions) > 1:
            listed = ", ".join(f"{each.number} {each.name}".strip() for each in sessions)
            raise UsageError(
                f"{chosen.path} has {len(sessions)} sessions ({listed}); "
                f"name one, for example {chosen.path}#{sessions[0].number}."
            )
        known = {row.number: row.name or str(row.number) for row in reader.connections()}
        wanted = [chosen.connection] if chosen.connection is not None else list(connections)
        for each in wanted:
            if each not in (*known.values(), *map(str, known)):
                raise UsageError(
                    f"{chosen.path} has no connection {each} ({', '.join(known.values())}); name another."
                )
        if not known:
            raise UsageError(f"{chosen.path} holds no connection that could be replayed; record one first.")
        names = {
            number: name
            for number, name in known.items()
            if not wanted or name in wanted or str(number) in wanted
        }
        name = next(each.name for each in sessions if each.number == reader.session)
        return Whole(
            chosen.path,
            reader.session,
            name,
            names,
            [frame for frame in reader.frames() if frame.connection in names],
            reader.streams(),
            reader.rules(),
        )
