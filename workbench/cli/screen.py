"""The screen: on targets, on a recording."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from workbench.cli.targets import TargetCommand, target_line
from workbench.config import are_given
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


class ScreenCommand(TargetCommand):
    """Reads a plain ``-- CMD ARGS…`` after the first paint, because what reads targets takes half as
    long to load as the screen. Everything else is read, and refused, before it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        if are_given() or not _are_ours(args[:end]) or args[end:] == ["--"]:
            return super().parse_args(ctx, args)
        ctx.obj = args[end:]
        return click.Command.parse_args(self, ctx, args[:end])


def _are_ours(words: Sequence[str]) -> bool:
    """Whether words are only options of the screen itself, whole and right."""
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in ("-o", "--record") and rest:
            rest.pop(0)
        elif word not in ("--no-record", "--no-mouse"):
            return False
    return True


@click.command(cls=ScreenCommand)
@record_option
@no_record_option
@no_mouse_option
@click.pass_context
def screen(ctx: click.Context, path: str | None, no_record: bool, no_mouse: bool) -> int:
    """Open the screen on any number of servers."""
    if isinstance(ctx.obj, list):
        words: list[str] = ctx.obj
        return open_screen(_reading(words) if words else [], None, path, no_record, no_mouse)
    line = target_line(ctx)
    return open_screen(line.targets, line.settings, path, no_record, no_mouse)


def _reading(words: list[str]) -> Callable[[], list[Target]]:
    def read() -> list[Target]:
        from workbench.config import parse_targets

        return parse_targets(words)

    return read


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
    from workbench.tui.app import run

    settings = None
    if are_given():
        from workbench.config import load_settings

        settings = load_settings()
    return run([], recording=selection, settings=settings, mouse=not no_mouse)


def open_screen(
    targets: Sequence[Target] | Callable[[], Sequence[Target]],
    settings: Settings | None,
    path: str | None,
    no_record: bool,
    no_mouse: bool,
) -> int:
    """The screen on targets, or on what reads them after the first paint; returns the exit status."""
    if path and no_record:
        raise UsageError("--record and --no-record contradict each other; leave one out")
    if path and os.path.exists(path):
        raise UsageError(f"{path} exists already; name a file that does not, or remove it")
    _needs_terminal("in a script, use probe, request, call, read or prompt")
    from workbench.tui.app import run

    record = not no_record and (settings is None or settings.record)
    return run(targets, record=record, path=path, settings=settings, mouse=not no_mouse)


def _needs_terminal(instead: str) -> None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(f"the screen needs a terminal for its input and output; {instead}")
    if not sys.stderr.isatty():
        # The framework draws through stderr, so that redirecting it would leave an empty screen.
        raise UsageError("the screen is drawn through stderr too; leave it on the terminal")
