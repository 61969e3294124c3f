"""One live connection of a mock client, and how its requests go."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from workbench.core.jsonrpc import Message
from workbench.replay.diff import Difference
from workbench.replay.turns import Query, Request

#: Tools of one live server that are remembered.
MAX_TOOLS = 10_000


class Run:
    """A recorded request, sent again. ``id`` is its live id (JSON text) and ``sent`` its live body; ``began``
    is when it was sent (seconds, below 0 for never), ``heard`` when it last gave a sign of life and
    ``ended`` when it was done. ``live`` is the answer, the frame ``seq``, and
    ``body`` its bytes. ``gone`` tells that
    its server went before it answered. ``poll_at`` is when a task is asked for again. ``pages`` are
    the pages of a list that came after it and were not recorded, ``unneeded`` tells that the list had
    ended before it, ``settled`` that all pages were compared, and ``renew`` that its answer may take
    the place of the recorded one."""

    __slots__ = (
        *("began", "body", "cancelled", "differences", "done", "ended", "gone", "heard", "id", "live"),
        *("pages", "poll_at", "renew", "request", "rounds", "sent", "seq", "settled", "unneeded", "why"),
    )

    def __init__(self, request: Request) -> None:
        self.request = request
        self.id = request.id
        self.sent = b""
        self.began = self.heard = self.ended = -1.0
        self.done = False
        self.gone = False
        self.cancelled = False
        self.live: Message | None = None
        self.body = b""
        self.seq = 0
        self.why = ""
        self.rounds = 0
        self.pages: list[tuple[Message, bytes]] = []
        self.unneeded = False
        self.settled = False
        self.renew: bool | None = None
        self.poll_at: float | None = None
        self.differences: tuple[Difference, ...] = ()

    def begin(self, id: str, now: float, body: bytes) -> None:
        self.id, self.sent = id, body
        self.began = self.heard = now


class Line:
    """``opened`` once its server is reached, ``over`` once nothing goes out any more, with the reason
    ``why``, and ``gone`` if there is no server any more. ``tools`` are those the live server
    listed, ``revision`` is what was agreed on, ``code`` its exit status."""

    def __init__(self, connection: int) -> None:
        self.connection = connection
        self.opened = False
        self.over = False
        self.gone = False
        self.why = ""
        self.code: int | None = None
        self.revision: str | None = None
        self.tools: dict[str, Any] = {}
        self._open: dict[str, deque[Run]] = {}
        self._tokens: dict[str, Run] = {}
        self._known: set[str] = set()
        self._pausing: dict[int, Run] = {}

    def expect(self, run: Run) -> None:
        """A request has gone out."""
        self._open.setdefault(run.id, deque()).append(run)
        self._known.add(run.id)
        self._pausing.pop(run.request.key, None)
        if run.request.token is not None:
            self._tokens[run.request.token] = run

    def answered(self, id: str) -> Run | None:
        """The request with this id (JSON text), which is not waited for any more."""
        waiting = self._open.get(id)
        if not waiting:
            return None
        run = waiting.popleft()
        if not waiting:
            del self._open[id]
        return run

    def pause(self, run: Run) -> None:
        """A task is not done; it is asked for again later."""
        self._pausing[run.request.key] = run

    def knew(self, id: str) -> bool:
        """Whether a request of this id was ever sent."""
        return id in self._known

    def by_token(self, token: str) -> Run | None:
        run = self._tokens.get(token)
        return None if run is None or run.done else run

    def waiting(self) -> list[Run]:
        """Requests that are not done, those that wait for their next poll too."""
        runs = [run for several in self._open.values() for run in several]
        return [run for run in (*runs, *self._pausing.values()) if not run.done]

    def tool_names(self) -> Sequence[str]:
        """The names of the tools that run."""
        return [
            run.request.name
            for run in self.waiting()
            if run.request.method == "tools/call" and run.request.name is not None
        ]

    def learn_tools(self, listing: Any) -> None:
        """Take a page of ``tools/list``."""
        tools = listing.get("tools") if isinstance(listing, dict) else None
        for tool in tools if isinstance(tools, list) else ():
            name = tool.get("name") if isinstance(tool, dict) else None
            if isinstance(name, str) and len(self.tools) < MAX_TOOLS:
                self.tools[name] = tool


class Answering(NamedTuple):
    """A question of the live server, ``id`` (JSON text), that was recorded as ``query``."""

    query: Query
    line: Line
    id: str
    message: Message
