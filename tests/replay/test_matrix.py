"""Recorded over one transport, served over another, and no client can tell; in both eras.

A program of each client (``clients``) runs on a live server of the official SDK that does everything of
the era, and again on the recording of that. What its code saw must be equal, everything must
have been asked for that was recorded, and nothing else.

Of two overlapping calls the later one ends last here. The other way round is held by
``test_what_belongs_to_the_earlier_call_does_not_overtake_what_may_belong_to_both``.

Cells that cannot exist: the TypeScript SDK in process, which is another process; HTTP with SSE in the
stateless era, which that transport has not. ``make test`` runs one cell for each row and column with the
clients that are installed anyway, ``make test-long`` all.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.peers.fixtures import or_skip
from tests.peers.install import python_client, typescript_client
from tests.peers.listening import listening as peer_at
from tests.replay.mocked import PATIENCE, listening, started
from tests.replay.serving import SERVE
from tests.servers.targets import ROOT

pytestmark = pytest.mark.peer

LEGACY, MODERN = "official_handshake", "official_eras"
CLIENTS = Path(__file__).parent / "clients"

#: How each client's program is started.
COMMANDS: dict[str, Callable[[], list[str]]] = {
    "python": lambda: [sys.executable, str(CLIENTS / "python_sdk.py")],
    "typescript": lambda: typescript_client(CLIENTS / "typescript_sdk.mjs"),
    "raw": lambda: [sys.executable, str(CLIENTS / "raw_client.py")],
    "python 1": lambda: [python_client("mcp-1"), str(CLIENTS / "python_sdk.py")],
    "fastmcp": lambda: [python_client("fastmcp"), str(CLIENTS / "fastmcp_client.py")],
}
STATELESS: dict[str, Callable[[], list[str]]] = {
    "python modern": lambda: [sys.executable, str(CLIENTS / "python_stateless.py"), "2026-07-28"],
    "python auto": lambda: [sys.executable, str(CLIENTS / "python_stateless.py"), "auto"],
    "typescript modern": lambda: typescript_client(CLIENTS / "typescript_stateless.mjs"),
    "raw modern": lambda: [sys.executable, str(CLIENTS / "raw_stateless.py")],
}
RECORDED = ("stdio", "http", "sse")
SERVED = ("stdio", "http", "sse", "mock")
#: A cell for each row and each column, and for each client that every run of the tests has.
SHORT = {
    ("python", "stdio", "mock"),
    ("python", "http", "sse"),
    ("typescript", "sse", "stdio"),
    ("raw", "stdio", "http"),
    ("python auto", "stdio", "mock"),
    ("typescript modern", "http", "stdio"),
    ("raw modern", "stdio", "http"),
}


def cells() -> list[Any]:
    every = [(client, was, now) for client in COMMANDS for was in RECORDED for now in SERVED]
    every += [(client, was, now) for client in STATELESS for was in RECORDED for now in SERVED]
    return [
        pytest.param(*cell, id=" ".join(cell), marks=() if cell in SHORT else pytest.mark.long)
        for cell in every
        if not is_impossible(*cell)
    ]


def is_impossible(client: str, was: str, now: str) -> bool:
    if client in STATELESS and "sse" in (was, now):
        return True
    return "typescript" in client and now == "mock"


class Made:
    """Live runs of the clients, each made when it is first asked for: what the client's code saw, and the
    recording."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._runs: dict[tuple[str, str], tuple[Any, Path]] = {}

    def live(self, client: str, kind: str) -> tuple[Any, Path]:
        if (client, kind) not in self._runs:
            folder = self._folder / f"{client} {kind}".replace(" ", "-")
            folder.mkdir()
            server = [sys.executable, "-m", f"tests.servers.{MODERN if client in STATELESS else LEGACY}"]
            make = _live_over_stdio if kind == "stdio" else _live_over_http
            self._runs[client, kind] = make(client, kind, server, folder)
        return self._runs[client, kind]


def _live_over_stdio(client: str, kind: str, server: list[str], folder: Path) -> tuple[Any, Path]:
    """Some clients start a server more than once, to find its era; each start makes a recording, and
    the largest is of the session."""
    record = [sys.executable, "-m", "workbench", "record", "--", *server]
    seen = run(client, kind, "/usr/bin/env", f"MCP_WORKBENCH_STORE={folder}", *record)
    return seen, max(folder.glob("*.db"), key=lambda path: path.stat().st_size)


def _live_over_http(client: str, kind: str, server: list[str], folder: Path) -> tuple[Any, Path]:
    path, ready = folder / "live.db", folder / "ready"
    with peer_at([*server, kind]) as origin:
        url = origin + ("/sse" if kind == "sse" else "/mcp")
        words = ["record", f"--{kind}", url, "-o", str(path), "--ready-file", str(ready)]
        with started([sys.executable, "-m", "workbench", *words], ready) as recorder:
            seen = run(client, kind, ready.read_text().strip())
            recorder.send_signal(signal.SIGTERM)
            recorder.communicate(timeout=PATIENCE)
    return seen, path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("matrix"))


def run(client: str, *words: str) -> Any:
    """What a client's program saw."""
    done = subprocess.run(
        [*or_skip({**COMMANDS, **STATELESS}[client]), *words],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def served(client: str, recording: Path, kind: str, folder: Path) -> Any:
    """What a client's program sees of a recording, which must agree with the recording in all."""
    if kind == "mock":
        return run(client, kind, str(recording))
    if kind == "stdio":
        report = folder / "report.json"
        seen = run(client, kind, *SERVE, str(recording), "--strict", "--report", str(report))
        assert json.loads(report.read_text())["verdict"] == "ok", report.read_text()
        return seen
    with listening(recording, folder, "--strict", "--transport", kind) as mock:
        seen = run(client, kind, mock.url)
        assert mock.end() == 0, mock.report()
    return seen


@pytest.mark.parametrize(("client", "was", "now"), cells())
def test_a_client_cannot_tell_the_replay_from_the_live_server(
    client: str, was: str, now: str, made: Made, tmp_path: Path
) -> None:
    seen, recording = made.live(client, was)
    assert served(client, recording, now, tmp_path) == seen


def test_every_row_and_column_has_a_short_cell() -> None:
    for clients, kinds in ((COMMANDS, {"stdio", "http", "sse"}), (STATELESS, {"stdio", "http"})):
        short = [cell for cell in SHORT if cell[0] in clients]
        assert {was for _, was, _ in short} == kinds
        assert {now for _, _, now in short} == {*kinds, "mock"}
    assert {client for client, _, _ in SHORT} >= {"python", "typescript", "raw"}
