"""The whole screen on real servers: what it shows as lines, what went over the wire as frames."""

from __future__ import annotations

import shlex
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from textual.pilot import Pilot

from tests.tui.waiting import until
from workbench.config import Target, parse_targets
from workbench.core.frame import Direction, Frame, Kind
from workbench.core.lifecycle import State
from workbench.tui.app import Workbench
from workbench.tui.bridge import LiveDesk
from workbench.tui.desk import Desk
from workbench.tui.screens.main import MainScreen

DEMO = shlex.join([sys.executable, "-m", "workbench.demo"])


def demo_target(*options: str) -> Target:
    return parse_targets(["--stdio", DEMO, "--name", "demo", *options])[0]


class AtWork:
    """A screen under the hands of a test."""

    def __init__(self, app: Workbench, pilot: Pilot[Any], desk: Desk) -> None:
        self.app = app
        self.pilot = pilot
        self.desk = desk

    @property
    def main(self) -> MainScreen:
        screen = self.app.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.until(lambda: self.app.keys.idle or not self.app.is_running)

    async def until(self, holds: Any) -> None:
        try:
            await until(self.pilot, holds)
        except AssertionError as error:
            raise AssertionError(f"{error}; the screen shows\n{self.text}") from None

    async def ready(self, count: int = 1) -> None:
        """Wait until connections are ready, and the tools of the one in view are shown and in focus."""

        def done() -> bool:
            views = self.desk.views
            ready = [view for view in views if view.state is State.READY and "tools/list" in view.listed]
            pane = self.main.pane
            return len(ready) >= count and pane is not None and pane.has_focus_within

        await self.until(done)
        await self.until(lambda: "tools/list" in (self.main.view.listed if self.main.view else ()))
        self.main.look()

    def lines(self) -> list[str]:
        """The text on the screen, line by line."""
        screen = self.app.screen
        strips = screen._compositor.render_strips(self.app.size)
        return ["".join(segment.text for segment in strip).rstrip() for strip in strips]

    @property
    def text(self) -> str:
        return "\n".join(self.lines())

    async def shows(self, *words: str) -> None:
        """Wait until all of these are on the screen, in any line."""
        await self.until(lambda: all(word in self.text for word in words))

    def frames(self, kind: Kind | None = None, method: str | None = None) -> list[Frame]:
        """What is recorded so far."""
        assert self.desk.reader is not None
        return [
            frame
            for frame in self.desk.reader.frames()
            if kind in (None, frame.kind) and method in (None, frame.method)
        ]

    def sent(self, method: str) -> list[bytes]:
        """The bodies of our requests of a method."""
        frames = self.frames(Kind.REQUEST, method)
        return [frame.body for frame in frames if frame.direction is Direction.TO_SERVER]


@asynccontextmanager
async def at_work(
    targets: Sequence[Target] = (), *, size: tuple[int, int] = (80, 24), record: bool = True
) -> AsyncIterator[AtWork]:
    """A screen on these targets; its session is over at the end."""
    desk = LiveDesk(targets, record=record)
    app = Workbench(desk)
    try:
        async with app.run_test(size=size) as pilot:
            yield AtWork(app, pilot, desk)
    finally:
        desk.close()


@asynccontextmanager
async def reading(desk: Desk, *, size: tuple[int, int] = (80, 24)) -> AsyncIterator[AtWork]:
    """A screen on an opened recording."""
    app = Workbench(desk)
    try:
        async with app.run_test(size=size) as pilot:
            yield AtWork(app, pilot, desk)
    finally:
        desk.close()
