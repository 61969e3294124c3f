"""A failed connection is told where one looks first, at every width, and is in nobody's way."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.servers.targets import server
from tests.tui.at_work import AtWork, at_work, demo_target
from workbench.config import Target
from workbench.core.frame import Kind
from workbench.core.lifecycle import State, group

pytestmark = pytest.mark.anyio

SERVER_PANE = ["right_square_bracket"] * 4


def wrong_folder() -> Target:
    return Target(name="nowhere", command="true", cwd="/no/such/folder")


def another_revision() -> Target:
    return server("wants_another_revision", "1999-01-01", name="old")


def gone() -> Target:
    return server("exits_at_once", name="gone")


#: How a connection fails: its target, the state, the word in the strip, what the sentence names.
FAILURES: dict[str, tuple[Callable[[], Target], State, str, str]] = {
    "wrong folder": (wrong_folder, State.NOT_STARTED, "not started", "/no/such/folder"),
    "version mismatch": (another_revision, State.VERSION_MISMATCH, "version mismatch", "1999-01-01"),
    "exit before the handshake": (gone, State.EXITED, "exited 2", "code 2"),
}


def joined(work: AtWork) -> str:
    """The screen as one line, so that a sentence is found however it is broken."""
    return " ".join(work.text.split())


async def failed(work: AtWork) -> None:
    await work.until(lambda: work.main.view is not None and group(work.main.view.state) == "failed")


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=["80", "120"])
@pytest.mark.parametrize("name", FAILURES)
async def test_a_failed_connection_stays_with_its_state_its_reason_and_what_to_do(
    name: str, size: tuple[int, int]
) -> None:
    make, state, word, named = FAILURES[name]
    async with at_work([make()], size=size) as work:
        await failed(work)
        view = work.main.view
        assert view is not None
        assert view.state is state
        assert named in view.why
        assert view.next_step
        await work.shows(word)
        await work.until(lambda: " ".join(view.why.split())[:60] in joined(work))
        assert view.next_step.split(".")[0][:40] in joined(work)
        await work.shows("c connects again")


async def test_one_key_connects_again_and_the_history_stays_in_the_recording() -> None:
    async with at_work([server("exits_in_a_call", "3", name="frail")]) as work:
        await work.ready()
        await work.press("enter", "enter")
        await failed(work)
        await work.press("escape", "escape", "c")
        await work.until(lambda: work.main.view is not None and work.main.view.state is State.READY)
        assert len(work.desk.views) == 1
        assert len(work.frames(Kind.REQUEST, "initialize")) == 2
        assert len(work.sent("tools/call")) == 1


async def test_a_slow_start_shows_its_state_and_its_stderr_as_it_comes(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    slow = server("starts_slowly", str(gate), name="slow", timeouts={"start": 60})
    async with at_work([slow]) as work:
        await work.until(lambda: work.desk.views and work.desk.views[0].stderr)
        view = work.desk.views[0]
        assert group(view.state) == "on the way"
        await work.press(*SERVER_PANE)
        await work.shows("initializing", "downloading the package")
        gate.write_text("go")
        await work.shows("slow ready")


async def test_a_failed_connection_does_not_hold_up_its_neighbour() -> None:
    async with at_work([gone(), demo_target()]) as work:
        await work.shows("exited 2", "demo ready")
        await work.press("2", "enter", *"1+1", "enter")
        await work.shows("result")


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("@unknown", "unknown"),
        ("--stdio", "--stdio"),
        ("-- 'unclosed", "quot"),
    ],
)
async def test_a_target_that_cannot_be_is_told_under_the_line_and_can_be_typed_on(
    line: str, named: str
) -> None:
    async with at_work([demo_target()], size=(120, 30)) as work:
        await work.ready()
        await work.press("n", *line, "enter")
        await work.until(lambda: named in joined(work).partition(line)[2])
        assert len(work.desk.views) == 1
        await work.press("escape")
        assert work.app.is_running


@pytest.mark.parametrize(
    ("line", "named"),
    [("nope --x", "nope"), ("--replay /no/such/file.jsonl", "no recording /no/such/file.jsonl")],
)
async def test_a_typed_target_that_fails_is_the_connection_in_view_with_its_reason(
    line: str, named: str
) -> None:
    async with at_work([demo_target()]) as work:
        await work.ready()
        await work.press("n", *line, "enter")
        await work.until(lambda: len(work.desk.views) == 2)
        await failed(work)
        assert work.main.place == 1
        await work.until(lambda: named in joined(work))
        await work.shows("c connects again", "demo ready")
