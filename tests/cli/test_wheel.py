"""The wheel, installed where the repository is not, is the whole program."""

from __future__ import annotations

import json
import os
import site
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.cli.tmux import needs_tmux, terminal

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` folder of a new environment that holds the wheel, and its dependencies by link."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    build = [*pip, "wheel", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", str(folder)]
    subprocess.run([*build, str(ROOT)], check=True, capture_output=True)
    wheel = next(folder.glob("*.whl"))
    names = zipfile.ZipFile(wheel).namelist()
    assert "workbench/demo/weather.jsonl" in names
    assert "workbench/py.typed" in names
    assert not [name for name in names if not name.startswith(("workbench/", "mcp_workbench-"))]
    environment = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    python = environment / "bin" / "python"
    install = [*pip, "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    # Not `site.addsitedir`: the editable install of the repository must not come along.
    linked = next((environment / "lib").glob("python*")) / "site-packages" / "dependencies.pth"
    linked.write_text(site.getsitepackages()[0])
    return environment / "bin"


def run(installed: Path, *words: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(installed / "mcp-workbench"), *words],
        capture_output=True,
        cwd=installed,
        input=stdin if stdin is not None else b"",
        env={**os.environ, "PATH": f"{installed}{os.pathsep}{os.environ['PATH']}"},
        timeout=60,
        check=False,
    )


def test_it_is_the_installed_package_that_runs(installed: Path) -> None:
    where = "import workbench; print(workbench.__file__)"
    told = subprocess.run(
        [str(installed / "python"), "-c", where], capture_output=True, text=True, cwd=installed
    )
    assert told.stdout.startswith(str(installed.parent))


def test_probe_record_and_replay_run_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    probed = run(installed, "probe", "--json", "--", "python", "-m", "workbench.demo")
    assert json.loads(probed.stdout)["ok"] is True, probed.stderr
    recording = str(tmp_path / "run.db")
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    recorded = run(installed, "record", "-o", recording, "--", "python", "-m", "workbench.demo", stdin=ping)
    assert (recorded.returncode, recorded.stdout) == (0, b'{"jsonrpc":"2.0","id":1,"result":{}}\n')
    replayed = run(installed, "replay", "server", recording, stdin=ping)
    assert replayed.stdout == recorded.stdout
    shipped = run(
        installed,
        "call",
        "calculator_arithmetic",
        "expression=2 * (3 + 4)",
        "--replay",
        _recording(installed),
    )
    assert shipped.stdout == b"2 * (3 + 4) = 14\n", shipped.stderr


def _recording(installed: Path) -> str:
    where = "from workbench.demo.recording import RECORDING; print(RECORDING)"
    done = subprocess.run(
        [str(installed / "python"), "-c", where], capture_output=True, text=True, cwd=installed
    )
    return done.stdout.strip()


@needs_tmux
def test_the_demo_runs_from_the_wheel(installed: Path, tmp_path: Path) -> None:
    words = [str(installed / "mcp-workbench"), "demo", "--no-record"]
    with terminal(words, cwd=str(tmp_path)) as shown:
        shown.wait_for("demo ready", "weather ready")
        shown.press("q")
        shown.wait_for("EXIT 0")
