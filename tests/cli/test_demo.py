"""The demo's two connections: a process, and a recording over HTTP that is gone with the screen."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.cli.command import PROGRAM
from tests.cli.tmux import needs_tmux, terminal
from tests.cli.waiting import until
from workbench.cli.demo import demo_targets


def test_the_second_is_served_on_this_machine_alone_and_no_longer_than_the_demo() -> None:
    with ExitStack() as stack:
        first, second = demo_targets(stack)
        assert (first.transport, second.transport) == ("stdio", "http")
        assert second.url
        place = urlsplit(second.url)
        assert place.hostname == "127.0.0.1"
        assert place.port
        asked = httpx.post(second.url, json={}, headers={"host": "evil.example", "accept": "*/*"})
        assert asked.status_code == 403
    with pytest.raises(httpx.ConnectError):
        httpx.post(second.url, json={})


@needs_tmux
@pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")
def test_both_are_ready_and_nothing_stays_when_the_terminal_is_closed(tmp_path: Path) -> None:
    env = {"MCP_WORKBENCH_STORE": str(tmp_path / "store"), "XDG_STATE_HOME": str(tmp_path / "state")}
    with terminal([*PROGRAM, "demo"], cwd=str(tmp_path), env=env, width=80, height=24) as shown:
        shown.wait_for("demo ready", "weather ready")
        begun = family(int(shown.tmux("display-message", "-p", "#{pane_pid}")))
        assert len(begun) >= 2
        shown.tmux("kill-server")
        until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in begun))


def family(pid: int) -> list[int]:
    """A process and all that it and its children have started."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in (task / "children").read_text().split():
            found += family(int(child))
    return found
