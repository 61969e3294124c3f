"""A recording that stands in for its server, in this process.

    mock = Mock("sessions/weather.jsonl", strict=True)

    async with mock.streams() as (read, write), ClientSession(read, write) as client:  # mcp 1.x and 2.x
    async with Client(mock.streams()) as client:                                       # mcp 2.x
    async with fastmcp.Client(mock.fastmcp()) as client:                               # FastMCP

    assert mock.agrees(), mock.report()

Nothing goes to the network or starts a process. Whichever client is used must be
installed; importing this module loads none of them.
"""

from __future__ import annotations

import heapq
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from operator import attrgetter
from time import monotonic
from typing import Any

from workbench.core.frame import Stream
from workbench.core.methods import REVISIONS
from workbench.replay.cast import Cast, Part
from workbench.replay.cues import Script
from workbench.replay.ends import is_end
from workbench.replay.faults import parse_fault
from workbench.replay.matching import parse_ignore
from workbench.replay.options import Options, parse_timing
from workbench.replay.script import build
from workbench.store.chosen import Chosen, choose_all

__all__ = ["Mock", "cast_of", "whole_cast"]


class Mock:
    """Stands in for the server of a recording: FILE as on the command line, with the same options.

    Each context of ``streams`` is a client of its own: it gets the next recorded connection that began with
    the same ``initialize``, or simply the next, and after all of them all again; or all get the one called
    ``connection``. Raises ``RecordingError`` when there is
    no such recording, ``UsageError`` when it is not clear which server is meant.
    """

    def __init__(
        self,
        file: str,
        *,
        match: str = "exact",
        ignore: Sequence[str] = (),
        fault: Sequence[str] = (),
        after: str = "",
        on_answer: str = "warn",
        order: str = "causal",
        strict: bool = False,
        timing: str = "none",
        connection: str = "",
    ) -> None:
        ignores = tuple(map(parse_ignore, ignore))
        faults = tuple(map(parse_fault, fault))
        options = Options(match, after, ignores, on_answer, order, strict, parse_timing(timing), faults)
        self._cast = whole_cast(file, options, lines=True)
        if connection:
            self._cast.fix(connection)

    def streams(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        """What a client of the official SDK reads from and writes to; a transport of its ``Client``."""
        return _streams(self._cast)

    def fastmcp(self) -> Any:
        """A transport for a FastMCP client; each connection of it is a client of its own."""
        from importlib import import_module

        from mcp import ClientSession

        mock = self
        base: Any = import_module("fastmcp.client.transports").ClientTransport

        class MockTransport(base):  # type: ignore[misc]
            @asynccontextmanager
            async def connect_session(
                self, *, transport_options: Any = None, **session: Any
            ) -> AsyncIterator[Any]:
                made = getattr(transport_options, "session_class", ClientSession)
                async with mock.streams() as (read, write), made(read, write, **session) as client:
                    yield client

        return MockTransport()

    def report(self) -> dict[str, Any]:
        """What happened so far, as ``replay server --report`` writes it."""
        return self._cast.value()

    def agrees(self) -> bool:
        """Whether everything that was asked for was recorded, and with ``strict`` the reverse."""
        return self._cast.agrees()


def whole_cast(file: str, options: Options, *, lines: bool) -> Cast:
    """The recorded connections of FILE as a cast that needs its file no more, for lines or for HTTP. Raises
    ``RecordingError`` and ``UsageError``."""
    chosen = choose_all(file)
    with chosen[0]:
        again = None if lines else partial(choose_all, file)
        cast = cast_of(chosen, options, at_once=True, lines=lines, again=again)
        for part in cast.parts:
            part.script.complete()
    return cast


def cast_of(
    chosen: Sequence[Chosen],
    options: Options,
    *,
    at_once: bool,
    lines: bool,
    again: Callable[[], Sequence[Chosen]] | None = None,
    stays_open: bool = False,
) -> Cast:
    """The recorded connections of one server as a cast. See ``build`` for ``at_once`` and ``lines``.
    ``again`` chooses the same once more: over HTTP whoever uses the place without a name gets all of the
    stateless era. It is played within the context of the first of the ``chosen`` if that ``stays_open``;
    else its scripts must be completed within it."""
    options = options.keeping(chosen[0].rules())
    parts = [_part(each, at_once, lines, stays_open) for each in chosen]
    pooled = None
    if again is not None and len(parts) > 1:
        pooled = Part("all", REVISIONS[-1], partial(_pool, again, parts))
    return Cast(chosen[0].path, parts, options, monotonic, pooled)


def _part(chosen: Chosen, at_once: bool, lines: bool, stays_open: bool) -> Part:
    def script() -> Script:
        return build(
            chosen.frames(),
            at_once=at_once,
            head=chosen.stream,
            lines=lines,
            ending=chosen.process,
            fetch=chosen.body if stays_open else None,
        )

    return Part(chosen.name, chosen.revision, script)


def _pool(again: Callable[[], Sequence[Chosen]], parts: Sequence[Part]) -> Script:
    """One script of all connections of the stateless era, in the order of their frames."""
    names = {part.name for part in parts if part.modern}
    chosen = again()
    with chosen[0]:
        stateless = [each for each in chosen if each.name in names]
        together = heapq.merge(*(each.frames() for each in stateless), key=attrgetter("seq"))

        def head(number: int) -> Stream | None:
            return next((found for each in stateless if (found := each.stream(number)) is not None), None)

        # How one of them ended is no end of the others.
        return build((frame for frame in together if not is_end(frame)), head=head, lines=False)


@asynccontextmanager
async def _streams(cast: Cast) -> AsyncIterator[tuple[Any, Any]]:
    from workbench.wire.sdk_streams import sdk_streams
    from workbench.wire.serving_mock import Host

    async with sdk_streams(Host(cast).serve) as pair:
        yield pair
