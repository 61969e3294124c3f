"""What is kept between runs, with a keyring and without."""

from __future__ import annotations

import json
import multiprocessing
import stat
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import fail
from keyring.errors import KeyringError

from workbench.wire.oauth_registration import Client
from workbench.wire.oauth_storage import Login, Storage
from workbench.wire.oauth_tokens import Tokens

CLIENT = Client(
    "ours", "secret-of-ours", "client_secret_post", ("http://127.0.0.1:1/callback",), True, 0.0, ("a",)
)
TOKENS = Tokens("access-1", "refresh-1", 9e9, ("a", "b"))


def login_of(server: str = "https://h/mcp", issuer: str = "https://as", **more: Any) -> Login:
    return Login(server, issuer, server, f"{issuer}/token", CLIENT, TOKENS, 1.0)._replace(**more)


class Ring(KeyringBackend):
    """A keyring in memory; ``locked`` makes it fail as those of desktops do."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.held: dict[tuple[str, str], str] = {}
        self.locked = False

    def _open(self) -> dict[tuple[str, str], str]:
        if self.locked:
            raise KeyringError("locked")
        return self.held

    def get_password(self, service: str, username: str) -> str | None:
        return self._open().get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._open()[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self._open()[service, username]


@pytest.fixture
def ring() -> Any:
    before = keyring.get_keyring()
    made = Ring()
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage(tmp_path / "logins.json", {})


def test_the_keyring_has_the_secrets_and_the_file_what_is_held(storage: Storage, ring: Ring) -> None:
    storage.keep(login_of())
    storage.keep_registration("https://as", CLIENT)
    text = storage.path.read_text()
    for secret in ("access-1", "refresh-1", "secret-of-ours"):
        assert secret not in text
        assert secret in "".join(ring.held.values())
    assert storage.find("https://h/mcp") == login_of(hidden=True)
    assert storage.registration("https://as") == CLIENT
    (listed,) = storage.logins()
    assert (listed.server, listed.tokens.access, listed.hidden) == ("https://h/mcp", "", True)
    assert storage.forget("https://h/mcp") == [login_of(hidden=True)]
    assert "access-1" not in "".join(ring.held.values())


@pytest.mark.parametrize("how", ["none", "off", "locked"])
def test_without_a_keyring_the_file_has_all_for_its_owner_only(tmp_path: Path, ring: Ring, how: str) -> None:
    if how == "none":
        keyring.set_keyring(fail.Keyring())  # type: ignore[no-untyped-call]
    ring.locked = how == "locked"
    storage = Storage(
        tmp_path / "a" / "logins.json", {"MCP_WORKBENCH_KEYRING": "off"} if how == "off" else {}
    )
    storage.keep(login_of())
    assert storage.find("https://h/mcp") == login_of()
    assert stat.S_IMODE(storage.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(storage.path.parent.stat().st_mode) == 0o700
    assert ring.held == {}


def test_a_keyring_that_is_locked_later_has_no_tokens_and_breaks_nothing(
    storage: Storage, ring: Ring
) -> None:
    storage.keep(login_of())
    ring.locked = True
    found = storage.find("https://h/mcp")
    assert found is not None
    assert found.tokens.access == ""


def test_each_issuer_and_server_has_its_own(storage: Storage, ring: Ring) -> None:
    storage.keep(login_of())
    storage.keep(login_of(issuer="https://other", since=2.0))
    storage.keep(login_of("https://second/mcp"))
    storage.keep(login_of(tokens=TOKENS._replace(access="access-2"), since=3.0))
    assert len(storage.logins()) == 3
    newest = storage.find("https://h/mcp")
    assert newest is not None
    assert (newest.issuer, newest.tokens.access) == ("https://as", "access-2")
    assert len(storage.forget("https://h/mcp", "https://other")) == 1
    assert len(storage.forget("https://h/mcp")) == 1
    assert [each.server for each in storage.logins()] == ["https://second/mcp"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "null",
        '{"version": 2}',
        '{"version": 1}',
        '{"version": 1, "logins": 3, "clients": {}}',
        '{"version": 1, "logins": [{"server": 1}], "clients": {}}',
        '{"version": 1, "logins": [], "clients": {"a": 1}}',
        "[" * 100_000,
    ],
)
def test_a_file_that_is_none_of_ours_holds_nothing(storage: Storage, text: str) -> None:
    storage.path.write_text(text)
    assert storage.logins() == []
    assert storage.registration("a") is None


def _keep(path: str, number: int) -> None:
    storage = Storage(Path(path), {"MCP_WORKBENCH_KEYRING": "off"})
    for each in range(10):
        storage.keep(login_of(f"https://h/{number}/{each}"))


def test_processes_that_keep_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "logins.json"
    context = multiprocessing.get_context("spawn")
    running = [context.Process(target=_keep, args=(str(path), number)) for number in range(3)]
    for each in running:
        each.start()
    for each in running:
        each.join(60)
    assert len(Storage(path, {}).logins()) == 30
    assert json.loads(path.read_text())["version"] == 1
