"""One running tools/call, as its tool sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.demo.channel import Cancellation, JsonObject

if TYPE_CHECKING:
    from workbench.demo.server import Server


class Call:
    """What a tool may do with the server and the client while it runs."""

    def __init__(self, server: Server, name: str, token: Any) -> None:
        self.name = name
        self.cancellation = Cancellation()
        self._server = server
        self._token = token

    @property
    def client_capabilities(self) -> JsonObject:
        return self._server.client_capabilities

    def ask(self, method: str, params: JsonObject | None) -> JsonObject:
        return self._server.channel.request(method, params, self.cancellation)

    def progress(self, done: float, total: float, message: str) -> None:
        if self._token is None or self.cancellation.cancelled:
            return
        params: JsonObject = {"progressToken": self._token, "progress": done, "total": total}
        if self._server.revision >= "2025-03-26":
            params["message"] = message
        self._server.channel.notify("notifications/progress", params)

    def log(self, level: str, message: str) -> bool:
        return self._server.log(level, message)

    def add_tool(self, name: str) -> bool:
        return self._server.add_tool(name)

    def count(self, by: int) -> int:
        return self._server.count(by)
