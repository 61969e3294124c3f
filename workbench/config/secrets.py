"""Which parts of a target are nobody's business, and how a target is shown without them."""

from __future__ import annotations

import base64
import shlex
from urllib.parse import unquote, urlsplit

from workbench.config.targets import Target
from workbench.config.urls import MASK, masked_url, secrets_in_url
from workbench.core.credentials import (
    USER_INFO,
    given_secrets,
    header_secrets,
    is_secret_name,
    secret_arguments,
)
from workbench.core.naming import unique_name

#: A value that is a secret by what it was put in for is masked from this length on; a shorter one
#: would take half of what is shown with it.
_SHORTEST = 4


def secrets_of(target: Target) -> dict[str, str]:
    """The values a recording must not hold, by the name they were given under."""
    found = given_secrets(target.env, target.args)
    given: list[tuple[str, str]] = [*target.secrets.items(), *secrets_in_url(target.url).items()]
    given += _basic(target.url)
    given += target.oauth.secrets.items() if target.oauth is not None else ()
    for header, value in target.headers.items():
        given += [(header, secret) for secret in header_secrets(header, value)]
    for name, value in given:
        # The recorder looks for what is called a secret.
        name = name if is_secret_name(name) else f"secret-{name}"
        # The recorder asks each value's name, so one that stands under a plain name is given twice.
        if value and not any(value == known and is_secret_name(other) for other, known in found.items()):
            found[unique_name(name, found)] = value
    return found


def _basic(url: str) -> list[tuple[str, str]]:
    """User and password as they go over the wire (RFC 7617)."""
    user, colon, password = urlsplit(url).netloc.rpartition("@")[0].partition(":")
    if not colon:
        return []
    pair = f"{unquote(user)}:{unquote(password)}".encode()
    return [("authorization", base64.b64encode(pair).decode())]


def hidden(target: Target, text: str) -> str:
    """A text of ours with the target's own secrets masked."""
    for value in sorted(target.secrets.values(), key=len, reverse=True):
        if len(value) >= _SHORTEST:
            text = text.replace(value, MASK)
    return text


def shown_url(target: Target) -> str:
    """The address with its secrets masked."""
    return hidden(target, masked_url(target.url))


def shown_headers(target: Target) -> dict[str, str]:
    """The headers with their secrets masked; the scheme of an ``Authorization`` stays."""
    shown: dict[str, str] = {}
    for name, value in target.headers.items():
        for secret in header_secrets(name, value):
            value = value.replace(secret, MASK)
        shown[name] = hidden(target, value)
    return shown


def shown_command(target: Target) -> list[str]:
    """The command line with its secrets masked."""
    masked: list[str] = []
    for argument, secrets in zip(target.args, secret_arguments(target.args), strict=True):
        for _, value in secrets:
            # A credential stands at the end of its argument, or in a URL before its host.
            before, _, after = argument.rpartition(value)
            argument = f"{before}{MASK}{after}"
        masked.append(argument)
    return [hidden(target, word) for word in (target.command, *masked)]


def shown_environment(target: Target) -> dict[str, str]:
    """``env`` with its secrets masked; a removed variable is shown as ``(removed)``."""
    shown: dict[str, str] = {}
    for name, value in target.env.items():
        if value is None:
            shown[name] = "(removed)"
        else:
            plain = USER_INFO.sub(f"{MASK}:{MASK}", value)
            shown[name] = MASK if is_secret_name(name) else hidden(target, plain)
    return shown


def display(target: Target) -> str:
    """A target as it is shown, stored and copied: one line, as typed, without secrets."""
    if target.recording is not None:
        return f"replay {target.recording}"
    if target.transport == "stdio":
        return shlex.join(shown_command(target))
    url = shown_url(target)
    if target.transport == "http":
        return url
    return f"--sse {url}" if target.transport == "sse" else f"--transport {target.transport}={url}"
