"""The ``endpoint`` event of the older HTTP with SSE: where it says that messages go.

Its data is a URL as plain text, absolute or relative to the stream's URL. A
server behind a proxy often names the host, port or scheme it knows itself by,
or loses the path under which the proxy serves it.

Source: "HTTP with SSE", 2024-11-05: the endpoint must be of the same origin.
"""

from __future__ import annotations

from workbench.wire.http_errors import SNIPPET, Trouble, place_of
from workbench.wire.http_library import httpx

#: The longest URL that is taken (bytes).
LONGEST = 8192

_PROXY = "It may be behind a proxy that it does not know of"


def endpoint_of(data: bytes, stream: httpx.URL) -> httpx.URL | Trouble:
    """The URL that an ``endpoint`` event names, or why it is not used."""
    text = data.decode("utf-8", "replace").strip()
    told = text if len(text) <= SNIPPET else f"{text[:SNIPPET]}…"
    try:
        if not text or len(data) > LONGEST:
            raise ValueError
        url = stream.join(text).copy_with(fragment=None)
    except (httpx.InvalidURL, ValueError):
        why = f"The server names {told!r} as the endpoint to send to, which is no URL."
        return Trouble(why, "Correct the server: the endpoint is a plain URL or path, without quotes.")
    wrong = [part for part, ours, theirs in _parts(stream, url) if ours != theirs]
    if not wrong and not url.userinfo:
        return url
    shown = url.copy_with(username=None, password=None)
    what = (
        f"another {' and '.join(wrong)} than {stream.scheme}://{place_of(stream)}" if wrong else "with a user"
    )
    why = (
        f"The server names {str(shown)[:SNIPPET]} as the endpoint to send to: {what}. Nothing was sent there."
    )
    return Trouble(why, f"{_PROXY}: tell the server its public URL, or connect to it directly.")


def _parts(ours: httpx.URL, theirs: httpx.URL) -> list[tuple[str, object, object]]:
    ports = {"http": 80, "https": 443}
    return [
        ("scheme", ours.scheme, theirs.scheme),
        ("host", ours.host, theirs.host),
        ("port", ours.port or ports.get(ours.scheme), theirs.port or ports.get(theirs.scheme)),
    ]


def lost_prefix(stream: httpx.URL, endpoint: httpx.URL) -> str:
    """What to do when nothing is found at the endpoint, if it is outside the stream's own path."""
    prefix = stream.path.rpartition("/")[0]
    if not prefix or endpoint.path.startswith(f"{prefix}/"):
        return ""
    return (
        f"The stream is under {prefix}, the endpoint the server names ({endpoint.path[:SNIPPET]}) is not."
        f" {_PROXY}: tell the server the path it is served under."
    )
