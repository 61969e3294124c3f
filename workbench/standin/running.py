"""A stand-in with HTTP on one of its sides: recorded by the other process, ended by a signal or by itself.

What the stand-in for pipes does with threads and blocking calls is done here by an event loop;
the recorder's process is the same.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio
from anyio.abc import TaskStatus

from workbench.standin.recording import Recording
from workbench.standin.scribe import Scribe, complain
from workbench.standin.sink import RingSink

#: What ends it.
ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

#: How often is looked whether the file is whole (seconds).
_LOOK = 0.02

#: Does what there is to do, and returns the exit status. It is cancelled when a signal comes.
Work = Callable[[RingSink], Awaitable[int]]


def record(recording: Recording, work: Work, *, ours: Sequence[int] = (), tell: bool = False) -> int:
    """Do ``work``, record what it tells, and return the exit status: that of the work, or 128 and the
    number of the signal that ended it. With ``tell`` the file is named on stderr. ``ours`` are descriptors
    that the recorder's process must not have.

    Raises ``RecordingError``, before anything is done, if the file cannot be made.
    """
    scribe = Scribe(recording, ours)
    path = scribe.opened()
    if tell:
        complain(f"recording to {path}")

    def child_ended(_number: int, _frame: Any) -> None:
        if scribe.lost():
            complain("the recorder is gone, nothing more is recorded; the server goes on without it")

    signal.signal(signal.SIGCHLD, child_ended)
    ended_how, status = "closed", 1
    try:
        number, status = anyio.run(_until_ended, work, RingSink(scribe.ring))
        if number:
            ended_how = f"signal:{signal.Signals(number).name.removeprefix('SIG')}"
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        scribe.end(ended_how)
        _until_written(scribe)
    return status


async def _until_ended(work: Work, sink: RingSink) -> tuple[int, int]:
    """The signal that ended the work, 0 for none, and the exit status."""
    number = status = 0
    async with anyio.create_task_group() as group:

        async def heed(*, task_status: TaskStatus[None]) -> None:
            nonlocal number, status
            # One that we inherited as ignored (``nohup``, a background job) stays ignored.
            heeded = [each for each in ENDING if signal.getsignal(each) is not signal.SIG_IGN]
            with anyio.open_signal_receiver(*heeded) as received:
                task_status.started()
                async for each in received:
                    number, status = int(each), 128 + each
                    group.cancel_scope.cancel()

        await group.start(heed)
        status = await work(sink)
        group.cancel_scope.cancel()
    return number, status


def _until_written(scribe: Scribe) -> None:
    """Wait for the file to be whole. Who does not want to wait sends a signal: the recorder goes on
    by itself."""
    signals: list[int] = []
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda each, _: signals.append(each))
    while not scribe.ended() and not signals:
        time.sleep(_LOOK)
