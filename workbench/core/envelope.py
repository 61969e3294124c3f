"""What goes with every message of ours in the stateless era: ``_meta``, and headers where there are any.

Source: "Versioning: per-request metadata" and "Transports: standard request
headers", 2026-07-28.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.core import jsonrpc, routing
from workbench.core.actions import Send
from workbench.core.jsonrpc import decode, dumps
from workbench.core.peek import peek
from workbench.core.routing import META, VERSION_KEY
from workbench.core.splice import with_meta


class Envelope:
    """Makes what is sent. ``version`` gives the revision to name, ``log_level`` the least level of
    log messages that are wanted (``None`` for none). ``has_headers`` tells whether the transport
    has headers; ``schema_of`` gives the ``inputSchema`` of a listed tool by its name."""

    def __init__(
        self,
        client_info: Mapping[str, Any],
        capabilities: Mapping[str, Any],
        version: Callable[[], str],
        log_level: Callable[[], str | None],
        has_headers: bool,
        schema_of: Callable[[str], Any],
    ) -> None:
        self._who = {
            META + "clientInfo": dumps(client_info),
            META + "clientCapabilities": dumps(capabilities),
        }
        self._version = version
        self._log_level = log_level
        self._has_headers = has_headers
        self._schema_of = schema_of

    def params(self, params: str | None) -> str | None:
        """Params (JSON text) with what every request says of itself."""
        meta = {VERSION_KEY: dumps(self._version()), **self._who}
        level = self._log_level()
        if level is not None:
            meta[META + "logLevel"] = dumps(level)
        return with_meta(params, meta)

    def request(self, id: int, method: str, params: str | None, about: str = "") -> Send:
        """A request; ``params`` are whole already."""
        body = jsonrpc.request(str(id), method, params)
        return self.headed(Send(body, about or method, str(id)), self._version())

    def notification(self, method: str, params: str | None) -> Send:
        return self.headed(Send(jsonrpc.notification(method, params), method), self._version())

    def headed(self, send: Send, version: str | None = None) -> Send:
        """The same with the headers that repeat its body; ``version`` is named where it names none."""
        messages = decode(send.body).messages if self._has_headers else ()
        if len(messages) != 1:
            return send
        message = messages[0]
        name = peek(message, "params", "name") if message.method == "tools/call" else None
        schema = self._schema_of(name) if isinstance(name, str) else None
        return send._replace(headers=routing.headers(message, version, schema))
