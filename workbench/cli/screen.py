"""The screen: on targets, on the demo, on a recording."""

from __future__ import annotations

import os
import shlex
import sys
from typing import TYPE_CHECKING

import click

from workbench.cli.targets import TargetCommand, target_line
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.config import Settings, Target

record_option = click.option(
    "-o", "--record", "path", metavar="FILE", help="Record the session to this file, not to the user's store."
)
no_record_option = click.option("--no-record", is_flag=True, help="Keep nothing of the session.")
no_mouse_option = click.option(
    "--no-mouse", is_flag=True, help="Leave the mouse to the terminal, so that its own selection works."
)


@click.command(cls=TargetCommand)
@record_option
@no_record_option
@no_mouse_option
@click.pass_context
def screen(ctx: click.Context, path: str | None, no_record: bool, no_mouse: bool) -> int:
    """Open the screen on any number of servers."""
    line = target_line(ctx)
    return _open(line.targets, _with_mouse(line.settings, no_mouse), path, no_record)


@click.command()
@record_option
@no_record_option
@no_mouse_option
def demo(path: str | None, no_record: bool, no_mouse: bool) -> int:
    """Open the screen on the demo server and on a recording of it.

    Nothing is fetched: the server and the recording are part of the program.
    """
    from workbench.config import load_settings

    settings = _with_mouse(load_settings(), no_mouse)
    return _open(demo_targets(settings), settings, path, no_record)


def demo_targets(settings: Settings) -> list[Target]:
    """The demo server over stdio, and the recording of it replayed as a mock server."""
    from workbench.config import parse_targets
    from workbench.demo.recording import RECORDING

    # -P: a folder of the user's that is named like our package is not run in its place.
    server = shlex.join([sys.executable, "-P", "-m", "workbench.demo"])
    words = ["--stdio", server, "--name", "demo", "--replay", RECORDING, "--name", "weather"]
    return parse_targets(words, settings)


@click.command("open")
@no_mouse_option
@click.argument("file")
def open_recording(file: str, no_mouse: bool) -> int:
    """Open a recording on the screen, read-only.

    FILE is a recording in either form or the name of a session in the store; FILE#n and
    FILE#NAME/CONNECTION choose from a file that holds several.
    """
    from workbench.store.library import resolve

    selection = resolve(file)
    _needs_terminal("to look at a recording in a script, use mcp-workbench sessions show or frames")
    from workbench.config import load_settings
    from workbench.tui.app import run

    return run([], recording=selection, settings=_with_mouse(load_settings(), no_mouse))


def _open(targets: list[Target], settings: Settings, path: str | None, no_record: bool) -> int:
    if path and no_record:
        raise UsageError("--record and --no-record contradict each other; leave one out")
    if path and os.path.exists(path):
        raise UsageError(f"{path} exists already; name a file that does not, or remove it")
    _needs_terminal("in a script, use probe, request, call, read or prompt")
    from workbench.tui.app import run

    return run(targets, record=settings.record and not no_record, path=path, settings=settings)


def _with_mouse(settings: Settings, no_mouse: bool) -> Settings:
    return settings.model_copy(update={"mouse": False}) if no_mouse else settings


def _needs_terminal(instead: str) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(f"the screen needs a terminal for its input and output; {instead}")
    if not sys.stderr.isatty():
        # The framework draws through stderr, so that redirecting it would leave an empty screen.
        raise UsageError("the screen is drawn through stderr too; leave it on the terminal")
