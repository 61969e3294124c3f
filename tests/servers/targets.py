"""The servers of this folder as targets."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from workbench.config import Target, Timeouts

ROOT = Path(__file__).resolve().parents[2]


def server(module: str, /, *args: str, timeouts: dict[str, float] | None = None, **options: Any) -> Target:
    """A server by its module's name. Its shutdown timeout is short, so that no test waits."""
    return Target(
        name=options.pop("name", module),
        command=sys.executable,
        args=("-m", f"tests.servers.{module}", *args),
        cwd=options.pop("cwd", str(ROOT)),
        era=options.pop("era", "legacy"),
        timeouts=Timeouts(**{"start": 20, "request": 20, "shutdown": 5} | (timeouts or {})),
        **options,
    )
