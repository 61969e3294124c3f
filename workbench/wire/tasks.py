"""Following the tasks of our calls: polled until they end, and then the call ends with the result.

What a task is and when it is asked for, ``core.tasks`` knows. Here are the waiting
and the requests.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import anyio
from anyio.abc import TaskGroup

from workbench.core.actions import Outcome
from workbench.core.tasks import MAX_SILENT_POLLS, Task, created
from workbench.wire.calls import Call

#: Ended tasks are forgotten beyond so many.
MAX_KEPT = 1_000

#: Sends a request about a task: method, params (JSON text), and a timeout, ``None`` for the usual.
Ask = Callable[[str, str, float | None], Call]


class Tasks:
    """``known`` are the tasks of our calls by their id, the ended ones too. ``ended(call, outcome)``
    is told of the end of a call, ``changed()`` of news about a task."""

    def __init__(self, ask: Ask, ended: Callable[[Call, Outcome], None], changed: Callable[[], None]) -> None:
        self.known: OrderedDict[str, Task] = OrderedDict()
        self._ask = ask
        self._ended = ended
        self._changed = changed
        self._group: TaskGroup | None = None
        self._news: dict[str, anyio.Event] = {}
        self._unmade: dict[int, Call] = {}

    def attend(self, group: TaskGroup) -> None:
        """Follow tasks from now on, in this task group."""
        self._group = group

    def stop(self) -> None:
        """The connection is over."""
        self._group = None

    def expect(self, call: Call, seconds: float) -> None:
        """A request for a task was sent. It is given up if it is not answered in time; nothing is
        cancelled on the wire, because a task is only ever cancelled as a task."""
        if self._group is not None and seconds < math.inf:
            self._group.start_soon(self._limit, call, seconds)

    def begins(self, call: Call, outcome: Outcome) -> bool:
        """The request of a call has its answer: whether that is a task, so that the call goes on."""
        if outcome.how != "result" or outcome.large or self._group is None:
            return False
        task = created(outcome.result, call.number, time.monotonic())
        if task is None:
            call.remarks.append(f"the server answered {call.method} at once, without a task")
            return False
        self._keep(task)
        call.made(task.id)
        self._group.start_soon(self._follow, call, task.id)
        return True

    def orphaned(self, number: int, outcome: Outcome) -> None:
        """A call that had been given up is answered after all: the task it made is not wanted."""
        task = None if outcome.large else created(outcome.result, number, time.monotonic())
        if self._unmade.pop(number, None) is not None and task is not None:
            self._keep(task)
            self._cancel(task)

    def cancel(self, call: Call, why: str, how: str = "cancelled") -> None:
        """Give a call up: its task is cancelled, now or when it turns out to have been made."""
        if call.task is None:
            self._unmade[call.number] = call
        elif not self.known[call.task].over:
            self._cancel(self.known[call.task])
        self._ended(call, Outcome(how, call.seconds, why=why))

    def told(self, params: Any) -> None:
        """Take a ``notifications/tasks/status``."""
        id = params.get("taskId") if isinstance(params, dict) else None
        task = self.known.get(id) if isinstance(id, str) else None
        if task is not None:
            self._keep(task.told(params))

    def _keep(self, task: Task) -> None:
        self.known[task.id] = task
        if len(self.known) > MAX_KEPT:
            oldest = next((each.id for each in self.known.values() if each.over), None)
            if oldest is not None:
                del self.known[oldest]
        self._news.pop(task.id, anyio.Event()).set()
        self._changed()

    def _cancel(self, task: Task) -> None:
        if self._group is not None:
            self._group.start_soon(self._asked_to_end, task)

    async def _asked_to_end(self, task: Task) -> None:
        outcome = await self._ask("tasks/cancel", task.params, None).wait()
        self._keep(self.known.get(task.id, task).told(outcome.result))

    async def _limit(self, call: Call, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await call.wait_made()
        if call.task is None and call.outcome is None:
            self.cancel(call, f"No answer to {call.method} within {seconds:.3g} s.", "timeout")

    async def _follow(self, call: Call, id: str) -> None:
        """Ask for a task until it has ended or wants something of us, then for its result, which
        ends the call. What it wants comes as requests of the server while the result is awaited."""
        due = anyio.Event()
        async with anyio.create_task_group() as group:
            group.start_soon(self._poll, call, id, due)
            group.start_soon(_when_done, call, group.cancel_scope)
            await due.wait()
            outcome = await self._ask("tasks/result", self.known[id].params, math.inf).wait()
            if call.outcome is None:
                self._ended(call, replace(outcome, seconds=call.seconds))

    async def _poll(self, call: Call, id: str, due: anyio.Event) -> None:
        silent = 0
        while not self.known[id].over:
            if self.known[id].status == "input_required":
                due.set()
            await self._pause(id)
            if self.known[id].over:
                break
            outcome = await self._ask("tasks/get", self.known[id].params, None).wait()
            silent = 0 if outcome.how == "result" else silent + 1
            if outcome.how == "result":
                self._keep(self.known[id].told(outcome.result))
            elif outcome.how != "timeout" or silent >= MAX_SILENT_POLLS:
                self._ended(call, replace(outcome, seconds=call.seconds))
                return
        due.set()

    async def _pause(self, id: str) -> None:
        """Wait until the next poll is due, or the server has told of the task by itself."""
        task = self.known[id]
        self._keep(replace(task, next_poll=time.monotonic() + task.interval))
        news = self._news[id] = anyio.Event()
        with anyio.move_on_after(task.interval):
            await news.wait()


async def _when_done(call: Call, scope: anyio.CancelScope) -> None:
    await call.wait()
    scope.cancel()
