"""What breaks the protocol is marked in the frame log, counted in the strip, told with the opened frame."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from tests.store.session import record, unit
from tests.tui.at_work import at_work, reading
from workbench.config import parse_targets
from workbench.core.frame import Direction
from workbench.edit import apply
from workbench.store.formats.editing import Edit
from workbench.store.reader import Reader
from workbench.tui.messages import Body
from workbench.tui.opened import RecordingDesk

pytestmark = pytest.mark.anyio

NOISY = "import sys; print('Server v1 up', flush=True); from workbench.demo.server import main; main()"

BODIES = [
    unit(b'{"jsonrpc":"2.0","id":1,"method":"ping"}', Direction.TO_SERVER, at=1),
    unit(b'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}', at=2),
    unit(b"Server v1 up", at=3),
]


async def test_a_live_frame_that_breaks_a_rule_is_marked_and_tells_the_rule_and_its_source() -> None:
    target = parse_targets(["--stdio", shlex.join([sys.executable, "-c", NOISY]), "--name", "noisy"])[0]
    async with at_work([target], size=(120, 90)) as work:
        await work.ready()
        await work.shows("! 1")
        await work.until(lambda: any("!" in line and "Server v1 up" in line for line in work.lines()))
        seq = next(frame.seq for frame in work.frames() if frame.body == b"Server v1 up")
        work.main.open_frame(seq)
        await work.shows("error stdout-text", "stdout carries messages only")
        await work.shows("Transports: stdio, 2024-11-05 to 2026-07-28")


async def test_a_recording_without_stored_findings_is_checked_when_it_is_opened(tmp_path: Path) -> None:
    recorder = record(tmp_path / "r.db", BODIES)
    recorder.close("closed")
    reader = Reader.open(str(tmp_path / "r.db"))
    assert not any(row.findings for row in reader.window(1, 3))
    async with reading(RecordingDesk(reader), size=(120, 40)) as work:
        await work.shows("! 2", "Server v1 up")
        await work.until(lambda: any("!" in line and "Server v1 up" in line for line in work.lines()))
        work.main.open_frame(2)
        await work.shows("error result-and-error", "Base protocol: Responses")


async def test_on_a_small_screen_the_body_keeps_its_place(tmp_path: Path) -> None:
    recorder = record(tmp_path / "r.db", BODIES)
    recorder.close("closed")
    async with reading(RecordingDesk(Reader.open(str(tmp_path / "r.db"))), size=(60, 15)) as work:
        work.main.open_frame(2)
        await work.shows("result-and-error", '"jsonrpc"')


async def test_what_is_found_in_a_frame_that_is_open_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorder = record(tmp_path / "r.db", BODIES)
    recorder.close("closed")
    desk = RecordingDesk(Reader.open(str(tmp_path / "r.db")))
    async with reading(desk, size=(120, 40)) as work:
        await work.shows("! 2")
        monkeypatch.setattr(desk, "findings", lambda _: ())
        work.main.open_frame(2)
        await work.shows("#2  error ping", "pretty")
        assert "result-and-error" not in work.text
        monkeypatch.undo()
        work.main.look()
        await work.shows("error result-and-error", '"jsonrpc"')


async def test_what_is_found_while_a_body_is_fetched_is_shown(tmp_path: Path) -> None:
    recorder = record(tmp_path / "r.db", BODIES)
    recorder.close("closed")
    reader = Reader.open(str(tmp_path / "r.db"))
    async with reading(RecordingDesk(reader), size=(120, 40)) as work:
        await work.shows("! 2")
        work.main.show_body("#1  another", b"{}", 1)
        await work.shows("#1  another")
        await work.pilot.pause(0.3)
        # From here on the desk has nothing new to tell. The body comes with what had been found when
        # it was fetched: nothing.
        work.main._wanted_frame = (2, True)
        work.main.post_message(Body(2, "#2  error ping", reader.body(2), None, ()))
        await work.shows("error result-and-error", "pretty")


async def test_a_frame_that_was_not_recorded_as_it_is_says_so_when_it_is_opened(tmp_path: Path) -> None:
    path = str(tmp_path / "r.db")
    record(tmp_path / "r.db", BODIES).close("closed")
    apply(path, Edit(bodies={2: b'{"jsonrpc":"2.0","id":1,"result":{}}'}))
    async with reading(RecordingDesk(Reader.open(path)), size=(80, 24)) as work:
        work.main.open_frame(2)
        await work.shows("#2  result ping  edited")
