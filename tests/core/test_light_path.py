"""What stand-ins import must stay cheap: the standard library, and little of it."""

from __future__ import annotations

import subprocess
import sys

import pytest

LIGHT = ("frame", "lines", "jsonrpc", "methods", "peek", "exchange", "exchanges")
HEAVY = (
    "dataclasses",
    "subprocess",
    "inspect",
    "asyncio",
    "logging",
    "tempfile",
    "uuid",
    "pathlib",
    "msgspec",
)


@pytest.mark.parametrize("module", LIGHT)
def test_a_module_of_the_light_path_imports_nothing_heavy(module: str) -> None:
    code = f"import workbench.core.{module}, sys; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    added = set(out.stdout.split()) - set(bare.stdout.split())
    assert added & set(HEAVY) == set()
