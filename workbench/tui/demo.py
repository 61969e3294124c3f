"""The demo as lines a user could have typed."""

from __future__ import annotations

import shlex
import sys


def demo_line() -> str:
    """The target of the demo server and of a recording of it."""
    from workbench.demo.recording import RECORDING

    server = shlex.join([sys.executable, "-P", "-m", "workbench.demo"])
    words = ["--stdio", server, "--name", "demo", "--replay", RECORDING, "--name", "weather"]
    return shlex.join(words)
