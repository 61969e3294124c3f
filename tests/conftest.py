"""What every test gets: a store of its own, and the real peers by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.peers.fixtures import (
    everything_command,
    filesystem_command,
    git_command,
    memory_command,
    time_command,
)

__all__ = [
    "everything_command",
    "filesystem_command",
    "git_command",
    "memory_command",
    "time_command",
]

PEER_FIXTURES = frozenset(__all__)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever uses a peer is marked ``peer``, so the mark cannot be forgotten."""
    for item in items:
        if PEER_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.peer)


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees or fills the user's store, and none depends on the terminal it runs in."""
    monkeypatch.setenv("MCP_WORKBENCH_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES"):
        if name in os.environ:
            monkeypatch.delenv(name)
