"""What every test gets: a store of its own, and the real peers by name."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.examples import many
from tests.peers.fixtures import (
    everything_command,
    filesystem_command,
    git_command,
    memory_command,
    peers_are_required,
    time_command,
    typescript_command,
)

__all__ = [
    "everything_command",
    "filesystem_command",
    "git_command",
    "memory_command",
    "time_command",
    "typescript_command",
]

PEER_FIXTURES = frozenset(__all__)

# How long an example takes says nothing on a machine that does other things as well.
settings.register_profile(
    "any machine", max_examples=many(200), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")

# Hundreds of programs are started from here, which must not all be compiled anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A job in the background of a shell is started with SIGINT ignored, and so would be all that is
    # started here to be interrupted.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whoever uses a peer is marked ``peer``, and whoever tries examples ``property``, so that no mark
    can be forgotten."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.property)
        if PEER_FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.peer)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test of a real peer that is skipped, for whatever reason, has failed where peers are required."""
    report = yield
    if report.skipped and item.get_closest_marker("peer") and peers_are_required():
        report.outcome = "failed"
        report.longrepr = f"a test of a real peer was skipped in {call.when}: {report.longrepr}"
    return report


@pytest.fixture(autouse=True)
def _own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees or fills the user's store, and none depends on the terminal it runs in."""
    monkeypatch.setenv("MCP_WORKBENCH_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    settings = [
        name for name in os.environ if name.startswith("MCP_WORKBENCH_") and name != "MCP_WORKBENCH_STORE"
    ]
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", *settings):
        monkeypatch.delenv(name, raising=False)
