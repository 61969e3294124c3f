"""Waiting for one of several things."""

from __future__ import annotations

import anyio


async def first_of(*events: anyio.Event) -> None:
    """Wait for any of these."""

    async def wait(event: anyio.Event) -> None:
        await event.wait()
        group.cancel_scope.cancel()

    async with anyio.create_task_group() as group:
        for event in events:
            group.start_soon(wait, event)
