"""A transport that another package brings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from workbench.errors import UsageError
from workbench.wire.transport import GROUP, find_transport

ROOT = Path(__file__).resolve().parents[2]

PACKAGE = '''
"""Carries messages by pigeon: within the process, to the one server there is."""

from contextlib import asynccontextmanager

from tests.servers.served import echo, taps
from tests.wire.stage import MemorySink
from workbench.wire.memory import TRANSPORT as MEMORY
from workbench.wire.memory import serve_memory


class Pigeon:
    @asynccontextmanager
    async def connect(self, target, tap, peer):
        async with serve_memory(target.url, echo, taps(MemorySink())):
            async with MEMORY.connect(target, tap, peer) as transport:
                yield transport

    def serve(self, address, serve, taps):
        return serve_memory(address, serve, taps)


PIGEON = Pigeon()
'''


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """The environment of a process in which the package is installed."""
    (tmp_path / "pigeon_transport.py").write_text(PACKAGE)
    information = tmp_path / "pigeon_transport-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: pigeon-transport\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[{GROUP}]\npigeon = pigeon_transport:PIGEON\n")
    path = os.pathsep.join([str(tmp_path), str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "XDG_STATE_HOME": str(tmp_path), "HOME": str(tmp_path)}


def run(arguments: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "workbench", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=100, check=False)


def test_a_server_is_reached_over_a_transport_of_another_package(installed: dict[str, str]) -> None:
    done = run(["request", "--transport", "pigeon=loft-7", "--era", "legacy", "tools/list"], installed)
    assert done.returncode == 0, done.stderr
    assert "echo" in json.dumps(json.loads(done.stdout))


def test_a_transport_that_is_not_installed_is_told_with_those_that_are(installed: dict[str, str]) -> None:
    done = run(["request", "--transport", "raven=loft-7", "tools/list"], installed)
    assert done.returncode == 2
    assert "no transport is named 'raven'" in done.stderr
    assert "pigeon" in done.stderr


def test_without_the_package_its_name_means_nothing() -> None:
    with pytest.raises(UsageError, match="no transport is named 'pigeon'"):
        find_transport("pigeon")
