"""doctor names the step that fails, and what to do about it."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import DEMO, workbench

SERVERS = [sys.executable, "-m"]


def steps(*words: str) -> tuple[int, dict[str, dict[str, Any]]]:
    done = workbench("doctor", "--json", *words)
    told = json.loads(done.stdout)
    assert told["ok"] is (done.returncode == 0), done.stdout
    return done.returncode, {step["name"]: step for step in told["steps"]}


def failed(told: dict[str, dict[str, Any]]) -> list[str]:
    return [name for name, step in told.items() if step["verdict"] == "failed"]


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as once:
        once.bind(("127.0.0.1", 0))
        port: int = once.getsockname()[1]
        return port


@pytest.fixture
def silent_port() -> Iterator[int]:
    """A port at which something accepts and at once hangs up."""
    import threading

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()

        def hang_up() -> None:
            while True:
                try:
                    listening.accept()[0].close()
                except OSError:
                    return

        threading.Thread(target=hang_up, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


def test_a_good_server_passes_every_step_to_its_end() -> None:
    status, told = steps(*DEMO)
    assert status == 0
    assert failed(told) == []
    assert told["tools/list"]["says"].startswith("15 ")
    assert "2025-11-25" in told["handshake"]["says"]
    assert "shutdown" in told


def test_a_command_that_is_not_there_fails_at_the_command() -> None:
    status, told = steps("--", "no-such-command-here")
    assert status == 3
    assert failed(told) == ["command"]
    assert told["command"]["next"]


def test_a_folder_that_is_not_there_fails_before_the_command(tmp_path: Path) -> None:
    _, told = steps("--cwd", str(tmp_path / "nowhere"), "--", "cat")
    assert failed(told) == ["folder"]
    assert "command" not in told


@pytest.mark.parametrize(
    ("module", "step"),
    [
        ("tests.servers.exits_at_once", "exited"),
        ("tests.servers.wants_another_revision", "refused"),
    ],
)
def test_a_server_that_starts_and_fails_is_named_by_its_state(module: str, step: str) -> None:
    status, told = steps("--", *SERVERS, module)
    assert status == 3
    assert failed(told) == [step]
    assert told["command"]["verdict"] == "ok"
    assert told[step]["next"]


def test_a_host_without_an_address_fails_at_dns() -> None:
    status, told = steps("--http", "http://no-such-host.invalid/mcp")
    assert status == 3
    assert failed(told) == ["DNS"]


def test_a_port_nobody_listens_at_fails_at_tcp(closed_port: int) -> None:
    _, told = steps("--http", f"http://127.0.0.1:{closed_port}/mcp")
    assert failed(told) == ["TCP"]
    assert str(closed_port) in told["TCP"]["says"]


def test_a_port_without_tls_fails_at_tls(silent_port: int) -> None:
    _, told = steps("--http", f"https://127.0.0.1:{silent_port}/mcp")
    assert failed(told) == ["TLS"]
    assert told["TCP"]["verdict"] == "ok"


def test_a_port_that_hangs_up_fails_where_the_server_should_answer(silent_port: int) -> None:
    status, told = steps("--http", f"http://127.0.0.1:{silent_port}/mcp")
    assert status == 3
    assert told["TCP"]["verdict"] == "ok"
    assert len(failed(told)) == 1
    assert failed(told)[0] not in ("URL", "DNS", "TCP", "TLS")


def test_without_a_target_it_tells_of_the_machine(tmp_path: Path) -> None:
    done = workbench("doctor", env={"MCP_WORKBENCH_STORE": str(tmp_path / "not" / "yet")})
    assert done.returncode == 0, done.stdout
    for word in ("mcp-workbench", "Python", "textual", "settings", "recordings", "npx"):
        assert word in done.stdout
    assert not (tmp_path / "not").exists()


def test_settings_that_cannot_be_read_are_a_failed_step(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text("record = maybe\n")
    done = workbench("doctor", "--json", env={"MCP_WORKBENCH_CONFIG": str(settings)})
    assert done.returncode != 0
    assert "config.toml" in done.stdout + done.stderr
