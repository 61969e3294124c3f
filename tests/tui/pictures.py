"""Pictures of the whole screen on the demo: ``python -m tests.tui.pictures FOLDER [NAME…]``."""

from __future__ import annotations

import asyncio
import atexit
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from tests.tui.waiting import until
from workbench.tui.app import Workbench
from workbench.tui.bridge import LiveDesk

SIZES = ((80, 24), (120, 40), (200, 50), (60, 15))

Play = Callable[[Workbench, Pilot[Any]], Awaitable[None]]


def picture(app: App[Any], path: Path) -> None:
    """Write what is on the screen as PNG."""
    import resvg_py

    svg = app.export_screenshot(simplify=True)
    svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL).replace("Fira Code", "DejaVu Sans Mono")
    data = resvg_py.svg_to_bytes(svg_string=svg, font_dirs=["/usr/share/fonts/truetype/dejavu"])
    path.write_bytes(bytes(data))


def targets(words: str) -> list[Any]:
    from workbench.config import parse_targets

    return parse_targets(shlex.split(words))


def demo() -> list[Any]:
    from workbench.cli.demo import demo_targets
    from workbench.config import load_settings

    serving = ExitStack()
    atexit.register(serving.close)
    return list(demo_targets(serving, load_settings()))


async def ready(app: Workbench, pilot: Pilot[Any]) -> None:
    await until(pilot, lambda: app.desk.views and app.desk.views[0].tools)
    await pilot.pause(0.3)


async def nothing(app: Workbench, pilot: Pilot[Any]) -> None:
    await pilot.pause(0.3)


async def tools(app: Workbench, pilot: Pilot[Any]) -> None:
    await ready(app, pilot)
    await pilot.press("down", "enter", *"San Francisco", "tab", *"im", "enter")
    await pilot.pause(0.4)


async def plain(app: Workbench, pilot: Pilot[Any]) -> None:
    await ready(app, pilot)


async def running(app: Workbench, pilot: Pilot[Any]) -> None:
    await ready(app, pilot)
    await pilot.press(*["down"] * 8, "enter", "enter")
    await pilot.pause(1.2)


def pane(steps: int) -> Play:
    async def play(app: Workbench, pilot: Pilot[Any]) -> None:
        await tools(app, pilot)
        await pilot.press("escape", "escape", *["right_square_bracket"] * steps)
        await pilot.pause(0.5)

    return play


async def crashed(app: Workbench, pilot: Pilot[Any]) -> None:
    await until(pilot, lambda: app.desk.views and app.desk.views[0].why)
    await pilot.press(*["right_square_bracket"] * 4)
    await pilot.pause(0.3)


async def asked(app: Workbench, pilot: Pilot[Any]) -> None:
    await ready(app, pilot)
    await pilot.press(*["down"] * 9, "enter", "enter")
    await until(pilot, lambda: app.desk.inbox)
    await pilot.press(*["right_square_bracket"] * 5)
    await pilot.pause(0.3)
    await pilot.press("enter", *"Zoe")
    await pilot.pause(0.3)


def asks() -> list[Any]:
    from tests.tui.questions import target

    return [target("everything"), target("staging")]


def question(name: str, *pressed: str, waiting: int = 1) -> Play:
    """A server asks one of the kinds of questions, and the inbox is open on it."""

    async def play(app: Workbench, pilot: Pilot[Any]) -> None:
        from tests.tui.questions import ask

        await until(pilot, lambda: len(app.desk.views) == 2 and all(view.tools for view in app.desk.views))
        ask(app.desk, name)
        await until(pilot, lambda: len(app.desk.inbox) >= waiting)
        await pilot.press(*["right_square_bracket"] * 5)
        await pilot.pause(0.5)
        await pilot.press(*pressed)
        await pilot.pause(0.8)

    return play


def links() -> Any:
    from tests.tui.questions import needs_links

    return needs_links()


async def needed(app: Workbench, pilot: Pilot[Any]) -> None:
    await ready(app, pilot)
    await pilot.press("enter", "enter")
    await pilot.pause(0.6)


async def diagnosed(app: Workbench, pilot: Pilot[Any]) -> None:
    await until(pilot, lambda: app.desk.views and app.desk.views[0].why)
    await pilot.press(*["right_square_bracket"] * 4, "D")
    await until(pilot, lambda: (found := app.desk.diagnosis(1)) is not None and found.over)
    await pilot.pause(0.5)


async def frame(app: Workbench, pilot: Pilot[Any]) -> None:
    await pane(6)(app, pilot)
    await pilot.press("up", "up", "up", "enter")
    await pilot.pause(0.5)


def keys(*pressed: str) -> Play:
    async def play(app: Workbench, pilot: Pilot[Any]) -> None:
        await tools(app, pilot)
        await pilot.press("escape", "escape", *pressed)
        await pilot.pause(0.6)

    return play


def builds() -> list[Any]:
    from tests.servers.targets import server

    named = (("prod", "old"), ("build-412", "new"), ("canary", "bare"))
    ended = server("exits_at_once", name="gone")
    return [*(server("searches", which, name=name) for name, which in named), ended]


def beside(*pressed: str) -> Play:
    async def play(app: Workbench, pilot: Pilot[Any]) -> None:
        await ready(app, pilot)
        await until(pilot, lambda: app.desk.views[-1].why and app.desk.views[2].tools)
        await pilot.press("b")
        await pilot.pause(0.6)
        await pilot.press(*pressed)
        await pilot.pause(1.2)

    return play


SCENES: dict[str, tuple[Callable[[], list[Any]], Play]] = {
    "empty": (list, nothing),
    "plain": (demo, plain),
    "tools": (demo, tools),
    "running": (demo, running),
    "resources": (demo, pane(1)),
    "prompts": (demo, pane(2)),
    "logs": (demo, pane(3)),
    "server": (demo, pane(4)),
    "inbox": (demo, asked),
    "inbox-form": (asks, question("form")),
    "inbox-filling": (asks, question("form", "enter", *["tab"] * 9, "space")),
    "inbox-wrong": (asks, question("form", "enter", "Z", "enter")),
    "inbox-url": (asks, question("url")),
    "inbox-sampling": (asks, question("sampling", "enter", *"It is")),
    "inbox-json": (asks, question("sampling", "e")),
    "inbox-several": (asks, question("several", waiting=3)),
    "inbox-always": (asks, question("form", "enter", *"Zoe", "escape", "R")),
    "inbox-rule": (asks, question("form", "enter", *"Zoe", "escape", "R", "t")),
    "url-needed": (lambda: [links()], needed),
    "diagnosed": (lambda: targets(f"-- {sys.executable} -m tests.servers.exits_at_once"), diagnosed),
    "frames": (demo, pane(6)),
    "frame": (demo, frame),
    "crashed": (lambda: targets(f"-- {sys.executable} -m tests.servers.exits_at_once"), crashed),
    "palette": (demo, keys("colon")),
    "help": (demo, keys("question_mark")),
    "new": (demo, keys("n", *"nope --x", "enter")),
    "keep": (demo, keys("k", *"weather-1", "enter")),
    "beside": (builds, beside()),
    "answers": (builds, beside("a", "enter", *"otters", "enter")),
    "beside-running": (builds, beside("a", "down", "enter", "enter")),
    "beside-server": (builds, beside("left_curly_bracket", "left_curly_bracket", "left_curly_bracket")),
    "half": (demo, keys("f")),
}


async def shoot(folder: Path, names: list[str]) -> None:
    for name, (make, play) in SCENES.items():
        if names and name not in names:
            continue
        for size in SIZES:
            with tempfile.TemporaryDirectory() as store:
                os.environ["MCP_WORKBENCH_STORE"] = store
                os.chdir(store)
                desk = LiveDesk(make())
                app = Workbench(desk)
                try:
                    async with app.run_test(size=size) as pilot:
                        await play(app, pilot)
                        picture(app, folder / f"{name}-{size[0]}.png")
                except Exception as error:
                    print(name, size, type(error).__name__, error)
                finally:
                    desk.close()


if __name__ == "__main__":
    target = Path(sys.argv[1]).absolute()
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(shoot(target, sys.argv[2:]))
