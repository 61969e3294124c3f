"""Logins at the official SDK's authorization server: through expiry, revocation and missing scopes, and what
all of that writes holds no secret."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.cli.command import PATIENCE, workbench
from tests.cli.logging_in import URL, agree, running
from tests.servers.targets import ROOT

KEPT = "mcp-workbench/logins.json"


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_WORKBENCH_KEYRING", "off")


@contextmanager
def official(**variables: str) -> Iterator[str]:
    """The server as a process: its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.servers.official_auth"],
        cwd=ROOT,
        env={**os.environ, **variables, "PORT": str(port)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + PATIENCE
        while True:
            assert process.poll() is None, "the server has ended"
            assert time.monotonic() < until, "the server does not listen"
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        process.wait()


def held(folder: Path) -> dict[str, str]:
    """The tokens that are kept."""
    kept = json.loads((folder / "config" / KEPT).read_text())
    tokens: dict[str, str] = kept["logins"][0]["tokens"]
    return tokens


def logged_in(url: str, *words: str, terminal: bool = False) -> tuple[str, str]:
    """Log in by a pasted URL; returns what was written and the code."""
    with running("login", *words, "--http", url, terminal=terminal) as command:
        asked = command.until(URL)[1]
        command.until("ctrl-C cancels")
        where = agree(asked)
        command.types(where)
        assert command.ends() == 0, command.text
        return command.text, httpx.URL(where).params["code"]


def test_tokens_that_expire_are_renewed_and_no_secret_is_written(tmp_path: Path) -> None:
    secrets: set[str] = set()
    said: list[str] = []
    with official(LIFETIME="2") as url:
        told, code = logged_in(url, "-o", str(tmp_path / "login.db"), terminal=True)
        said.append(told)
        secrets |= {code, held(tmp_path)["access"], held(tmp_path)["refresh"]}
        before = held(tmp_path)["access"]
        for each in range(2):
            time.sleep(3.1)  # the server looks at whole seconds
            recording = str(tmp_path / f"call-{each}.db")
            done = workbench("call", "say", "-o", recording, "--http", url)
            assert (done.returncode, done.stdout) == (0, "said\n"), done.stderr
            assert held(tmp_path)["access"] != before
            before = held(tmp_path)["access"]
            secrets |= {before, held(tmp_path)["refresh"]}
            said.append(done.stderr)
            said.append(workbench("sessions", "export", recording).stdout)
        said.append(workbench("logins").stdout)
        said.append(workbench("logins", "--json").stdout)
    assert len(secrets) >= 7
    kept = tmp_path / "config" / KEPT
    for file in tmp_path.rglob("*"):
        if file.is_file() and file != kept:
            body = file.read_bytes()
            assert [secret for secret in secrets if secret.encode() in body] == [], file
    assert [secret for secret in secrets for text in said if secret in text] == []


def test_a_login_that_is_revoked_is_told_and_made_again(tmp_path: Path) -> None:
    with official() as url:
        logged_in(url)
        kept = json.loads((tmp_path / "config" / KEPT).read_text())["logins"][0]
        client = (kept["client"]["client_id"], kept["client"]["secret"])
        form = {"client_id": client[0], "client_secret": client[1], "token": kept["tokens"]["access"]}
        assert httpx.post(url.replace("/mcp", "/revoke"), data=form, auth=client).status_code == 200
        failed = workbench("call", "say", "--http", url)
        assert failed.returncode == 3
        assert f"the login has ended. Log in: mcp-workbench login --http {url}" in failed.stderr
        logged_in(url)
        assert workbench("call", "say", "--http", url).stdout == "said\n"


def test_scopes_that_are_missing_are_asked_for_in_the_same_login(tmp_path: Path) -> None:
    with official() as url, running("login", "--scope", "other", "--http", url) as command:
        first = command.until(URL)[1]
        assert httpx.URL(first).params["scope"] == "other"
        command.until("ctrl-C cancels")
        httpx.get(agree(first))
        second = command.until(r"scope=other\+user\S*")
        asked = next(line for line in command.text.splitlines() if second[0] in line)
        command.until(r"(?s)ctrl-C cancels.*ctrl-C cancels")
        httpx.get(agree(asked))
        assert command.ends() == 0, command.text
        assert "scopes: other user" in command.text


def test_a_stand_in_lets_its_client_authorize_by_itself(tmp_path: Path) -> None:
    with official() as url:
        logged_in(url)
        token = held(tmp_path)["access"]
        recording = tmp_path / "stood-in.db"
        ready = tmp_path / "ready"
        words = ("record", "-o", str(recording), "--ready-file", str(ready), "--http", url)
        with running(*words) as command:
            until = time.monotonic() + PATIENCE
            while not ready.exists():
                assert time.monotonic() < until
                time.sleep(0.1)
            there = ready.read_text().strip()
            done = workbench("call", "say", "--token-env", "GIVEN", "--http", there, env={"GIVEN": token})
            assert (done.returncode, done.stdout) == (0, "said\n"), done.stderr
            command.interrupts()
            command.ends()
        assert token.encode() not in recording.read_bytes()
