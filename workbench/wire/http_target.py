"""What a target's URL and headers come to, before anything is sent."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping

from workbench.config import Target
from workbench.wire.command import NotStarted
from workbench.wire.http_library import httpx

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f]*")


def url_of(target: Target) -> httpx.URL:
    """Where a target's server is. Raises ``NotStarted`` for what is no HTTP URL."""
    try:
        url = httpx.URL(target.url)
    except (httpx.InvalidURL, ValueError) as error:
        raise NotStarted(f"{target.url!r} is no URL ({error}).", "Correct it.") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise NotStarted(
            f"{target.url!r} is no URL of a server.", "It begins with http:// or https:// and names a host."
        )
    return url


def spoken_to(target: Target) -> tuple[httpx.URL, dict[str, str]]:
    """The URL that requests go to, without user, password and fragment, and the headers that they carry.
    Raises ``NotStarted``."""
    url = url_of(target)
    bare = url.copy_with(username=None, password=None, fragment=None)
    return bare, {**basic_of(url), **target.headers}


def basic_of(url: httpx.URL) -> dict[str, str]:
    """User and password of a URL, which belong into a header: a URL is shown and recorded."""
    if not url.userinfo:
        return {}
    both = f"{url.username}:{url.password}".encode()
    return {"Authorization": f"Basic {b64encode(both).decode()}"}


def check_headers(headers: Mapping[str, str]) -> None:
    """Raises ``NotStarted`` for what no HTTP header can be; a value is never told."""
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise NotStarted(f"{name!r} cannot be the name of a header.", "Correct it; names have no spaces.")
        if not _VALUE.fullmatch(value):
            raise NotStarted(
                f"The value of the header {name} holds a control character or a line end.",
                "Correct it; a token read from a file often ends with a line end.",
            )
