"""What can be known of a target before it is talked to, step by step.

For a command: is the folder there, is the program found, may it be run. For a
URL: does its host have an address, does something listen there, does TLS hold.
Each step is tried by itself and timed, so that the one that fails is named and
not the one after it. What comes then (start, handshake, lists) a connection
tells by its state.
"""

from __future__ import annotations

import os
import socket
import ssl
import time
from collections.abc import AsyncIterator
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

import anyio

from workbench.config import Target
from workbench.wire.command import NotStarted, environment_of, find_program

#: How long one step may take (seconds).
PATIENCE = 10.0

#: Addresses of a host that are named.
MOST_ADDRESSES = 4

OK, FAILED, NOTED = "ok", "failed", "noted"


class Step(NamedTuple):
    """One step: ``verdict`` is ``ok``, ``failed`` or ``noted``, ``says`` what was found, ``next`` what to
    do about a failure, ``seconds`` how long it took where it took time."""

    name: str
    verdict: str
    says: str
    next: str = ""
    seconds: float | None = None


async def before_talking(target: Target) -> AsyncIterator[Step]:
    """The steps in their order; ends after the first that failed."""
    steps = _of_command(target) if target.transport == "stdio" else _of_url(target)
    async for step in steps:
        yield step
        if step.verdict == FAILED:
            return


async def _of_command(target: Target) -> AsyncIterator[Step]:
    folder = os.path.abspath(os.path.expanduser(target.cwd or os.curdir))
    if not os.path.isdir(folder):
        yield Step("folder", FAILED, f"{folder} is no folder.", "Create it, or name another one with --cwd.")
        return
    yield Step("folder", OK, folder)
    environment = environment_of(target)
    if "/" not in target.command:
        places = [place for place in environment.get("PATH", "").split(os.pathsep) if place]
        missing = [place for place in places if not os.path.isdir(place)]
        says = f"{len(places)} folders" + (f", of which {len(missing)} do not exist" if missing else "")
        yield Step("PATH", OK if places else FAILED, says if places else "PATH is empty.", "Set PATH.")
    try:
        yield Step("command", OK, find_program(target, environment))
    except NotStarted as failure:
        yield Step("command", FAILED, failure.why, failure.next_step)


async def _of_url(target: Target) -> AsyncIterator[Step]:
    parts = urlsplit(target.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield Step("URL", FAILED, "The target is no http:// or https:// URL.", "Correct the URL.")
        return
    yield Step("URL", OK, f"{parts.scheme} to {parts.hostname}, path {parts.path or '/'}")
    proxy = _proxy(parts)
    if proxy:
        yield Step("proxy", NOTED, f"The environment names a proxy ({proxy}); the steps below are direct.")
    step, addresses = await _resolved(parts)
    yield step
    if not addresses:
        return
    step, stream = await _reached(parts, addresses)
    yield step
    if stream is None:
        return
    with stream:
        if parts.scheme == "https":
            yield await _secured(parts, stream)


def _proxy(parts: SplitResult) -> str:
    name = f"{parts.scheme}_proxy"
    value = os.environ.get(name) or os.environ.get(name.upper()) or ""
    return urlsplit(value).hostname or ""


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


async def _resolved(parts: SplitResult) -> tuple[Step, list[str]]:
    host, started = parts.hostname or "", time.monotonic()
    try:
        with anyio.fail_after(PATIENCE):
            found = await anyio.getaddrinfo(host, _port(parts), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        why = _reason(error)
        return Step(
            "DNS", FAILED, f"{host} has no address: {why}.", "Check the host's name and the network."
        ), []
    except TimeoutError:
        return Step(
            "DNS", FAILED, f"{host} was not resolved within {PATIENCE:g} s.", "Check the network."
        ), []
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    says = ", ".join(addresses[:MOST_ADDRESSES])
    return Step("DNS", OK, f"{host} is {says}", seconds=time.monotonic() - started), addresses


async def _reached(parts: SplitResult, addresses: list[str]) -> tuple[Step, socket.socket | None]:
    port, refusals = _port(parts), []
    for address in addresses:
        started = time.monotonic()
        try:
            stream = await anyio.to_thread.run_sync(socket.create_connection, (address, port), PATIENCE)
        except OSError as error:
            refusals.append(f"{address}: {_reason(error)}")
            continue
        return Step("TCP", OK, f"{address} port {port}", seconds=time.monotonic() - started), stream
    return (
        Step(
            "TCP",
            FAILED,
            f"Nothing answers at port {port} ({'; '.join(refusals[:MOST_ADDRESSES])}).",
            "Start the server, or correct host and port.",
        ),
        None,
    )


async def _secured(parts: SplitResult, stream: socket.socket) -> Step:
    def shake_hands() -> str:
        context = ssl.create_default_context()
        with context.wrap_socket(stream, server_hostname=parts.hostname) as secured:
            return secured.version() or "TLS"

    started = time.monotonic()
    try:
        version = await anyio.to_thread.run_sync(shake_hands)
    except ssl.SSLCertVerificationError as error:
        return Step(
            "TLS",
            FAILED,
            f"The certificate of {parts.hostname} is not accepted: {error.verify_message}.",
            "Correct the server's certificate, or name its authority with SSL_CERT_FILE.",
        )
    except (OSError, ValueError) as error:
        return Step(
            "TLS",
            FAILED,
            f"No TLS connection: {_reason(error)}.",
            "Check whether the server speaks https at this port; try http:// if it is your own.",
        )
    return Step("TLS", OK, f"{version}, certificate accepted", seconds=time.monotonic() - started)


def _reason(error: Exception) -> str:
    """What the system says of an error, without its number."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text)[:200].rstrip(".")
