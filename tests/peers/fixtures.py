"""A fixture for each peer: the command that starts it over stdio, as a list of arguments."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.peers.install import PYTHON_PEERS, PeerUnavailable, npm_peer, python_peer, typescript_peer


def peers_are_required() -> bool:
    """Whether a test of a real peer must run: set by CI."""
    return bool(os.environ.get("WORKBENCH_REQUIRE_PEERS"))


def or_skip(command: Callable[[], list[str]]) -> list[str]:
    """The command of a peer; where it cannot be had the test is skipped, or fails if peers are required."""
    try:
        return command()
    except PeerUnavailable as trouble:
        if peers_are_required():
            pytest.fail(f"a peer is required here: {trouble}", pytrace=False)
        pytest.skip(str(trouble))


@pytest.fixture(scope="session")
def everything_command() -> list[str]:
    """``@modelcontextprotocol/server-everything``: every feature of the handshake era."""
    return or_skip(lambda: npm_peer("everything"))


@pytest.fixture
def filesystem_command(tmp_path: Path) -> list[str]:
    """``@modelcontextprotocol/server-filesystem`` on a folder with ``hello.txt`` in it."""
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "hello.txt").write_text("hello from a file\n")
    return [*or_skip(lambda: npm_peer("filesystem")), str(folder)]


@pytest.fixture(scope="session")
def memory_command() -> list[str]:
    """``@modelcontextprotocol/server-memory``; set ``MEMORY_FILE_PATH`` to keep tests apart."""
    return or_skip(lambda: npm_peer("memory"))


@pytest.fixture(scope="session")
def typescript_command() -> list[str]:
    """A server of the official TypeScript SDK that speaks both eras."""
    return or_skip(typescript_peer)


@pytest.fixture(scope="session")
def time_command() -> list[str]:
    """``mcp-server-time`` (official Python SDK)."""
    return or_skip(lambda: python_peer(PYTHON_PEERS[0]))


@pytest.fixture
def git_command(tmp_path: Path) -> list[str]:
    """``mcp-server-git`` on a repository with one commit."""
    import subprocess

    repository = tmp_path / "repository"
    identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.com"]
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    (repository / "notes.txt").write_text("first\n")
    subprocess.run(["git", "-C", str(repository), "add", "notes.txt"], check=True)
    subprocess.run(["git", "-C", str(repository), *identity, "commit", "-qm", "First commit"], check=True)
    return [*or_skip(lambda: python_peer(PYTHON_PEERS[1])), "--repository", str(repository)]
