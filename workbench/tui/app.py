"""The screen's program: the session around it, the app in it.

Only the framework and light parts are loaded before the first paint. The session
is opened after it, in a thread, and closed here, after the app, whatever ended
it: a key, a signal, a lost terminal.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.screen import Screen

from workbench.tui.aside import tell
from workbench.tui.desk import Desk
from workbench.tui.key_queue import KeyQueue
from workbench.tui.screens.main import MainScreen
from workbench.tui.theme import choose_marks, choose_palette, theme_of

if TYPE_CHECKING:
    from workbench.config import Settings, Target
    from workbench.store.library import Selection

#: How long the app may take to leave after a signal (seconds).
LEAVING = 3.0


class Workbench(App[int], inherit_bindings=False):
    """Shows a desk."""

    CSS_PATH = "workbench.tcss"
    ENABLE_COMMAND_PALETTE = False
    TITLE = "MCP Workbench"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "leave", show=False, priority=True),
        Binding("ctrl+q", "leave", show=False, priority=True),
    ]

    def __init__(self, desk: Desk, *, theme: str = "", animation: bool = False) -> None:
        self.palette = choose_palette(os.environ, theme)
        self.marks = choose_marks(os.environ)
        super().__init__(ansi_color=self.palette.ansi)
        self.desk = desk
        self.animation_level = "full" if animation else "none"
        self.register_theme(theme_of(self.palette))
        self.theme = "workbench"
        self._main = MainScreen(desk)
        self.keys = KeyQueue(self, super().on_event)

    def get_default_screen(self) -> Screen[Any]:
        return self._main

    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.keys.put(event)
        else:
            await super().on_event(event)

    def on_unmount(self) -> None:
        self.keys.stop()

    def on_ready(self) -> None:
        self.desk.start(lambda message: tell(self._main, message))

    def action_leave(self) -> None:
        """Leave as ``q`` does, from everywhere."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        self._main.do_quit()


def run(
    targets: Sequence[Target] | Callable[[], Sequence[Target]],
    *,
    record: bool = True,
    path: str | None = None,
    settings: Settings | None = None,
    recording: Selection | None = None,
    mouse: bool = True,
) -> int:
    """Show targets (any number, also none; or what reads them, which is called after the first
    paint), or a recording; returns the exit status."""
    desk: Desk
    if recording is not None:
        desk = _recording_desk(recording)
    else:
        from workbench.tui.bridge import LiveDesk

        desk = LiveDesk(targets, record=record, path=path, settings=settings)
    theme = settings.theme if settings is not None else ""
    mouse = mouse and (settings is None or settings.mouse)
    app = Workbench(desk, theme=theme, animation=settings.animation if settings is not None else False)
    ending = _Ending(app, desk)
    # What is loaded stays; looking through all of it for garbage would stop everything for 0.1 s.
    gc.freeze()
    try:
        status = app.run(mouse=mouse)
    finally:
        desk.close(ending.how)
    if ending.number:
        return 128 + ending.number
    return (status or 0) if app.return_code in (None, 0) else int(app.return_code)


def run_recording(path: str) -> int:
    """Show a recording, read-only."""
    from workbench.store.library import Selection

    return run([], recording=Selection(path))


def _recording_desk(recording: Selection) -> Desk:
    from workbench.store.reader import Reader
    from workbench.tui.opened import RecordingDesk

    reader = Reader.open(recording.path, session=recording.session)
    return RecordingDesk(reader, recording.connection)


class _Ending:
    """SIGTERM and SIGHUP end the servers and the recording first, then the app, then the process,
    also when the terminal is gone and the app cannot leave by itself."""

    def __init__(self, app: Workbench, desk: Desk) -> None:
        self.how = "closed"
        self.number = 0
        self._app = app
        self._desk = desk
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, _: object) -> None:
        if self.number:
            return
        self.number = number
        self.how = signal.Signals(number).name
        threading.Thread(target=self._end, name="ending", daemon=True).start()

    def _end(self) -> None:
        self._desk.close(self.how)
        tell_exit = getattr(self._app, "_loop", None)
        if tell_exit is not None:
            tell_exit.call_soon_threadsafe(self._app.exit, 0)
        threading.Event().wait(LEAVING)
        os._exit(128 + self.number)
