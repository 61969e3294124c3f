"""The official suite's server scenarios against a fixture, with the stand-in between, and against a mock.

The fixture (``tests.servers.conformant``) has all that the suite looks for and makes its ids and states up
anew each time it is started. A scenario agrees when the suite says the same of it as without anything
between: the same checks, with the same outcome each. The mock is made of what the stand-in has recorded.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]

#: Longest a server, a stand-in or all scenarios of a revision may take (seconds).
PATIENCE = 120


class Outcomes(NamedTuple):
    """What the suite said of a scenario without and with the stand-in, and of the mock: its checks and
    their outcomes."""

    revision: str
    scenario: str
    without: dict[str, str]
    between: dict[str, str]
    mocked: dict[str, str]

    @property
    def passes(self) -> bool:
        """Whether the fixture itself does as it should."""
        return bool(self.without) and not {"FAILURE", "WARNING"} & set(self.without.values())

    @property
    def agrees(self) -> bool:
        return self.without == self.between

    def differing(self, other: dict[str, str]) -> list[str]:
        """The checks that went otherwise."""
        names = self.without.keys() | other.keys()
        return sorted(name for name in names if self.without.get(name) != other.get(name))


def run(suite: list[str], revisions: tuple[str, ...], chosen: list[str]) -> Iterator[Outcomes]:
    """Every required server scenario of the revisions, or those of them that are chosen."""
    for revision in revisions:
        names = [name for name in required(suite, revision) if not chosen or name in chosen]
        if not names:
            continue
        with tempfile.TemporaryDirectory() as folder, fixture() as there:
            without = outcomes(suite, revision, there)
            recording = Path(folder) / "between.db"
            with listening("record", "-o", str(recording), "--http", there) as ours:
                between = outcomes(suite, revision, ours)
            with listening("replay", "server", str(recording), "--listen", "127.0.0.1:0") as ours:
                mocked = outcomes(suite, revision, ours)
        for name in names:
            yield Outcomes(revision, name, without.get(name, {}), between.get(name, {}), mocked.get(name, {}))


def required(suite: list[str], revision: str) -> list[str]:
    """The server scenarios that a revision requires."""
    command = [*suite, "list", "--requirements", revision]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    part = told.partition("Server scenarios")[2].partition("Client scenarios")[0]
    return re.findall(r"^\s+- (\S+)", part, re.MULTILINE)


def outcomes(suite: list[str], revision: str, url: str) -> dict[str, dict[str, str]]:
    """The outcome of each check of every scenario of a revision. A scenario may have a check several times."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["server", "--url", url, "--requirements", revision, "-o", folder]
        subprocess.run([*suite, *words], capture_output=True, check=False, timeout=PATIENCE)
        found: dict[str, dict[str, str]] = {}
        for file in Path(folder).glob("server-*/checks.json"):
            scenario = re.sub(r"-\d{4}-\d\d-\d\dT.*$", "", file.parent.name.removeprefix("server-"))
            checks = json.loads(file.read_text(encoding="utf-8"))
            found[scenario] = {f"{n} {check['id']}": check["status"] for n, check in enumerate(checks)}
        return found


@contextmanager
def fixture() -> Iterator[str]:
    """The fixture over HTTP: its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.servers.conformant"]
    with _running(command, {"PORT": str(port)}) as process:
        until = time.monotonic() + PATIENCE
        while True:
            assert process.poll() is None, "the fixture has ended"
            assert time.monotonic() < until, "the fixture does not listen"
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/mcp"


@contextmanager
def listening(*words: str) -> Iterator[str]:
    """A command of ours that serves over HTTP: its URL."""
    with tempfile.TemporaryDirectory() as folder:
        ready = Path(folder) / "ready"
        command = [sys.executable, "-m", "workbench", *words, "--ready-file", str(ready)]
        with _running(command, {}) as process:
            until = time.monotonic() + PATIENCE
            while not ready.exists():
                assert process.poll() is None, f"{words[0]} has ended"
                assert time.monotonic() < until, f"{words[0]} does not listen"
                time.sleep(0.5)
            yield ready.read_text(encoding="utf-8").strip()


@contextmanager
def _running(command: list[str], variables: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
