"""``login``, ``logout`` and ``logins``, with and without a browser on this machine."""

from __future__ import annotations

import json
import socket
import stat
import time
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.cli.command import PATIENCE, workbench
from tests.cli.logging_in import URL, agree, guarded, running
from tests.servers.authorizing import AuthSite

KEPT = "mcp-workbench/logins.json"


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCP_WORKBENCH_KEYRING", "off")


def log_in(site: AuthSite, *words: str) -> str:
    """Log in through pipes by the port; returns what was written."""
    with running("login", *words, "--http", site.url) as command:
        found = command.until(URL)
        assert httpx.get(agree(found[1])).status_code == 200
        assert command.ends() == 0, command.text
        return command.text


def test_a_browser_comes_back_to_a_port_of_this_machine(tmp_path: Path) -> None:
    with guarded() as site:
        told = log_in(site)
        assert f"logged in to {site.url}" in told
        done = workbench("call", "say", "--http", site.url)
        assert (done.returncode, done.stdout) == (0, "said\n"), done.stderr
        kept = tmp_path / "config" / KEPT
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_the_url_is_whole_and_what_helps_from_another_machine_stands_there() -> None:
    with guarded() as site, running("login", "--http", site.url, terminal=True, COLUMNS="40") as command:
        found = command.until(URL)
        command.until("ctrl-C cancels")
        port = httpx.URL(found[1]).params["redirect_uri"].rpartition(":")[2].partition("/")[0]
        assert f"ssh -N -L {port}:127.0.0.1:{port} " in command.text
        assert "300 s left" in command.text
        copied = command.written.partition(b"\x1b]52;c;")[2].partition(b"\x07")[0]
        assert b64decode(copied).decode() == found[1]
        httpx.get(agree(found[1]))
        assert command.ends() == 0


@pytest.mark.parametrize("terminal", [True, False])
def test_where_the_browser_was_sent_to_may_be_pasted(terminal: bool) -> None:
    with guarded() as site, running("login", "--http", site.url, terminal=terminal) as command:
        url = command.until(URL)[1]
        command.until("ctrl-C cancels")
        where = agree(url)
        command.types("http://127.0.0.1:1/callback?code=wrong&state=wrong")
        command.until("not where this login was sent back to")
        command.types(f"  '{where}&filler={'x' * 6000}' ")  # longer than a line of a terminal may be
        assert command.ends() == 0, command.text
        assert "logged in" in command.text
        assert httpx.URL(where).params["code"] not in command.text


def test_who_comes_to_the_port_without_the_state_ends_nothing() -> None:
    with guarded() as site, running("login", "--http", site.url) as command:
        url = command.until(URL)[1]
        back = httpx.URL(url).params["redirect_uri"]
        for stray in ("?code=x&state=y", "", "?error=access_denied", "/other?code=x"):
            assert httpx.get(back + stray).status_code == 404
        assert httpx.get(agree(url)).status_code == 200
        assert command.ends() == 0


def test_a_port_that_is_taken_is_told_or_another_is_used() -> None:
    with guarded() as site, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = workbench("login", "--callback-port", port, "--http", site.url)
        assert done.returncode == 3
        assert f"Port {port} is taken by another program. End that program, or name another" in done.stderr
        # One that is registered with a port that is taken now registers once more.
        log_in(site)
        first = json.loads(next(body for _, path, _, body in site.asked if path == "/register"))
        with socket.socket() as again:
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind(("127.0.0.1", httpx.URL(first["redirect_uris"][0]).port or 0))
            again.listen()
            log_in(site, "--again")
        assert site.paths().count("/register") == 2
        log_in(site, "--again")
        assert site.paths().count("/register") == 2


def test_a_login_ends_when_nobody_comes_and_when_it_is_cancelled() -> None:
    with guarded() as site:
        done = workbench("login", "--wait", "1", "--http", site.url)
        assert done.returncode == 3
        assert "Nobody logged in within 1 s. Log in again; --wait S gives more time." in done.stderr
        with running("login", "--http", site.url) as command:
            command.until("ctrl-C cancels")
            command.interrupts()
            assert command.ends() == 130
        assert "Traceback" not in command.text


def test_what_is_held_is_listed_without_tokens_and_forgotten() -> None:
    with guarded() as site:
        assert "There are no logins" in workbench("logins").stderr
        log_in(site, "--scope", "read write")
        listed = workbench("logins")
        assert site.url in listed.stdout
        assert "read write" in listed.stdout
        document = json.loads(workbench("logins", "--json").stdout)
        assert [(each["server"], each["issuer"], each["scopes"]) for each in document["logins"]] == [
            (site.url, site.origin, ["read", "write"])
        ]
        assert not any(secret in listed.stdout + json.dumps(document) for secret in site.secrets)
        assert "that holds" in workbench("login", "--http", site.url).stderr
        assert f"logged out of {site.url}" in workbench("logout", "--http", site.url).stderr
        assert "there is no login" in workbench("logout", "--http", site.url).stderr
        failed = workbench("probe", "--http", site.url)
        assert failed.returncode == 3
        assert "401" in failed.stderr or "asks for authorization" in failed.stderr


def test_a_server_that_asks_for_nothing_needs_no_login() -> None:
    with guarded() as site:
        site.tokens[""] = ""
        done = workbench("login", "--http", site.url)
        assert (done.returncode, site.paths().count("/authorize")) == (0, 0)
        assert "asks for no authorization" in done.stderr


def test_a_token_may_come_from_a_variable() -> None:
    with guarded() as site:
        site.tokens["token-of-a-variable-1"] = ""
        words = ("call", "say", "--token-env", "GIVEN", "--http", site.url)
        done = workbench(*words, env={"GIVEN": "token-of-a-variable-1"})
        assert (done.returncode, done.stdout) == (0, "said\n"), done.stderr
        refused = workbench(*words, env={"GIVEN": "another-token-12345"})
        assert refused.returncode == 3
        assert "status 401" in refused.stderr
        assert "another-token" not in refused.stderr
        unset = workbench(*words, env={"GIVEN": ""})
        assert (unset.returncode, "'GIVEN' is not set" in unset.stderr) == (2, True)
        assert set(site.paths()) == {"/mcp"}


def test_a_client_gets_its_tokens_by_itself() -> None:
    with guarded() as site:
        words = ("--grant", "client_credentials", "--client-id", "robot", "--client-secret-env", "GIVEN")
        done = workbench("call", "say", *words, "--http", site.url, env={"GIVEN": "secret-of-a-robot"})
        assert (done.returncode, done.stdout) == (0, "said\n"), done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("login", "--", "cat"), "only servers over HTTP have logins"),
        (
            ("login", "--header", "Authorization: Bearer x1234567", "--http", "http://127.0.0.1:1/"),
            "switches logins off",
        ),
        (
            ("login", "--grant", "client_credentials", "--http", "http://127.0.0.1:1/"),
            "needs nobody to log in",
        ),
        (("login", "--grant", "magic", "--http", "http://127.0.0.1:1/"), "'magic' is no grant"),
        (("login", "--callback-port", "0", "--http", "http://127.0.0.1:1/"), "'0' is no port"),
        (("probe", "--client-key", "/no/such/key", "--http", "http://127.0.0.1:1/"), "cannot be read"),
        (("probe", "--", "cat", "--scope", "x"), ""),
        (("probe", "--stdio", "cat", "--scope", "x"), "options of authorization are for HTTP targets"),
    ],
)
def test_what_makes_no_sense_is_said_so(words: tuple[str, ...], told: str) -> None:
    if told:
        done = workbench(*words)
        assert (done.returncode, told in done.stderr) == (2, True), done.stderr


def test_doctor_says_which_step_is_wrong() -> None:
    with guarded() as site:
        done = workbench("doctor", "--http", site.url)
        assert done.returncode == 3
        lines = [line.split() for line in done.stdout.splitlines()]
        told = [" ".join(words) for words in lines if "auth" in words]
        assert any("authorization server metadata: status 200" in line for line in told), done.stdout
        assert f"mcp-workbench login --http {site.url}" in done.stdout + done.stderr
        site.documents["/.well-known/oauth-authorization-server"]["issuer"] = "https://other.example"
        done = workbench("doctor", "--http", site.url)
        assert "wrong: issuer: 'https://other.example', expected " + site.origin in done.stdout
        assert "is of another one" in done.stdout + done.stderr
        assert "/register" not in site.paths()


def test_a_recording_is_replayed_against_a_server_behind_a_login(tmp_path: Path) -> None:
    with guarded() as site:
        log_in(site)
        recording = str(tmp_path / "call.db")
        assert workbench("call", "say", "-o", recording, "--http", site.url).returncode == 0
        site.revoke()
        done = workbench("replay", "client", recording, "--http", site.url)
        assert done.returncode == 0, done.stdout + done.stderr
        assert site.forms()[-1]["grant_type"] == "refresh_token"


def test_a_stand_in_may_have_a_token_of_its_own(tmp_path: Path) -> None:
    with guarded() as site:
        site.tokens["token-of-the-stand-in-1"] = ""
        ready, recording = tmp_path / "ready", tmp_path / "stood-in.db"
        words = ("record", "-o", str(recording), "--ready-file", str(ready), "--token-env", "GIVEN")
        with running(*words, "--http", site.url, GIVEN="token-of-the-stand-in-1") as command:
            wait_for(ready)
            done = workbench("call", "say", "--http", ready.read_text().strip())
            assert (done.returncode, done.stdout) == (0, "said\n"), done.stderr
            command.interrupts()
            command.ends()
        assert b"token-of-the-stand-in" not in recording.read_bytes()


def wait_for(file: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not file.exists() or not file.read_text().strip():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_a_server_of_either_era_is_logged_in_to_however_long_it_takes() -> None:
    with guarded() as site, running("login", "--http", site.url) as command:
        url = command.until(URL)[1]
        time.sleep(12)  # longer than an answer to the question for the era is waited for
        assert site.paths().count("/mcp") == 1
        site.answers["/mcp"] = only_stateless(site)
        httpx.get(agree(url))
        assert command.ends() == 0, command.text
        assert "logged in" in command.text


def only_stateless(site: AuthSite) -> Callable[[Request], Response | None]:
    """What a server without a handshake answers to one, when it lets the client in."""

    def answer(request: Request) -> Response | None:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in site.tokens:
            return None
        error = {"code": -32601, "message": "Method not found"}
        return JSONResponse({"jsonrpc": "2.0", "id": 1, "error": error}, 404)

    return answer
