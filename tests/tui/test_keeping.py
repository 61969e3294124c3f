"""Keeping what was seen, and opening it again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui.at_work import at_work, demo_target, reading
from workbench.demo.recording import RECORDING
from workbench.store.reader import Reader
from workbench.tui.opened import RecordingDesk

pytestmark = pytest.mark.anyio


async def test_k_keeps_the_session_as_a_fixture_that_replays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("enter", *"6*7", "enter")
        await work.shows("result", "42")
        await work.press("k", *"sum", "enter")
        await work.shows(
            "kept sessions/sum.jsonl",
            "nothing in it had to be redacted",
            "demo replays 100 %",
            "mcp-workbench replay server sessions/sum.jsonl",
            "StdioServerParameters",
        )
    with Reader.open(str(tmp_path / "sessions" / "sum.jsonl")) as kept:
        assert any(frame.name == "calculator_arithmetic" for frame in kept.frames())


async def test_a_name_that_cannot_be_is_told_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("k", *"../x", "enter")
        await work.shows("is no name for a fixture")
        await work.press("escape")
    assert not (tmp_path / "sessions").exists()


async def test_a_marked_part_of_one_connection_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with at_work([demo_target(), demo_target()]) as work:
        await work.ready(2)
        await work.press(*["right_square_bracket"] * 6, "home", "down", "m", "down", "m", "k")
        await work.shows("Keep frames 2 to 3 of connection demo")
        await work.press(*"part", "enter")
        await work.shows("kept sessions/part.jsonl")
    with Reader.open(str(tmp_path / "sessions" / "part.jsonl")) as kept:
        assert [row.name for row in kept.connections()] == ["demo"]


async def test_a_recording_opens_on_the_same_panes_and_sends_nothing() -> None:
    desk = RecordingDesk(Reader.open(RECORDING))
    async with reading(desk, size=(120, 40)) as work:
        await work.shows("RECORDING", "weather_current")
        assert work.main.view is not None
        await work.press("slash", *"weather_current", "enter")
        await work.shows("result", '"location"')
        height = desk.height
        await work.press("enter")
        await work.shows("inputSchema", "pretty")
        await work.press("escape", *["right_square_bracket"] * 4)
        await work.shows("initialize", "we offer")
        await work.press("c", "n", "d", "x")
        assert desk.height == height
        assert len(desk.views) == 1


async def test_the_result_of_a_recorded_call_is_that_of_the_recording() -> None:
    desk = RecordingDesk(Reader.open(RECORDING))
    async with reading(desk, size=(120, 40)) as work:
        await work.shows("RECORDING", "weather_current")
        run = next(
            run
            for run in (desk.runs.last(1, "tools/call", tool.name) for tool in desk.views[0].tools)
            if run is not None
        )
        assert run.outcome is not None
        assert run.outcome.seq is not None
        assert desk.reader is not None
        assert desk.reader.pair(run.outcome.seq) == run.seq


async def test_what_is_in_view_is_saved_to_a_new_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").write_text("mine")
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("enter", *"6*7", "enter")
        await work.shows("result", "42")
        await work.press("w", *"there", "enter")
        await work.shows("there exists already")
        await work.press("ctrl+u", *"answer", "enter")
        await work.shows("saved to answer")
    assert (tmp_path / "answer").read_text() == "6*7 = 42"
    assert (tmp_path / "there").read_text() == "mine"
