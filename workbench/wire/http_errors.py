"""What went wrong over HTTP, in sentences: what happened, and what to do next."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from typing import NamedTuple
from urllib.request import getproxies, proxy_bypass

from workbench.core.actions import error_sentence
from workbench.core.jsonrpc import decode
from workbench.wire.http_library import httpx

#: How much of a body is told in a sentence (characters). All of it is in its frame.
SNIPPET = 160

#: How much of a page is looked through for its title (bytes).
_TITLE_WITHIN = 8192

_TITLE = re.compile(rb"<title[^>]{0,200}>([^<]{1,400})", re.IGNORECASE)

#: Everything httpx and what is below it raise for what a server or a network does.
HTTP_ERRORS = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError)


class Trouble(NamedTuple):
    """``why`` and ``next`` are sentences; ``step`` says how far it came: dns, tcp, tls or http."""

    why: str
    next: str
    step: str = "http"


class HttpFailed(Exception):
    """A request got no answer, or not all of it."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.why)
        self.trouble = trouble


def place_of(url: httpx.URL) -> str:
    """Host and port, as a person says them."""
    host = f"[{url.host}]" if ":" in url.host else url.host
    return f"{host}:{url.port or {'http': 80, 'https': 443}.get(url.scheme, 0)}"


def trouble_of(url: httpx.URL, error: BaseException, answered: bool = False) -> Trouble:
    """What an exception means. ``answered``: the head of the answer had come."""
    place = place_of(url)
    if isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout)) and not _is_tls(error):
        proxy = proxy_of(url)
        if proxy:
            why = f"The proxy of the environment, {proxy}, cannot be reached ({_said(error)})."
            return Trouble(why, f"Check HTTP_PROXY and HTTPS_PROXY, or name {url.host} in NO_PROXY.", "tcp")
    if isinstance(error, httpx.ConnectTimeout):
        return _too_slow(place, error)
    for cause in _causes(error):
        if isinstance(cause, socket.gaierror):
            why = f"The name {url.host} cannot be resolved ({cause.strerror or cause})."
            return Trouble(why, "Check the URL's spelling and the network.", "dns")
        if isinstance(cause, ssl.SSLError):
            return _tls_trouble(place, cause)
        if isinstance(cause, ConnectionRefusedError):
            why = f"Nothing listens on {place}: the connection was refused."
            return Trouble(why, "Start the server, or correct the port in the URL.", "tcp")
    if isinstance(error, httpx.ProxyError):
        why = f"The proxy of the environment did not let the request through to {place} ({error})."
        return Trouble(why, "Check HTTP_PROXY and HTTPS_PROXY, or name the host in NO_PROXY.")
    if isinstance(error, httpx.ConnectError):
        why = f"No connection to {place} came about ({_said(error)})."
        return Trouble(why, "Check the host and port of the URL, and the network.", "tcp")
    if isinstance(error, (httpx.LocalProtocolError, httpx.InvalidURL, httpx.UnsupportedProtocol)):
        return Trouble(f"The request cannot be sent ({_said(error)}).", "Correct the URL or the headers.")
    if isinstance(error, httpx.DecodingError):
        why = f"The answer of {place} is not compressed the way its head says ({_said(error)})."
        return Trouble(why, "Look at the server, or at a proxy in between.")
    if isinstance(error, httpx.RemoteProtocolError) and "location header" in str(error):
        # httpx reads a redirect's target also where nobody asked it to.
        why = f"{place} redirects to something that is no URL."
        return Trouble(why, "Ask whoever runs the server for its URL.")
    if answered:
        why = f"The connection to {place} broke in the middle of the answer ({_said(error)})."
        return Trouble(why, "Send the request again.")
    why = f"The connection to {place} broke before an answer came ({_said(error)})."
    return Trouble(why, "Whether the server has acted on it is unknown; look before sending it again.")


def proxy_of(url: httpx.URL) -> str:
    """Host and port of the proxy that the environment names for a URL, empty for none."""
    proxies = getproxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(url.host):
        return ""
    try:
        return place_of(httpx.URL(proxy if "://" in proxy else f"http://{proxy}"))
    except httpx.InvalidURL:
        return "which is no URL"


def _is_tls(error: BaseException) -> bool:
    return any(isinstance(cause, ssl.SSLError) for cause in _causes(error))


def _too_slow(place: str, error: httpx.ConnectTimeout) -> Trouble:
    if _is_tls(error):
        why = f"{place} was reached, but did not begin TLS in time."
        return Trouble(why, "Check whether the port speaks TLS, or use http:// if it does not.", "tls")
    why = f"No connection to {place} came about in time."
    return Trouble(why, "Check the host, and whether a firewall is in between.", "tcp")


def _tls_trouble(place: str, error: ssl.SSLError) -> Trouble:
    if isinstance(error, ssl.SSLCertVerificationError):
        why = f"The certificate of {place} is not accepted: {error.verify_message}."
        return Trouble(why, "Name the authority's file in SSL_CERT_FILE, or correct the host.", "tls")
    why = f"TLS with {place} failed ({error.reason or error})."
    return Trouble(why, "Check whether the port speaks TLS, or use http:// if it does not.", "tls")


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        cause = waiting.pop()
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        waiting += [each for each in (cause.__cause__, cause.__context__) if each is not None]
        if isinstance(cause, BaseExceptionGroup):
            waiting += cause.exceptions


def _said(error: BaseException) -> str:
    return str(error)[:SNIPPET] or type(error).__name__


def unauthorized(url: httpx.URL, status: int, challenges: list[str]) -> Trouble:
    """A 401 or 403."""
    asked = f", asking for {'; '.join(challenges)[: 2 * SNIPPET]}" if challenges else ""
    why = f"{place_of(url)} refuses access with status {status}{asked}."
    if status == 401:
        step = "Log in with mcp-workbench login, or give a token: --header 'Authorization: Bearer …'."
        return Trouble(why, step)
    return Trouble(why, "Give a token that may do this: --header 'Authorization: Bearer …'.")


def refused(status: int, media: str, body: bytes, url: httpx.URL) -> Trouble:
    """An answer with a status that is no success, or with something that is no message."""
    what = f"{place_of(url)} answered with status {status}"
    told = snippet(media, body)
    why = f"{what}: {told}" if told else f"{what}."
    if status in (404, 405):
        return Trouble(why, f"Check the path of the URL ({url.path}); often it is /mcp.")
    if status in (502, 503, 504):
        return Trouble(why, "The server behind it does not answer; start it, or try again.")
    return Trouble(why, "Read the whole answer in its frame.")


def no_message(status: int, media: str, body: bytes, url: httpx.URL) -> Trouble:
    """A success that carries no answer."""
    if not body:
        why = f"The server took the request with status {status} and sent no answer."
        return Trouble(why, "Only notifications may be taken so; look at the server.")
    why = f"{place_of(url)} answered with status {status}, but with no answer to this request: "
    return Trouble(why + snippet(media, body), "Read the whole answer in its frame; is the URL's path right?")


def snippet(media: str, body: bytes) -> str:
    """A body in a few words: the error it holds, the title of a page, or its beginning."""
    messages = decode(body).messages if len(body) <= _TITLE_WITHIN else ()
    if len(messages) == 1 and "error" in messages[0].members:
        return f"{error_sentence(messages[0].members['error'])[:SNIPPET].rstrip('.')}."
    title = _TITLE.search(body, 0, _TITLE_WITHIN)
    if title is not None:
        return f"an HTML page, “{_words(title[1])}”."
    if "html" in media:
        return "an HTML page."
    text = _words(body[: 4 * SNIPPET])
    if not text:
        return ""
    return f"“{text}”." if len(text) < SNIPPET else f"“{text}…”."


def _words(body: bytes) -> str:
    return " ".join(body.decode("utf-8", "replace").split())[:SNIPPET]
