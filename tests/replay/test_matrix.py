"""Handshake era: recorded over one transport, served over another, and no client can tell.

A program of each client (``clients``) runs on a live server of the official SDK that does everything of
the era, and again on the recording of that. What its code saw must be equal, everything must
have been asked for that was recorded, and nothing else. The older a transport the less it carries, but
none of the recorded details that get lost is one that a client's code is shown.

What was recorded over HTTP and over HTTP with SSE was so by the replay of what was recorded over stdio,
and is held to the live run all the same.

Cells that cannot exist: the TypeScript SDK in process, which is another process. ``make test`` runs one
cell for each row and column with the clients that are installed anyway, ``make test-long`` all.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.peers.fixtures import or_skip
from tests.peers.install import python_client, typescript_client
from tests.replay.mocked import listening
from tests.replay.serving import SERVE
from tests.servers.targets import ROOT

pytestmark = pytest.mark.peer

LIVE = [sys.executable, "-m", "tests.servers.official_handshake"]
RECORD = [sys.executable, "-m", "workbench", "record", "-o"]
CLIENTS = Path(__file__).parent / "clients"

#: How each client's program is started.
COMMANDS: dict[str, Callable[[], list[str]]] = {
    "python": lambda: [sys.executable, str(CLIENTS / "python_sdk.py")],
    "typescript": lambda: typescript_client(CLIENTS / "typescript_sdk.mjs"),
    "raw": lambda: [sys.executable, str(CLIENTS / "raw_client.py")],
    "python 1": lambda: [python_client("mcp-1"), str(CLIENTS / "python_sdk.py")],
    "fastmcp": lambda: [python_client("fastmcp"), str(CLIENTS / "fastmcp_client.py")],
}
RECORDED = ("stdio", "http", "sse")
SERVED = ("stdio", "http", "sse", "mock")
#: A cell for each row and each column, and for each client that every run of the tests has.
SHORT = {
    ("python", "stdio", "mock"),
    ("python", "http", "sse"),
    ("typescript", "sse", "stdio"),
    ("raw", "stdio", "http"),
}
IMPOSSIBLE = {("typescript", recorded, "mock") for recorded in RECORDED}


def cells() -> list[Any]:
    every = [(client, was, now) for client in COMMANDS for was in RECORDED for now in SERVED]
    return [
        pytest.param(*cell, id=" ".join(cell), marks=() if cell in SHORT else pytest.mark.long)
        for cell in every
        if cell not in IMPOSSIBLE
    ]


class Made:
    """The recordings of a client's live run, made when they are first asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: dict[str, Any] = {}
        self._recordings: dict[tuple[str, str], Path] = {}

    def live(self, client: str) -> Any:
        """What the client's code saw of the live server."""
        self.recording(client, "stdio")
        return self._seen[client]

    def recording(self, client: str, kind: str) -> Path:
        path = self._recordings.get((client, kind))
        if path is None:
            path = self._recordings[client, kind] = self._folder / f"{client} {kind}.db".replace(" ", "-")
            if kind == "stdio":
                self._seen[client] = run(client, "stdio", *RECORD, str(path), "--", *LIVE)
            else:
                source = self.recording(client, "stdio")
                assert served(client, source, kind, self._folder, "-o", str(path)) == self.live(client)
        return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return Made(tmp_path_factory.mktemp("matrix"))


def run(client: str, *words: str) -> Any:
    """What a client's program saw."""
    done = subprocess.run(
        [*or_skip(COMMANDS[client]), *words],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def served(client: str, recording: Path, kind: str, folder: Path, *words: str) -> Any:
    """What a client's program sees of a recording, which must agree with the recording in all."""
    if kind == "mock":
        return run(client, kind, str(recording))
    if kind == "stdio":
        report = folder / "report.json"
        seen = run(client, kind, *SERVE, str(recording), "--strict", "--report", str(report), *words)
        assert json.loads(report.read_text())["verdict"] == "ok", report.read_text()
        return seen
    with listening(recording, folder, "--strict", "--transport", kind, *words) as mock:
        seen = run(client, kind, mock.url)
        assert mock.end() == 0, mock.report()
    return seen


@pytest.mark.parametrize(("client", "was", "now"), cells())
def test_a_client_cannot_tell_the_replay_from_the_live_server(
    client: str, was: str, now: str, made: Made, tmp_path: Path
) -> None:
    recording = made.recording(client, was)
    assert served(client, recording, now, tmp_path) == made.live(client)


def test_every_row_and_column_has_a_short_cell() -> None:
    assert {was for _, was, _ in SHORT} == set(RECORDED)
    assert {now for _, _, now in SHORT} == set(SERVED)
    assert {client for client, _, _ in SHORT} == {"python", "typescript", "raw"}
