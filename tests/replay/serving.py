"""Runs ``replay server`` as a process, on recordings made of tapes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.replay.build import Tape, note, request
from workbench.core.frame import Unit
from workbench.store.recorder import Recorder

SERVE = [sys.executable, "-m", "workbench", "replay", "server"]
INITIALIZE = request(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})


def saved(tape: Tape, path: Path, connections: int = 1) -> Path:
    recorder = Recorder(str(path), name="tape")
    for number in range(connections):
        recorder.connect(f"server-{number + 1}", "stdio", "server")
    for frame in tape.frames:
        recorder.put(Unit(1, frame.direction, frame.channel, frame.body, frame.wall_ns, frame.mono_ns))
    recorder.close()
    return path


def lines(*bodies: Any) -> bytes:
    return b"".join(json.dumps(body).encode() + b"\n" for body in bodies)


def served(*words: str, said: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*SERVE, *words], input=said, capture_output=True, timeout=60, check=False)


def hello_lines() -> bytes:
    """A handshake as a client writes it."""
    return lines(INITIALIZE, note("notifications/initialized"))
