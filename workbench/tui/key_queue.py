"""Keys one after the other: the next one waits until the one before has done its work.

The framework hands keys on through a queue a widget, so of several that come in
one piece (a fast hand over SSH, a script, a paste without brackets) a later one
could reach a widget that an earlier one has just taken the focus from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from textual import events
from textual.app import App
from textual.message_pump import MessagePump

#: How long one widget may take before the next key goes on without it (seconds).
PATIENCE = 0.25


class KeyQueue:
    """``put`` keys; each is ``handled``, then everything it may have set off."""

    def __init__(self, app: App[Any], handle: Callable[[events.Key], Awaitable[None]]) -> None:
        self._app = app
        self._handle = handle
        self._keys: asyncio.Queue[events.Key] = asyncio.Queue()
        self._busy = False
        self._task: asyncio.Task[None] | None = None

    @property
    def idle(self) -> bool:
        return not self._busy and self._keys.empty()

    def put(self, key: events.Key) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="keys")
        self._busy = True
        self._keys.put_nowait(key)

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        while True:
            key = await self._keys.get()
            self._busy = True
            await self._handle(key)
            # A key may end in a message, and that in a change of focus, which the app does.
            for _ in range(2):
                await self._settle()
            self._busy = not self._keys.empty()

    async def _settle(self) -> None:
        if not self._app.is_running:
            return
        focused = self._app.focused
        nodes: list[MessagePump] = list(focused.ancestors_with_self) if focused is not None else []
        for node in nodes or [self._app.screen, self._app]:
            if not await _drained(node):
                return


async def _drained(node: MessagePump) -> bool:
    """Wait until a node has worked off the messages it has now."""
    done = asyncio.Event()
    if not node.is_running or not node.call_later(done.set):
        return True
    try:
        await asyncio.wait_for(done.wait(), PATIENCE)
    except TimeoutError:
        return False
    return True
