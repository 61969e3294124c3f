"""The tokens and registrations that are kept between runs, by issuer and server.

What is secret lies in the system's keyring where there is one that can be used, else in our own file, which
only its owner may read. The file says in any case what is held, so that looking needs no keyring.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.config.place import settings_path
from workbench.config.saving import write_private
from workbench.wire.oauth_registration import Client
from workbench.wire.oauth_tokens import Tokens

#: What ours are called in a keyring.
SERVICE = "mcp-workbench"

#: ``off`` keeps everything in the file.
KEYRING = "MCP_WORKBENCH_KEYRING"

_VERSION = 1


class Login(NamedTuple):
    """What is held for a server. ``server`` is its URL, ``resource`` what the tokens are for, and
    ``token_endpoint`` where they were got, as ``client``. ``since`` is in seconds since the epoch."""

    server: str
    issuer: str
    resource: str
    token_endpoint: str
    client: Client
    tokens: Tokens
    since: float = 0.0
    #: Whether its secrets lie in a keyring.
    hidden: bool = False


class Storage:
    """The logins of a user; ``path`` is the file. Nothing is read before it is asked for."""

    def __init__(self, path: Path | None = None, environ: Mapping[str, str] | None = None) -> None:
        environ = os.environ if environ is None else environ
        self.path = path or logins_path(environ)
        self._wants_keyring = environ.get(KEYRING, "").lower() not in ("off", "0", "no")

    def logins(self, *, secrets: bool = False) -> list[Login]:
        """All that is held; without ``secrets`` the tokens are empty where they lie in a keyring."""
        return [self._login(entry, secrets) for entry in self._read()["logins"]]

    def find(self, server: str) -> Login | None:
        """The newest login for a server, whole."""
        entries = [entry for entry in self._read()["logins"] if entry["server"] == server]
        newest = max(entries, key=lambda entry: entry.get("since", 0), default=None)
        return None if newest is None else self._login(newest, True)

    def keep(self, login: Login) -> None:
        """Put a login in the place of the one for the same issuer and server. Raises ``UsageError``."""
        entry = {
            "server": login.server,
            "issuer": login.issuer,
            "resource": login.resource,
            "token_endpoint": login.token_endpoint,
            "client": _plain(login.client),
            "tokens": _plain(login.tokens),
            "since": login.since,
        }
        with self._changed() as held:
            held["logins"] = [each for each in held["logins"] if not _same(each, login.server, login.issuer)]
            self._hide(
                entry,
                f"login {login.issuer} {login.server}",
                {"tokens": ("access", "refresh"), "client": ("secret",)},
            )
            held["logins"].append(entry)

    def forget(self, server: str, issuer: str = "") -> list[Login]:
        """Take the logins for a server out, of one issuer or of all; returns them whole."""
        with self._changed() as held:
            gone = [each for each in held["logins"] if _same(each, server, issuer or each["issuer"])]
            logins = [self._login(each, True) for each in gone]
            held["logins"] = [each for each in held["logins"] if each not in gone]
            for each in gone:
                self._reveal(each, f"login {each['issuer']} {each['server']}", take=True)
        return logins

    def registration(self, issuer: str) -> Client | None:
        """The client that was registered at an issuer."""
        entry = self._read()["clients"].get(issuer)
        if entry is None:
            return None
        return _client(self._reveal(dict(entry), f"client {issuer}")["client"])

    def keep_registration(self, issuer: str, client: Client) -> None:
        """Put a client in the place of the one for an issuer. Raises ``UsageError``."""
        with self._changed() as held:
            entry = {"client": _plain(client)}
            self._hide(entry, f"client {issuer}", {"client": ("secret",)})
            held["clients"][issuer] = entry

    # The file

    def _read(self) -> dict[str, Any]:
        held: dict[str, Any] = {"version": _VERSION, "logins": [], "clients": {}}
        try:
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return held
        if isinstance(found, dict) and found.get("version") == _VERSION:
            with contextlib.suppress(KeyError, TypeError, AttributeError, ValueError):
                logins = [each for each in found["logins"] if self._login(each, False)]
                clients = {
                    issuer: each for issuer, each in found["clients"].items() if _client(each["client"])
                }
                return {"version": _VERSION, "logins": logins, "clients": clients}
        return held

    @contextlib.contextmanager
    def _changed(self) -> Iterator[dict[str, Any]]:
        with _locked(self.path):
            held = self._read()
            yield held
            write_private(self.path, json.dumps(held, indent=1) + "\n")

    def _login(self, entry: dict[str, Any], secrets: bool) -> Login:
        if secrets:
            entry = self._reveal({**entry}, f"login {entry['issuer']} {entry['server']}")
        tokens = entry["tokens"]
        return Login(
            str(entry["server"]),
            str(entry["issuer"]),
            str(entry["resource"]),
            str(entry["token_endpoint"]),
            _client(entry["client"]),
            Tokens(
                str(tokens.get("access", "")),
                str(tokens.get("refresh", "")),
                float(tokens.get("expires", 0)),
                tuple(map(str, tokens.get("scopes", ()))),
            ),
            float(entry.get("since", 0)),
            bool(entry.get("keyring")),
        )

    # What is secret

    def _hide(self, entry: dict[str, Any], name: str, members: Mapping[str, tuple[str, ...]]) -> None:
        """Move secrets of an entry into the keyring, if there is one."""
        ring = self._keyring()
        if ring is None:
            return
        hidden = {
            outer: {inner: entry[outer][inner] for inner in inners} for outer, inners in members.items()
        }
        try:
            ring.set_password(SERVICE, name, json.dumps(hidden))
        except Exception:  # a keyring that is locked, full or gone: every one has errors of its own
            return
        entry["keyring"] = True
        for outer, inners in members.items():
            entry[outer] = {key: value for key, value in entry[outer].items() if key not in inners}

    def _reveal(self, entry: dict[str, Any], name: str, *, take: bool = False) -> dict[str, Any]:
        """The same back again; with ``take`` the keyring holds it no more."""
        ring = self._keyring() if entry.get("keyring") else None
        if ring is None:
            return entry
        try:
            hidden = json.loads(ring.get_password(SERVICE, name) or "{}")
            if take:
                ring.delete_password(SERVICE, name)
        except Exception:  # as above
            return entry
        for outer, members in hidden.items():
            entry[outer] = {**entry[outer], **members}
        return entry

    def _keyring(self) -> Any:
        """The system's keyring, ``None`` where there is none that keeps anything."""
        if not self._wants_keyring:
            return None
        try:
            import keyring
            from keyring.backends import fail, null

            ring = keyring.get_keyring()
        except Exception:  # not installed, or a backend that cannot be made here
            return None
        return None if isinstance(ring, (fail.Keyring, null.Keyring)) else ring


def logins_path(environ: Mapping[str, str] | None = None) -> Path:
    """Where the logins of a user are told (it need not exist)."""
    return settings_path(environ).with_name("logins.json")


def _same(entry: dict[str, Any], server: str, issuer: str) -> bool:
    return bool(entry["server"] == server and entry["issuer"] == issuer)


def _plain(value: Client | Tokens) -> dict[str, Any]:
    return {name: list(each) if isinstance(each, tuple) else each for name, each in value._asdict().items()}


def _client(members: dict[str, Any]) -> Client:
    return Client(
        str(members["client_id"]),
        str(members.get("secret", "")),
        str(members.get("method", "none")),
        tuple(map(str, members.get("redirects", ()))),
        bool(members.get("ours")),
        float(members.get("expires", 0)),
        tuple(map(str, members.get("scopes", ()))),
    )


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One change at a time, also of other processes, where the system has locks for that."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with open(path.with_name(f".{path.name}.lock"), "w", opener=_private) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)
