"""Addresses and headers of HTTP targets: what users write, checked before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from workbench.core.credentials import url_secrets
from workbench.core.shapes import tokens

#: What stands where a secret stood.
MASK = "***"

#: A header's name is a token (RFC 9110, 5.6.2).
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
#: What of a header's value any server takes: visible ASCII, blanks and tabs (RFC 9110, 5.5).
_NO_VALUE = re.compile(r"[^\t\x20-\x7e]")
_NO_URL = re.compile(r"[\x00-\x20\x7f]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
#: Hosts that are this machine, where hardly anything speaks TLS.
_LOOPBACK = re.compile(r"(?:localhost|127(?:\.\d+){3}|\[::1\])(?=[:/?#]|$)", re.IGNORECASE)


def checked_url(url: str) -> str:
    """The URL as it is. Raises ``ValueError`` with the end of a sentence when none can be reached by it."""
    url = url.strip()
    shown = masked_url(url)
    if not url:
        raise ValueError("the URL is empty; write for example https://host/mcp")
    odd = _NO_URL.search(url)
    if odd:
        what = "a blank" if odd[0] == " " else f"the character {odd[0]!r}"
        raise ValueError(f"{shown!r} has {what} in it; write %{ord(odd[0]):02X} for it, or leave it out")
    if not _SCHEME.match(url):
        rest = shown.lstrip("/")
        scheme = "http" if _LOOPBACK.match(rest) else "https"
        raise ValueError(f"{shown!r} has no scheme; write {scheme}://{rest}")
    if "#" in url:
        raise ValueError(f"{shown!r} has a fragment (#…), which no server is ever sent; leave it out")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{shown!r} is no URL ({error}); write for example https://host:8080/mcp") from None
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"{shown!r} is neither http:// nor https://; write one of them")
    if not parts.hostname or port == 0:
        raise ValueError(f"{shown!r} names no host; write for example https://host/mcp")
    return url


def masked_url(url: str) -> str:
    """The URL without its credentials: password, parameters with a name for a secret, known tokens."""
    found = {value for _, value in url_secrets(url)}
    found |= {url[hit.start : hit.end] for hit in tokens(url.encode("ascii", "replace"))}
    for value in sorted(found, key=len, reverse=True):
        url = re.sub(rf"(?<=[:=/]){re.escape(value)}(?=[@&;#/?]|$)", MASK, url)
    return url


def secrets_in_url(url: str) -> dict[str, str]:
    """The credentials of a URL by name, as they are written and as they are meant."""
    found: dict[str, str] = {}
    for name, value in url_secrets(url):
        found[name] = unquote(value)
        if found[name] != value:
            found[f"{name}-encoded"] = value
    return found


def read_header(line: str) -> tuple[str, str]:
    """Name and value of ``NAME: VALUE``. Raises ``ValueError`` with the end of a sentence."""
    name, colon, value = line.partition(":")
    if not colon:
        # What stands there may be a credential, so it is not repeated.
        raise ValueError("the value is not NAME: VALUE; write for example --header 'X-Team: blue'")
    return name.strip(), value.strip()


def checked_header(name: str, value: str) -> str:
    """The value, if a header can have this name and this value. Raises ``ValueError``."""
    if not _TOKEN.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a header; use letters, digits and hyphens")
    odd = _NO_VALUE.search(value)
    if odd:
        raise ValueError(f"the value of {name} holds {odd[0]!r}, which no header can carry; encode it")
    return value.strip()


def merged_headers(*given: Mapping[str, str]) -> dict[str, str]:
    """Headers put together: a later one takes the place of an earlier one of the same name, however
    the name is written."""
    found: dict[str, tuple[str, str]] = {}
    for headers in given:
        for name, value in headers.items():
            found[name.lower()] = (name, value)
    return dict(found.values())
