"""Who may come in, and what a request must say: the checks before anybody is served.

A web page can make its reader's browser send requests to servers on the
reader's own machine. Such a request names a foreign ``Origin``, or a foreign
``Host`` when the page's own name has been made to point here. So both are
checked, whatever the revision ("Transports: security", all revisions with HTTP).
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
from collections.abc import Collection
from typing import Any, Protocol
from urllib.parse import urlsplit

from workbench.core.frame import Kind
from workbench.core.jsonrpc import Decoded, Message, dumps
from workbench.core.routing import META, NAMED
from workbench.errors import UsageError
from workbench.wire.serving_exchange import EVENTS, JSON, Exchange, Refused

HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022
INVALID_PARAMS = -32602
INVALID_REQUEST = -32600
PARSE_ERROR = -32700


def place(address: str, anywhere: bool) -> tuple[str, int]:
    """Host and port of an address: ``HOST:PORT``, ``:PORT``, ``PORT`` or a URL; port 0 is any free one.

    Raises ``UsageError``, also for a host that is not this machine alone unless ``anywhere``.
    """
    text = address.partition("://")[2] or address
    text = text.split("/", 1)[0]
    try:
        parts = urlsplit("//" + (f":{text}" if text.isdecimal() else text))
        host, port = parts.hostname or "127.0.0.1", parts.port or 0
    except ValueError:
        raise UsageError(
            f"{address!r} is no address to serve at; write HOST:PORT, such as 127.0.0.1:0"
        ) from None
    if not (anywhere or is_loopback(host)):
        raise UsageError(
            f"{host} can be reached from other machines; serve at 127.0.0.1, or say that anybody may come"
        )
    return host, port


def is_loopback(host: str) -> bool:
    """Whether a host is this machine, seen from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Headed(Protocol):
    """Something with headers."""

    def all(self, name: str) -> list[str]:
        """The values of a header (its name in lower case), in their order."""
        ...


def check_origin(exchange: Headed, hosts: Collection[str], anywhere: bool) -> None:
    """Raise ``Refused`` (403) for a request from a place that has no business here.

    ``hosts`` are names that are let in besides this machine's; with ``anywhere`` every address that
    is no name is let in as well, because only names can be made to point elsewhere.
    """
    for name in ("host", "origin"):
        for value in exchange.all(name):
            if not _is_allowed(value, hosts, anywhere):
                raise Refused(403, f"The {name.capitalize()} {value[:200]!r} is not allowed here.")


def _is_allowed(value: str, hosts: Collection[str], anywhere: bool) -> bool:
    try:
        host = urlsplit(value if "://" in value else f"//{value}").hostname or ""
    except ValueError:
        return False
    if host in hosts or is_loopback(host):
        return True
    return anywhere and _is_number(host)


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def check_media(exchange: Exchange, *, body: bool, wanted: tuple[str, ...]) -> None:
    """Raise ``Refused`` where the request does not take what will come (406), or brings no JSON (415)."""
    accepted = [
        part.partition(";")[0].strip().lower()
        for value in exchange.all("accept")
        for part in value.split(",")
    ]
    for media in wanted:
        if not {media, media.partition("/")[0] + "/*", "*/*"} & set(accepted):
            raise Refused(406, f"Not Acceptable: the client must accept {' and '.join(wanted)}.")
    given = (exchange.header("content-type") or "").partition(";")[0].strip().lower()
    if body and given != JSON:
        raise Refused(415, f"Unsupported Media Type: the body must be {JSON}.")


#: What the answer to a message may be, and what a stream is.
EITHER = (JSON, EVENTS)
STREAM = (EVENTS,)


def check_message(decoded: Decoded) -> Message:
    """The one message of a body in the stateless era: a request or a notification. Raises ``Refused``."""
    if decoded.kind in (Kind.REQUEST, Kind.NOTIFICATION):
        return decoded.messages[0]
    if decoded.kind is Kind.INVALID and not decoded.messages and "no-message" not in decoded.defects:
        raise Refused(400, "Parse error: the body is no JSON object.", code=PARSE_ERROR)
    raise Refused(400, "The body must be one request or one notification.", code=INVALID_REQUEST)


def check_handshake(message: Message, versions: Collection[str]) -> None:
    """Raise ``Refused`` for a handshake, with the versions that are spoken: without them a client of the
    other era could not know why ("Versioning", 2026-07-28)."""
    if message.kind is Kind.REQUEST and message.method == "initialize":
        asked = _object(message.value("params")).get("protocolVersion")
        raise _unsupported(message, versions, asked)


def is_stateless(decoded: Decoded) -> bool:
    """Whether a body says that it is of the stateless era."""
    params = _object(decoded.messages[0].value("params")) if len(decoded.messages) == 1 else {}
    return f"{META}protocolVersion" in _object(params.get("_meta"))


def check_stateless(exchange: Exchange, message: Message, versions: Collection[str]) -> None:
    """Raise ``Refused`` where the headers do not repeat the body ("Streamable HTTP", 2026-07-28).

    In this order: routing headers given twice, the keys of ``_meta``, the headers, the version.
    What a tool mirrors into ``Mcp-Param`` headers only whoever serves can know.
    """
    for name in ("mcp-protocol-version", "mcp-method", "mcp-name"):
        if len(exchange.all(name)) > 1:
            raise _mismatch(message, f"{name} is given more than once")
    if message.kind is Kind.NOTIFICATION:
        return
    params = _object(message.value("params"))
    version = _version(message, params)
    _check_header(exchange, message, "MCP-Protocol-Version", version)
    _check_header(exchange, message, "Mcp-Method", message.method or "")
    member = NAMED.get(message.method or "")
    if member is not None and isinstance(params.get(member), str):
        _check_header(exchange, message, "Mcp-Name", params[member], coded=True)
    if version not in versions:
        raise _unsupported(message, versions, version)


def _unsupported(message: Message, versions: Collection[str], asked: Any) -> Refused:
    data = dumps({"supported": sorted(versions, reverse=True), "requested": asked})
    why = "Unsupported protocol version"
    return Refused(400, why, code=UNSUPPORTED_VERSION, id_text=message.id, data=data)


def _version(message: Message, params: dict[str, Any]) -> str:
    meta = _object(params.get("_meta"))
    version = meta.get(f"{META}protocolVersion")
    if not isinstance(version, str) or not isinstance(meta.get(f"{META}clientCapabilities"), dict):
        why = f"Invalid params: _meta must hold {META}protocolVersion and {META}clientCapabilities"
        raise Refused(400, why, code=INVALID_PARAMS, id_text=message.id)
    return version


def _check_header(
    exchange: Exchange, message: Message, name: str, value: str, *, coded: bool = False
) -> None:
    given = exchange.header(name.lower())
    if given is None:
        raise _mismatch(message, f"the header {name} is missing")
    if (decoded_value(given) if coded else given) != value:
        raise _mismatch(message, f"the header {name} is {given[:200]!r}, the body says {value[:200]!r}")


def _mismatch(message: Message, why: str) -> Refused:
    return Refused(400, f"Header mismatch: {why}", code=HEADER_MISMATCH, id_text=message.id)


def decoded_value(given: str) -> str | None:
    """What a header value stands for: itself, or the text in ``=?base64?…?=``; ``None`` for a broken one."""
    text = given.strip(" \t")
    if not (text.startswith("=?base64?") and text.endswith("?=") and len(text) >= 11):
        return text
    try:
        return base64.b64decode(text[9:-2], validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def offered(decoded: Decoded) -> str | None:
    """The revision an ``initialize`` offers (empty where that is no text), ``None`` for anything else."""
    message = decoded.messages[0] if len(decoded.messages) == 1 else None
    if message is None or message.kind is not Kind.REQUEST or message.method != "initialize":
        return None
    version = _object(message.value("params")).get("protocolVersion")
    return version if isinstance(version, str) else ""
