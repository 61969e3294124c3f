"""The HTTP of authorization: every request is told as a stream, every body as a frame of channel ``auth``.

What a server says it wants is not simply done: an address it names is asked only over TLS, on this machine,
or where the server itself is spoken to without TLS already.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from workbench.core.frame import Direction
from workbench.core.jsonrpc import dumps, loads
from workbench.core.printable import printable
from workbench.wire.command import NotStarted
from workbench.wire.http_clients import HttpClients
from workbench.wire.http_errors import SNIPPET, HttpFailed, place_of
from workbench.wire.http_library import httpx
from workbench.wire.http_requests import Requests
from workbench.wire.tap import Tap

#: The longest document that is read (bytes).
LONGEST = 1024 * 1024

_ACCEPT = (("Accept", "application/json"),)


class AuthorizationFailed(Exception):
    """No token came about. ``why`` and ``next_step`` are sentences that hold no secret."""

    def __init__(self, why: str, next_step: str) -> None:
        super().__init__(why)
        self.why = why
        self.next_step = next_step


class Reply(NamedTuple):
    """An answer: ``document`` is its body where that is a JSON object."""

    url: str
    status: int
    media: str
    document: dict[str, Any] | None
    stream: int

    @property
    def said(self) -> str:
        """What came, in a few words."""
        what = "a JSON object" if self.document is not None else (self.media or "no body")
        return f"status {self.status} with {what}"


class Exchanges:
    """Asks on behalf of one connection. ``base`` is the URL of its server; ``version`` the revision that is
    spoken, which servers of 2025-03-26 want to be told."""

    def __init__(self, clients: HttpClients, base: httpx.URL, tap: Tap) -> None:
        self.base = base
        self.version = ""
        self._clients = clients
        self._tap = tap

    def step(
        self, step: str, ok: bool, came: str, *, expected: str = "", url: str = "", stream: int = 0
    ) -> None:
        """Tell what was expected and what came. ``stream`` is the number of the request it is about."""
        told: dict[str, Any] = {"event": "authorization", "step": step, "ok": ok}
        more = {"url": url, "expected": expected, "came": came}
        told |= {name: value for name, value in more.items() if value}
        self._tap.aside(Direction.NONE, dumps(told).encode("utf-8", "replace"), stream)

    async def get(self, step: str, url: str) -> Reply:
        """Ask for a document. Raises ``AuthorizationFailed`` where there is no answer."""
        version = (("MCP-Protocol-Version", self.version),) if self.version else ()
        return await self._ask(step, "GET", url, (*_ACCEPT, *version))

    async def form(
        self, step: str, url: str, fields: Sequence[tuple[str, str]], headers: Mapping[str, str]
    ) -> Reply:
        """POST a form. Raises as ``get`` does."""
        media = ("Content-Type", "application/x-www-form-urlencoded")
        body = urlencode(fields).encode()
        return await self._ask(step, "POST", url, (*_ACCEPT, media, *headers.items()), body)

    async def json(self, step: str, url: str, document: dict[str, Any]) -> Reply:
        """POST a JSON document. Raises as ``get`` does."""
        media = ("Content-Type", "application/json")
        return await self._ask(step, "POST", url, (*_ACCEPT, media), dumps(document).encode())

    async def _ask(
        self, step: str, verb: str, text: str, headers: Sequence[tuple[str, str]], body: bytes | None = None
    ) -> Reply:
        url = self.allowed(step, text)
        try:
            requests = Requests(self._clients, url, self._tap, self._tap.sink.has_room)
            number = self._tap.sink.new_stream()
            # It is told first whose request this is, so that nobody takes it for one of the protocol.
            self._told(step, verb, str(url), number)
            outgoing = requests.begin(verb, headers, body, number)
            if body is not None:
                self._tap.aside(Direction.TO_SERVER, body, number)
            async with requests.answer(outgoing) as answer:
                content, _ = await answer.body(LONGEST)
                if content:
                    self._tap.aside(Direction.TO_CLIENT, content, answer.stream)
                return Reply(str(answer.url), answer.status, answer.media, _document(content), answer.stream)
        except HttpFailed as failure:
            raise AuthorizationFailed(f"{step}: {failure.trouble.why}", failure.trouble.next) from None
        except NotStarted as failure:
            raise AuthorizationFailed(f"{step}: {failure.why}", failure.next_step) from None

    def _told(self, step: str, verb: str, url: str, number: int) -> None:
        told = {"event": "authorization", "step": step, "verb": verb, "url": url}
        self._tap.aside(Direction.NONE, dumps(told).encode("utf-8", "replace"), number)

    def allowed(self, what: str, text: str) -> httpx.URL:
        """A URL that somebody named. Raises ``AuthorizationFailed`` for one that is not to be asked."""
        try:
            url = httpx.URL(text).copy_with(fragment=None)
        except (httpx.InvalidURL, ValueError, TypeError):
            url = httpx.URL("")
        odd = url.userinfo or (url.port or 0) > 65_535
        if url.scheme not in ("http", "https") or not url.host or odd:
            raise AuthorizationFailed(f"{what}: {shown(text)} is no URL that can be asked.", WHOSE)
        same = self.base.scheme == "http" and url.host == self.base.host
        if url.scheme == "http" and not same and not (is_local(url) and is_local(self.base)):
            why = f"{what}: {shown(text)} is asked without TLS, where anybody on the way could read tokens."
            raise AuthorizationFailed(why, f"It must begin with https://. {WHOSE}")
        return url


WHOSE = "Ask whoever runs the server."


def is_local(url: httpx.URL) -> bool:
    """Whether a URL is of this machine."""
    if url.host == "localhost":
        return True
    try:
        return ipaddress.ip_address(url.host).is_loopback
    except ValueError:
        return False


def shown(value: object) -> str:
    """A peer's value as a short printable text in quotes."""
    return repr(printable(str(value)[:SNIPPET]))


def place(url: str) -> str:
    """Host and port of a URL, as a person says them."""
    try:
        return place_of(httpx.URL(url))
    except httpx.InvalidURL:
        return shown(url)


def _document(body: bytes) -> dict[str, Any] | None:
    try:
        found = loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
