"""The frame log: only what is on the screen is looked at, however many frames there are."""

from __future__ import annotations

import io
import threading
import time
from typing import Any

import pytest
from textual.pilot import Pilot

from tests.tui.frames import MadeFrames
from tests.tui.stage import Stage
from tests.tui.waiting import until
from workbench.core.frame import Kind, Row
from workbench.core.frame_filter import parse_filter
from workbench.tui.link import link_ready, pause_for
from workbench.tui.widgets.frame_log import FrameLog
from workbench.tui.widgets.frame_scan import LogFilter, SeqView

pytestmark = pytest.mark.anyio


class SlowFrames(MadeFrames):
    """Gives nothing out until it may go on."""

    def __init__(self, height: int) -> None:
        super().__init__(height)
        self.go_on = threading.Event()

    def window(self, first: int, last: int) -> list[Row]:
        rows = super().window(first, last)
        if (first, last) != (1, 1):
            assert self.go_on.wait(30)
        return rows


def stage() -> Stage:
    return Stage(lambda: [FrameLog()])


async def opened(app: Stage, pilot: Pilot[Any], height: int) -> tuple[FrameLog, MadeFrames]:
    log = app.query_one(FrameLog)
    log.focus()
    frames = MadeFrames(height)
    log.open(frames, height)
    await until(pilot, lambda: log.count == height)
    await until(pilot, lambda: log.row is not None or not height)
    await pilot.pause()
    return log, frames


async def test_it_opens_at_the_end_and_shows_the_columns_of_its_width() -> None:
    app = stage()
    async with app.run_test(size=(80, 10)) as pilot:
        await opened(app, pilot, 1001)
        lines = app.lines()
        assert lines[-1].startswith(" › 1,001  1 ▸ request       tools/call long_operation ")
        assert lines[-1].endswith("◌    122 B│")
        assert lines[-2].startswith("   1,000  2 ∙ stderr        step 249 ")
        assert lines[-4].startswith(" ✗   998  2 ◂ error         tools/call calculator_arithmetic   31.0 ms")
        await pilot.resize_terminal(120, 10)
        await until(pilot, lambda: '{"duration": 20}' in app.lines()[-1])
        assert "250" in app.lines()[-1]


async def test_a_million_frames_open_and_jump_by_looking_at_a_few_of_them() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        log, frames = await opened(app, pilot, 1_000_000)
        await pilot.press("home")
        await until(pilot, lambda: "tools/call weather_current" in app.lines()[0])
        assert log.seq == 1
        await pilot.press("end")
        await until(pilot, lambda: app.lines()[-1].startswith(" › 1,000,000"))
        assert log.following
        assert frames.asked < 1_000


async def test_growth_is_followed_in_few_repaints_and_the_newest_frame_is_seen() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        log, frames = await opened(app, pilot, 10)
        began = time.monotonic()
        syncs = log.syncs
        for frames.size in range(11, 20_011):
            log.grew(frames.size)
        await until(pilot, lambda: app.lines()[-1].startswith(" › 20,010"))
        assert log.syncs - syncs <= 2 + (time.monotonic() - began) * 10
        assert log.status == "following   20,010"


async def test_while_paused_growth_moves_nothing_on_the_screen() -> None:
    app = stage()
    async with app.run_test(size=(80, 24), message_hook=app.hear) as pilot:
        log, frames = await opened(app, pilot, 1000)
        await pilot.press("pageup")
        await until(pilot, lambda: not any("…" in line for line in app.lines()) and log.row is not None)
        await pilot.pause()
        before = app.lines()
        frames.size = 5000
        log.grew(5000)
        await until(pilot, lambda: log.count == 5000)
        await pilot.pause()
        assert [line[:60] for line in app.lines()] == [line[:60] for line in before]
        assert log.status.startswith("paused, 4,000 below")
        await pilot.press("space")
        await until(pilot, lambda: app.lines()[-1].startswith(" › 5,000"))
        assert app.kept(FrameLog.Changed)


async def test_an_open_call_shows_its_duration_once_it_is_answered() -> None:
    app = stage()
    async with app.run_test(size=(80, 10)) as pilot:
        log, frames = await opened(app, pilot, 5)
        assert "◌" in app.lines()[4]
        frames.size = 6
        log.grew(6)
        await until(pilot, lambda: log.count == 6)
        await until(pilot, lambda: "◌" not in app.lines()[4])


async def test_p_jumps_between_a_request_and_its_answer() -> None:
    app = stage()
    async with app.run_test(size=(80, 10), message_hook=app.hear) as pilot:
        log, _ = await opened(app, pilot, 1000)
        await pilot.press("home")
        await until(pilot, lambda: log.row is not None)
        await pilot.press("p")
        assert log.seq == 2
        await pilot.press("p")
        assert log.seq == 1
        await pilot.press("down", "down", "p", "enter")
        assert [message.text for message in app.kept(FrameLog.Said)] == ["Frame 3 has no pair."]
        assert [message.seq for message in app.kept(FrameLog.Opened)][-1] == 3


async def test_rows_that_come_after_something_else_was_wanted_are_drawn_all_the_same() -> None:
    app = stage()
    async with app.run_test(size=(80, 10)) as pilot:
        log = app.query_one(FrameLog)
        frames = SlowFrames(5)
        log.open(frames, 5, follow=False)
        # The rows on the screen are wanted, and wanted once more while they are being read.
        await until(pilot, lambda: frames.asked and log.count == 5)
        log._want_visible()
        frames.go_on.set()
        await until(pilot, lambda: frames.asked >= 2 * 5)
        await until(pilot, lambda: "request" in app.lines()[0] and "result" in app.lines()[1])


async def test_a_mark_stays_on_its_frame() -> None:
    app = stage()
    async with app.run_test(size=(80, 10)) as pilot:
        log, _ = await opened(app, pilot, 100)
        await pilot.press("up", "m", "up")
        await pilot.pause()
        assert log.pinned == {99}
        assert app.lines()[8].startswith("▪")
        await pilot.press("down", "m")
        assert log.pinned == frozenset()


async def test_a_filter_shows_only_what_matches_newest_first_and_goes_on_with_growth() -> None:
    app = stage()
    async with app.run_test(size=(80, 10)) as pilot:
        log, frames = await opened(app, pilot, 10_000)
        log.set_filter(LogFilter(parse_filter("search")))
        await until(pilot, lambda: log.status.startswith("following   1,250 of 10,000"))
        await until(pilot, lambda: all("search" in line for line in app.lines()))
        frames.size = 10_100
        log.grew(10_100)
        await until(pilot, lambda: log.status == "following   1,262 of 10,100")
        await until(pilot, lambda: "10,094" in app.lines()[-1])
        log.set_filter(LogFilter())
        await until(pilot, lambda: app.lines()[-1].startswith(" › 10,100"))


async def test_a_filter_of_kinds_and_connections_keeps_the_cursor_on_its_frame() -> None:
    app = stage()
    async with app.run_test(size=(80, 10)) as pilot:
        log, _ = await opened(app, pilot, 10_000)
        assert log.go_to(5002)
        log.set_filter(LogFilter(parse_filter("-kind:stderr"), connection=1))
        await until(pilot, lambda: "searching" not in log.status)
        await until(pilot, lambda: log.seq == 5002 or log.seq == 4999)
        rows = [log.row]
        assert rows[0] is None or rows[0].kind is not Kind.STDERR


async def test_older_matches_coming_in_above_leave_the_screen_as_it_is() -> None:
    app = stage()
    async with app.run_test(size=(80, 10)) as pilot:
        log, _ = await opened(app, pilot, 200_000)
        log.set_filter(LogFilter(parse_filter("search")))
        await until(pilot, lambda: log.count > 50)
        await pilot.press("up")
        seq = log.seq
        await until(pilot, lambda: "searching" not in log.status)
        assert log.seq == seq
        assert log.count == 25_000


async def test_a_reader_that_fails_says_so_and_the_log_stays() -> None:
    class Broken(MadeFrames):
        def window(self, first: int, last: int) -> list[Any]:
            raise OSError(f"{first} to {last} are gone")

    app = stage()
    async with app.run_test(size=(80, 10), message_hook=app.hear) as pilot:
        log = app.query_one(FrameLog)
        log.open(Broken(10), 10)
        await until(pilot, lambda: app.kept(FrameLog.Said))
        assert app.kept(FrameLog.Said)[0].text == "The frames cannot be read: 1 to 1 are gone"


async def test_every_width_draws_lines_that_fit() -> None:
    app = stage()
    async with app.run_test(size=(200, 10)) as pilot:
        log, _ = await opened(app, pilot, 1_234_567)
        for width in (200, 120, 106, 105, 80, 66, 60, 40, 20, 5):
            await pilot.resize_terminal(width, 10)
            await until(pilot, lambda width=width: log.row is not None and app.size.width == width)  # type: ignore[misc]
            await until(pilot, lambda width=width: all(len(line) <= width for line in app.lines()))  # type: ignore[misc]


def test_a_filtered_view_finds_lines_by_seq() -> None:
    view = SeqView(True)
    assert view.near(5) is None
    view.extend([90, 50, 10], [])
    view.extend([5], [100, 110])
    assert [view.seq(line) for line in range(len(view))] == [5, 10, 50, 90, 100, 110]
    assert [view.line(seq) for seq in (5, 50, 110, 60)] == [0, 2, 5, None]
    assert [view.near(seq) for seq in (1, 5, 60, 95, 105, 999)] == [0, 0, 2, 3, 4, 5]


def test_large_areas_are_repainted_less_often() -> None:
    assert pause_for(80 * 3) == 0.1
    assert pause_for(200 * 50) > 0.3


async def test_the_terminal_is_behind_when_the_writer_of_the_framework_has_a_backlog() -> None:
    class Queue:
        size = 0

        def qsize(self) -> int:
            return self.size

    class Thread:
        _queue = Queue()

    class Driver:
        _writer_thread = Thread()

    class App:
        _driver = Driver()

    app = App()
    assert link_ready(app)
    app._driver._writer_thread._queue.size = 2
    assert not link_ready(app)
    assert link_ready(object())


def test_the_framework_still_writes_through_the_queue_that_is_looked_at() -> None:
    from textual.drivers._writer_thread import WriterThread

    class App:
        class _driver:
            _writer_thread = WriterThread(io.StringIO())

    thread = App._driver._writer_thread
    assert link_ready(App)
    thread.write("a")
    thread.write("b")
    assert not link_ready(App)
