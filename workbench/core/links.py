"""URLs that a server wants a person to open, and what is known of each. Nothing here opens one.

Source: "Elicitation: URL mode", 2025-11-25. Accepting means consent to open it; the server may say
with ``notifications/elicitation/complete`` that what was to be done there is done.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from workbench.core.inflight import keep

#: The error of a request that cannot go on before URLs have been opened (2025-11-25 only).
URL_REQUIRED = -32042

#: URLs of one error that are told, and of one connection that are remembered.
MAX_TOLD = 10
MAX_KEPT = 1_000

#: Characters of a URL or message that are shown. A longer one is cut, and nobody should open it.
MAX_SHOWN = 2_000


class Link(NamedTuple):
    """A URL to open; ``id`` is empty where the server gave none."""

    id: str
    url: str
    message: str = ""

    @property
    def host(self) -> str:
        """The host it leads to, as it is written; empty if there is none to be seen."""
        try:
            return urlsplit(self.url).hostname or ""
        except ValueError:
            return ""

    @property
    def warning(self) -> str:
        """What a person should know before opening it, as a sentence; empty if nothing."""
        scheme = self.url.partition(":")[0].lower()
        if not self.host or scheme not in ("http", "https"):
            return "It is no web address."
        if any(label.startswith("xn--") for label in self.host.split(".")) or not self.host.isascii():
            return "Its host is written in other letters than it may look like (punycode)."
        if "@" in urlsplit(self.url).netloc:
            return "It holds a name before the host; the host is what counts."
        return "" if scheme == "https" else "It is not encrypted (http)."


def link_of(params: Any) -> Link | None:
    """The URL of an elicitation's params, or of an entry of the error; ``None`` if it has none."""
    if not isinstance(params, dict) or not isinstance(params.get("url"), str):
        return None
    id, message = params.get("elicitationId"), params.get("message")
    return Link(
        id if isinstance(id, str) else "",
        params["url"][:MAX_SHOWN],
        message[:MAX_SHOWN] if isinstance(message, str) else "",
    )


def links_of(error: Any) -> list[Link]:
    """The URLs that an error -32042 wants opened; empty for every other error."""
    if not isinstance(error, dict) or error.get("code") != URL_REQUIRED:
        return []
    data = error.get("data")
    entries = data.get("elicitations") if isinstance(data, dict) else None
    found = [link_of(entry) for entry in entries[:MAX_TOLD]] if isinstance(entries, list) else []
    return [link for link in found if link is not None]


def required_sentence(error: Any) -> str:
    """What to do about an error -32042, empty for every other error."""
    links = links_of(error)
    if not links:
        return ""
    told = "; ".join(f"{link.url} ({link.message})" if link.message else link.url for link in links)
    return f"Open this if you trust {_hosts(links)}, then send the request again: {told}"


class Links:
    """The URLs a server's words are waited for, by their id; the oldest beyond a bound are forgotten."""

    def __init__(self) -> None:
        self._open: OrderedDict[str, Link] = OrderedDict()
        #: Those the server has said to be done, the last ones.
        self.done: deque[Link] = deque(maxlen=MAX_TOLD)

    def __iter__(self) -> Iterator[Link]:
        return iter(list(self._open.values()))

    def expect(self, link: Link | None) -> None:
        """The server wants it opened."""
        if link is not None and link.id:
            keep(self._open, link.id, link, MAX_KEPT)

    def completed(self, params: Any) -> Link | None:
        """The link that a ``notifications/elicitation/complete`` ends; an unknown id is no link."""
        id = params.get("elicitationId") if isinstance(params, dict) else None
        link = self._open.pop(id, None) if isinstance(id, str) else None
        if link is not None:
            self.done.append(link)
        return link


def _hosts(links: list[Link]) -> str:
    return " and ".join(dict.fromkeys(link.host or "what it leads to" for link in links))
