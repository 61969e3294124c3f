"""Where real peers are required, a skipped test of one is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

TESTS = """
import pytest

@pytest.mark.peer
def test_of_a_peer():
    pytest.skip("no such peer here")

def test_of_something_else():
    pytest.skip("not today")
"""


@pytest.mark.parametrize(("required", "closing"), [("", "2 skipped"), ("1", "1 failed, 1 skipped")])
def test_a_skipped_test_of_a_peer_fails_only_where_peers_are_required(
    required: str, closing: str, tmp_path: Path
) -> None:
    file = tmp_path / "test_inner.py"
    file.write_text(TESTS)
    plugins = ["-p", "tests.conftest", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugins, str(file)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "WORKBENCH_REQUIRE_PEERS": required},
        check=False,
    )
    assert closing in done.stdout, done.stdout + done.stderr
    assert ("no such peer here" in done.stdout) or not required
