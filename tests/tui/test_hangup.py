"""Losing the terminal ends the servers and closes the recording, and loses nothing."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from tests.cli.command import PROGRAM
from tests.cli.waiting import until
from tests.tui.test_terminal_safety import OnPty
from workbench.store.reader import Reader


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_a_signal_ends_servers_and_closes_the_recording(tmp_path: Path, number: signal.Signals) -> None:
    words = [*PROGRAM, "--", sys.executable, "-m", "tests.servers.stays"]
    shown = OnPty(words, tmp_path, (80, 24))
    shown.wait_for("ready")
    children = psutil.Process(shown.pid).children(recursive=True)
    assert children
    os.kill(shown.pid, number)
    assert shown.ended() == 128 + number
    until(lambda: not any(child.is_running() for child in children))
    files = list(tmp_path.glob("*.db"))
    assert len(files) == 1
    with Reader.open(str(files[0])) as kept:
        assert kept.sessions()[0].ended_how == number.name
        assert not kept.live
