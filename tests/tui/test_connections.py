"""Connections that come, go and fail: each state is its own, with a sentence and a next step."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from tests.servers.targets import ROOT, server
from tests.tui.at_work import AtWork, at_work, demo_target
from workbench.config import Target
from workbench.core.lifecycle import State

pytestmark = pytest.mark.anyio


async def failed(work: AtWork, state: State) -> None:
    await work.until(lambda: work.desk.views and work.desk.views[0].state is state)
    work.main.look()
    await work.press(*["right_square_bracket"] * 4)


FAILURES = [
    (
        server("wants_another_revision", "1999-01-01", name="old"),
        State.VERSION_MISMATCH,
        ("version mismatch", "1999-01-01"),
    ),
    (
        server("minimal", name="small", require=("resources.subscribe",)),
        State.CAPABILITY_MISSING,
        ("capability missing", "resources.subscribe"),
    ),
    (
        server("never_answers", name="silent", timeouts={"start": 0.4, "shutdown": 0.2}),
        State.START_TIMEOUT,
        ("start timeout", "downloading 2 of 3"),
    ),
    (server("exits_at_once", name="gone"), State.EXITED, ("exited 2", "usage: server --config FILE")),
    (server("wants_another_revision", name="no"), State.REFUSED, ("refused", "Unsupported protocol version")),
    (
        Target(name="absent", command="no-such-command-here"),
        State.NOT_STARTED,
        ("not started", "no-such-command-here"),
    ),
]


@pytest.mark.parametrize(("target", "state", "words"), FAILURES, ids=[str(each[1]) for each in FAILURES])
async def test_a_failure_is_a_state_with_a_sentence_and_a_next_step(
    target: Target, state: State, words: tuple[str, ...]
) -> None:
    async with at_work([target], size=(100, 30)) as work:
        await failed(work, state)
        view = work.desk.views[0]
        assert view.why
        assert view.next_step
        await work.shows(*words, "connects again")
        shown = " ".join(work.text.split())
        assert " ".join(view.next_step.split())[:40] in shown


async def test_a_shutdown_that_takes_too_long_is_told_step_by_step() -> None:
    target = server("stays", "term", name="stubborn", timeouts={"shutdown": 0.2})
    async with at_work([target], size=(100, 30)) as work:
        await work.until(lambda: work.desk.views and work.desk.views[0].state is State.READY)
        work.main.look()
        await work.press(*["right_square_bracket"] * 4)
        await work.press("colon", *"it stays", "enter")
        await work.shows("shutdown timeout", "stdin closed", "waited", "TERM", "KILL")


async def test_an_exit_in_the_middle_of_a_call_ends_the_call_with_the_reason() -> None:
    async with at_work([server("exits_in_a_call", "3", name="brittle")]) as work:
        await work.ready()
        await work.press("enter", "enter")
        await work.shows("brittle exited 3", "lost")
        assert not work.desk.runs.open()


async def test_one_key_connects_a_failed_connection_again() -> None:
    async with at_work([server("exits_at_once", name="gone")]) as work:
        await failed(work, State.EXITED)
        first = work.desk.views[0].number
        await work.press("c")
        await work.until(lambda: work.desk.views[0].number != first)
        await work.shows("gone exited 2")
        assert len(work.desk.views) == 1


async def test_a_target_is_typed_on_the_empty_screen() -> None:
    async with at_work() as work:
        await work.shows("d opens the demo")
        command = shlex.join([sys.executable, "-m", "workbench.demo"])
        await work.press("enter")
        work.app.query_one("#empty LineInput")
        await work.press(*"--http host/mcp", "enter")
        await work.shows("has no scheme")
        await work.press("ctrl+u", *f"-- {command}", "enter")
        await work.ready()
        await work.shows("calculator_arithmetic")


async def test_the_demo_opens_with_one_key() -> None:
    async with at_work() as work:
        await work.until(lambda: work.desk.reader is not None)
        await work.press("d")
        await work.until(lambda: len(work.desk.views) == 2)
        await work.shows("demo", "weather")


async def test_a_target_is_added_and_a_wrong_one_is_told_in_its_place() -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("n", *"@nobody", "enter")
        await work.shows("no server is named @nobody")
        await work.press("ctrl+u", *f"{sys.executable} -m tests.servers.minimal --cwd {ROOT}", "escape")
        assert len(work.desk.views) == 1
        await work.press("n", *f"--stdio '{sys.executable} -m tests.servers.minimal' --cwd {ROOT}", "enter")
        await work.until(lambda: len(work.desk.views) == 2 and work.desk.views[1].state is State.READY)
        await work.until(lambda: work.main.place == 1)


async def test_what_is_recorded_is_always_told(tmp_path: Path) -> None:
    async with at_work([demo_target()], record=False) as work:
        await work.ready()
        await work.shows("NOT RECORDING")
        await work.press("k")
        assert not work.main.query_one("#ask").display
    assert not list((tmp_path / "store").glob("*")) if (tmp_path / "store").exists() else True


async def test_too_small_a_screen_says_so() -> None:
    async with at_work([demo_target()], size=(50, 12)) as work:
        await work.shows("too small: 50×12, needs 60×15")
        await work.pilot.resize_terminal(80, 24)
        await work.shows("Tools")


async def test_nothing_is_left_when_the_screen_is_closed() -> None:
    import psutil

    async with at_work([demo_target(), server("stays", timeouts={"shutdown": 0.2})]) as work:
        await work.until(lambda: len(work.desk.views) == 2 and all(view.pid for view in work.desk.views))
        pids = [view.pid for view in work.desk.views]
    assert not any(pid is not None and psutil.pid_exists(pid) for pid in pids)
