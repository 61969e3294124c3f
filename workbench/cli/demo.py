"""``demo``: the screen on the demo server over stdio, and on a recording of it that is served over HTTP."""

from __future__ import annotations

import shlex
import sys
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

import click

from workbench.cli.screen import no_mouse_option, no_record_option, open_screen, record_option
from workbench.config import are_given

if TYPE_CHECKING:
    from workbench.config import Settings, Target


@click.command()
@record_option
@no_record_option
@no_mouse_option
def demo(path: str | None, no_record: bool, no_mouse: bool) -> int:
    """Open the screen on the demo server and on a recording of it.

    Nothing is fetched: the server and the recording are part of the program. The recording is served over
    HTTP, by this program, on a port of this machine that is free, for as long as the screen is open.
    """
    settings = None
    if are_given():
        from workbench.config import load_settings

        settings = load_settings()
    with ExitStack() as stack:
        return open_screen(partial(demo_targets, stack, settings), settings, path, no_record, no_mouse)


def demo_targets(stack: ExitStack, settings: Settings | None = None) -> list[Target]:
    """The demo server over stdio, and a mock made of its recording over HTTP, which ends with ``stack``."""
    from workbench.config import parse_targets

    # -P: a folder of the user's that is named like our package is not run in its place.
    server = shlex.join([sys.executable, "-P", "-m", "workbench.demo"])
    words = ["--stdio", server, "--name", "demo", "--http", _serve(stack), "--name", "weather"]
    return parse_targets(words, settings)


def _serve(stack: ExitStack) -> str:
    """Serve the recording in a thread; the URL."""
    from anyio.from_thread import start_blocking_portal

    from workbench.demo.recording import RECORDING
    from workbench.mock import whole_cast
    from workbench.replay.options import Options
    from workbench.wire.serving_http import serve_http
    from workbench.wire.serving_mock import Host, NoSink
    from workbench.wire.serving_site import Manner
    from workbench.wire.tap import Tap

    cast = whole_cast(RECORDING, Options(), lines=False)
    portal = stack.enter_context(start_blocking_portal())
    serving = stack.enter_context(
        portal.wrap_async_context_manager(
            serve_http(
                "127.0.0.1:0",
                Host(cast).serve,
                lambda _: Tap(NoSink(), 1),
                Manner(eras=cast.eras),
                path="/mcp",
            )
        )
    )
    return serving.address
