"""A session on an event loop of its own, in a thread of its own.

A slow terminal stops the screen's event loop; the wire must not stop with it.
The screen makes the thread before its app and ends it after; it hands work in
with ``submit`` and ``call_soon`` and is told of changes by a listener, which
runs in the session's thread and must only post a message.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

import anyio

from workbench.session.live import Session

T = TypeVar("T")

#: How long the interpreter's end waits for a session that nobody stopped (seconds).
LONGEST_EXIT = 30.0


class SessionThread:
    """Made by ``start``; ``session`` may only be used from its own thread, but for what it
    declares safe (a connection's ``view``, the reader)."""

    session: Session

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._opened: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: anyio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="session", daemon=True)

    @classmethod
    def start(cls, **options: Any) -> SessionThread:
        """Open a session (options as for ``Session.open``) in a new thread and wait until it is
        open. Raises what opening raises."""
        thread = cls(options)
        thread._thread.start()
        thread._opened.result()
        # A daemon would be frozen in the middle when the interpreter ends; this is before that.
        atexit.register(thread._at_exit)
        return thread

    def submit(self, work: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> Future[T]:
        """Run a coroutine function in the session's loop. The future may be cancelled. Once the
        session is over the future fails with ``RuntimeError``."""
        loop = self._loop
        if loop is None or not self._thread.is_alive():
            return _failed(RuntimeError("the session is over"))
        coroutine = work(*args)
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, loop)
        except RuntimeError as error:
            coroutine.close()
            return _failed(error)

    def call_soon(self, work: Callable[..., object], *args: Any) -> None:
        """Call something in the session's loop. Nothing happens once the session is over."""
        if self._loop is not None:
            try:
                self._loop.call_soon_threadsafe(work, *args)
            except RuntimeError:
                return

    def stop(self, ended_how: str = "closed", timeout: float | None = None) -> bool:
        """End all connections and the recording, and wait for that; whether it came to an end
        within ``timeout`` (seconds). Does no harm a second time."""
        self.call_soon(self._end, ended_how)
        self._thread.join(timeout)
        if not self._thread.is_alive():
            atexit.unregister(self._at_exit)
        return not self._thread.is_alive()

    def _at_exit(self) -> None:
        self.stop(timeout=LONGEST_EXIT)

    def _end(self, ended_how: str) -> None:
        if self.session.ended_how == "closed":
            self.session.ended_how = ended_how
        assert self._stop is not None
        self._stop.set()

    def _run(self) -> None:
        try:
            anyio.run(self._main)
        except BaseException as error:
            if self._opened.done():
                raise
            self._opened.set_exception(error)

    async def _main(self) -> None:
        async with Session.open(**self._options) as session:
            self.session = session
            self._stop = anyio.Event()
            self._loop = asyncio.get_running_loop()
            self._opened.set_result(None)
            await self._stop.wait()


def _failed(error: BaseException) -> Future[Any]:
    future: Future[Any] = Future()
    future.set_exception(error)
    return future
