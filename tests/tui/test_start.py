"""What is loaded before the first paint: the framework, and nothing heavy beside it."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {"anyio", "click", "httpx", "jsonschema", "mcp_types", "msgspec", "pydantic", "sqlite_utils"}


def test_the_screen_loads_nothing_heavy_before_the_first_paint() -> None:
    script = (
        "import sys, workbench.tui.app, workbench.tui.bridge\n"
        "desk = workbench.tui.bridge.LiveDesk([])\n"
        "workbench.tui.app.Workbench(desk)\n"
        "print(' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "textual.app" in loaded
    assert not loaded & HEAVY
    assert "workbench.session" not in loaded
