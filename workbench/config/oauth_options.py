"""The options of a target that are about authorization, each with one value."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from workbench.config.urls import checked_header, checked_url

GRANTS = ("code", "client_credentials")


def _oauth(member: str) -> Callable[[dict[str, Any], str], None]:
    def take(options: dict[str, Any], value: str) -> None:
        if not value:
            raise ValueError("the value is empty; give one, or leave the option out")
        options.setdefault("oauth", {})[member] = value

    return take


def _variable(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise ValueError(f"the variable {name!r} is not set, or empty; put the secret into it")
    return value


def _token(options: dict[str, Any], value: str) -> None:
    token = _variable(value)
    options.setdefault("headers", {})["Authorization"] = checked_header("Authorization", f"Bearer {token}")
    options.setdefault("secrets", {})[value] = token


def _secret(options: dict[str, Any], value: str) -> None:
    options.setdefault("oauth", {})["client_secret"] = _variable(value)


def _key(options: dict[str, Any], value: str) -> None:
    try:
        with open(os.path.expanduser(value), encoding="utf-8") as file:
            options.setdefault("oauth", {})["private_key"] = file.read(65_536)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ValueError(f"{value!r} cannot be read: {why}; name a key in PEM") from None


def _url(member: str) -> Callable[[dict[str, Any], str], None]:
    def take(options: dict[str, Any], value: str) -> None:
        options.setdefault("oauth", {})[member] = checked_url(value)

    return take


def _grant(options: dict[str, Any], value: str) -> None:
    if value not in GRANTS:
        raise ValueError(f"{value!r} is no grant; use one of {', '.join(GRANTS)}")
    options.setdefault("oauth", {})["grant"] = value


def _port(options: dict[str, Any], value: str) -> None:
    if not value.isdecimal() or not 0 < int(value) < 65_536:
        raise ValueError(f"{value!r} is no port; give a number from 1 to 65535")
    options.setdefault("oauth", {})["port"] = int(value)


#: Flag -> what takes it.
OAUTH_OPTIONS: dict[str, Callable[[dict[str, Any], str], None]] = {
    "--token-env": _token,
    "--grant": _grant,
    "--client-id": _oauth("client_id"),
    "--client-secret-env": _secret,
    "--client-key": _key,
    "--client-metadata": _url("client_metadata"),
    "--issuer": _oauth("issuer"),
    "--scope": _oauth("scope"),
    "--callback-port": _port,
}
