"""Keeping the lists of a server fresh: each by itself, never twice at once.

A list is read when the connection is ready, when the server says it has
changed, and when somebody asks. A burst of changes is one more reading, and a
list that fails or hangs holds up no other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import anyio
from anyio.abc import TaskGroup

from workbench.core.actions import Outcome
from workbench.core.methods import LIST_METHODS
from workbench.core.pages import Pages
from workbench.errors import ConnectionFailed, ProtocolError, WorkbenchError

#: How long is waited after a change for the next one, so that a burst is one reading (seconds).
BURST = 0.05


class Listings:
    """Runs ``fetch(method)`` for the listings that are wanted. ``failures`` are the sentences of
    the last readings that failed, by method."""

    def __init__(self, fetch: Callable[[str], Awaitable[object]]) -> None:
        self.failures: dict[str, str] = {}
        self._fetch = fetch
        self._group: TaskGroup | None = None
        self._again: dict[str, bool] = {}  # listings that are being read -> read again afterwards
        self._idle = anyio.Event()
        self._idle.set()

    def attend(self, group: TaskGroup) -> None:
        """Read from now on, in this task group."""
        self._group = group

    def want(self, methods: Iterable[str], *, changed: bool = False) -> None:
        """Read these listings. One that is being read already is read again afterwards only if it
        has ``changed``. Nothing happens when the connection is over."""
        for method in methods:
            if method in self._again:
                self._again[method] = self._again[method] or changed
            elif self._group is not None:
                self._again[method] = False
                self._idle = anyio.Event() if self._idle.is_set() else self._idle
                self._group.start_soon(self._read, method, changed)

    async def settled(self) -> None:
        """Wait until nothing is being read."""
        await self._idle.wait()

    def stop(self) -> None:
        """The connection is over: whoever waits goes on."""
        self._group = None
        self._again.clear()
        self._idle.set()

    async def _read(self, method: str, changed: bool) -> None:
        while True:
            if changed:
                await anyio.sleep(BURST)
                self._again[method] = False
            try:
                await self._fetch(method)
                self.failures.pop(method, None)
            except WorkbenchError as error:
                self.failures[method] = str(error)
            if not self._again.get(method):
                break
            changed = True
        self._again.pop(method, None)
        if not self._again:
            self._idle.set()


#: Every listing; tasks come and go, so nobody keeps that one fresh.
_ITEMS = {**LIST_METHODS, "tasks/list": "tasks"}

#: Sends a request with these params (JSON text) and waits for its end.
Request = Callable[[str, str | None], Awaitable[Outcome]]


async def read_all(name: str, method: str, request: Request) -> list[dict[str, Any]]:
    """All items of a listing of the connection ``name``; see ``Pages`` for the guard.

    Raises ``ProtocolError`` for an error of the server, ``ConnectionFailed`` for no answer.
    """
    pages = Pages(_ITEMS[method])
    while pages.more:
        outcome = await request(method, pages.params)
        if outcome.how == "error":
            raise ProtocolError(f"{name}: {method} failed: {outcome.sentence}; see the frame log.")
        if outcome.how != "result":
            raise ConnectionFailed(f"{name}: {method} was not answered: {outcome.sentence}")
        pages.take(await parsed(outcome))
    return pages.items


async def parsed(outcome: Outcome) -> Any:
    """The result of an outcome; a large one is parsed in a thread, so that no connection waits."""
    if outcome.large:
        return await anyio.to_thread.run_sync(lambda: outcome.result)
    return outcome.result
