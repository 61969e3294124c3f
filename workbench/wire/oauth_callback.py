"""Where a browser is sent back to: a port of this machine that listens while somebody logs in.

Whatever else comes to the port is sent away and changes nothing: only a request with the state of this login
ends the wait. Source: RFC 8252, 7.3 and 8.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from urllib.parse import parse_qs, urlsplit

import anyio
from anyio.abc import SocketStream

from workbench.wire.oauth_exchange import AuthorizationFailed

PATH = "/callback"

#: The longest head of a request that is read (bytes), and how long it may take (seconds).
_LONGEST = 65_536
_PATIENCE = 10.0

_THANKS = b"Done. You can close this page and go back to the terminal.\n"


class Callback:
    """``redirect`` is the URL it listens at; ``came`` is set when ``url`` is what a browser was sent to."""

    def __init__(self, redirect: str) -> None:
        self.redirect = redirect
        self.url = ""
        self.came = anyio.Event()
        self._state = ""

    def expect(self, url: str) -> None:
        """Wait for the state in the URL of a login from now on."""
        self._state = state_of(url)

    def take(self, url: str) -> bool:
        """Take the URL that a browser was sent back to, however it came here. False for one that is not of
        this login."""
        if not self._state or state_of(url) != self._state:
            return False
        self.url = url
        self.came.set()
        return True

    async def serve(self, stream: SocketStream) -> None:
        """Answer one request."""
        with suppress(anyio.BrokenResourceError, anyio.EndOfStream, anyio.ClosedResourceError):
            async with stream:
                with anyio.move_on_after(_PATIENCE):
                    target = await _target(stream)
                    mine = urlsplit(target).path == urlsplit(self.redirect).path
                    good = mine and self.take(f"{self.redirect.partition('?')[0]}?{urlsplit(target).query}")
                    body = _THANKS if good else b"This is no page of a login that is waited for.\n"
                    head = (
                        f"HTTP/1.1 {'200 OK' if good else '404 Not Found'}\r\ncontent-type: text/plain\r\n"
                        f"content-length: {len(body)}\r\ncache-control: no-store\r\n"
                        "referrer-policy: no-referrer\r\nconnection: close\r\n\r\n"
                    )
                    await stream.send(head.encode() + body)


@asynccontextmanager
async def listening(wanted: Sequence[str], port: int = 0) -> AsyncIterator[Callback]:
    """Listen at one of the redirects that would do, else at ``port`` (0: any that is free). Raises
    ``AuthorizationFailed`` where ``port`` is taken."""
    async with await _listener(wanted, port) as listener:
        number = listener.extra(anyio.abc.SocketAttribute.local_port)
        callback = Callback(f"http://127.0.0.1:{number}{PATH}")
        failure: Exception | None = None
        async with anyio.create_task_group() as group:
            group.start_soon(listener.serve, callback.serve)
            try:
                yield callback
            except Exception as error:
                # Raised again outside of the task group, which would wrap it.
                failure = error
            finally:
                group.cancel_scope.cancel()
    if failure is not None:
        raise failure


async def _listener(wanted: Sequence[str], port: int) -> anyio.abc.Listener[SocketStream]:
    ports = [port] if port else [each for each in map(_port_of, wanted) if each]
    for each in ports:
        with suppress(OSError):
            return await anyio.create_tcp_listener(
                local_host="127.0.0.1", local_port=each, family=socket.AF_INET
            )
    if port:
        why = f"Port {port} is taken by another program."
        raise AuthorizationFailed(why, "End that program, or name another port with --callback-port.")
    return await anyio.create_tcp_listener(local_host="127.0.0.1", family=socket.AF_INET)


def _port_of(redirect: str) -> int:
    """The port of a redirect of ours, 0 for one that is none."""
    try:
        parts = urlsplit(redirect)
        return (parts.port or 0) if (parts.hostname, parts.path) == ("127.0.0.1", PATH) else 0
    except ValueError:
        return 0


def state_of(url: str) -> str:
    """The one ``state`` in a URL's query, empty for none."""
    try:
        found = parse_qs(urlsplit(url).query).get("state", [])
    except ValueError:
        return ""
    return found[0] if len(found) == 1 else ""


async def _target(stream: SocketStream) -> str:
    """What a GET asks for, empty for anything else."""
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _LONGEST:
        head += await stream.receive()
    words = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
    return words[1] if len(words) == 3 and words[0] == "GET" else ""
