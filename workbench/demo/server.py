"""The demo server: the handshake era's server side, over one channel, one client.

Requests are answered in the order they come; a tool that waits runs in a thread
of its own, so that pings, cancellations and other calls go on meanwhile.
"""

from __future__ import annotations

import json
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

from workbench.demo import prompts, resources
from workbench.demo.arguments import problem
from workbench.demo.call import Call
from workbench.demo.channel import Cancellation, Cancelled, Channel, JsonObject, RpcError, complain
from workbench.demo.revisions import LATEST, REVISIONS, definition, tool_result
from workbench.demo.tools import LOG_LEVELS, Tool, added_tool, standard_tools

INSTRUCTIONS = (
    "A server to try things on: every tool shows one thing a server can do, nothing leaves this process."
)


class Server:
    """State of one connection."""

    def __init__(self, channel: Channel) -> None:
        self.channel = channel
        self.revision = ""
        self.client_capabilities: JsonObject = {}
        self._tools = standard_tools()
        self._counter = 0
        self._level = "info"
        self._subscribed: set[str] = set()
        self._running: dict[str, Cancellation] = {}
        self._methods: dict[str, Callable[[JsonObject], JsonObject]] = {
            "tools/list": self._list_tools,
            "resources/list": self._list_resources,
            "resources/templates/list": self._list_templates,
            "resources/read": self._read_resource,
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._unsubscribe,
            "prompts/list": self._list_prompts,
            "prompts/get": self._get_prompt,
            "completion/complete": self._complete,
            "logging/setLevel": self._set_level,
        }

    # What the client sends

    def receive(self, value: Any) -> None:
        """Deal with one JSON value from the wire. Never raises for what the client did."""
        if isinstance(value, list) and value and self.revision == "2025-03-26":
            answers = [answer for item in value if (answer := self._deal_with(item)) is not None]
            if answers:
                self.channel.send(answers)
            return
        answer = self._deal_with(value)
        if answer is not None:
            self.channel.send(answer)

    def _deal_with(self, message: Any) -> JsonObject | None:
        if not isinstance(message, dict):
            complain("ignored a value that is no JSON-RPC message")
        elif "method" not in message:
            self.channel.answered(message)
        elif "id" not in message:
            self._notified(message)
        elif isinstance(message["id"], bool) or not isinstance(message["id"], (str, int)):
            complain("ignored a request whose id is neither a string nor an integer")
        else:
            return self._answer(message["id"], message)
        return None

    def _answer(self, identity: str | int, message: JsonObject) -> JsonObject | None:
        try:
            method, params = message["method"], message.get("params", {})
            if not isinstance(method, str) or not isinstance(params, dict):
                raise RpcError(-32600, "The method must be a string and params an object")
            if method == "tools/call":
                return self._start_call(identity, params)
            return _result(identity, self._handle(method, params))
        except RpcError as error:
            return {"jsonrpc": "2.0", "id": identity, "error": error.as_json()}
        except Exception:
            return _broken(identity)

    def _handle(self, method: str, params: JsonObject) -> JsonObject:
        if method == "ping":
            return {}
        if method == "initialize":
            return self._initialize(params)
        handler = self._methods.get(method)
        if handler is None:
            raise RpcError(-32601, f"There is no method {method}")
        self._must_be_ready()
        return handler(params)

    def _must_be_ready(self) -> None:
        if not self.revision:
            raise RpcError(-32600, "The connection is not initialized: send initialize first")

    def _notified(self, message: JsonObject) -> None:
        params = message.get("params")
        if message["method"] == "notifications/initialized" and self.revision:
            self.log("info", "the demo server is ready")
        elif message["method"] == "notifications/cancelled" and isinstance(params, dict):
            cancellation = self._running.get(json.dumps(params.get("requestId")))
            if cancellation:
                cancellation.cancel()

    # Lifecycle

    def _initialize(self, params: JsonObject) -> JsonObject:
        if self.revision:
            raise RpcError(-32600, "The connection is initialized already")
        offered = params.get("protocolVersion")
        if not isinstance(offered, str):
            raise RpcError(-32602, "protocolVersion must be a string")
        self.revision = offered if offered in REVISIONS else LATEST
        capabilities = params.get("capabilities")
        self.client_capabilities = capabilities if isinstance(capabilities, dict) else {}
        own: JsonObject = {
            "tools": {"listChanged": True},
            "resources": {"subscribe": True, "listChanged": False},
            "prompts": {"listChanged": False},
            "logging": {},
        }
        if self.revision >= "2025-03-26":
            own["completions"] = {}
        info = {"name": "workbench-demo", "version": "1.0"}
        if self.revision >= "2025-06-18":
            info["title"] = "Demo server"
        return {
            "protocolVersion": self.revision,
            "capabilities": own,
            "serverInfo": info,
            "instructions": INSTRUCTIONS,
        }

    def _set_level(self, params: JsonObject) -> JsonObject:
        if params.get("level") not in LOG_LEVELS:
            raise RpcError(-32602, f"level must be one of {', '.join(LOG_LEVELS)}")
        self._level = params["level"]
        return {}

    def log(self, level: str, message: str) -> bool:
        """Send a log message unless its level is below the one set; says whether it was sent."""
        if LOG_LEVELS.index(level) < LOG_LEVELS.index(self._level):
            return False
        self.channel.notify("notifications/message", {"level": level, "logger": "demo", "data": message})
        return True

    # Tools

    def _list_tools(self, _params: JsonObject) -> JsonObject:
        return {"tools": [definition(tool.definition, self.revision) for tool in self._tools.values()]}

    def add_tool(self, name: str) -> bool:
        if name in self._tools:
            return False
        self._tools[name] = added_tool(name)
        self.channel.notify("notifications/tools/list_changed")
        return True

    def _start_call(self, identity: str | int, params: JsonObject) -> JsonObject | None:
        self._must_be_ready()
        tool = self._tools.get(str(params.get("name")))
        if tool is None:
            raise RpcError(-32602, f"There is no tool {params.get('name')}")
        arguments = params.get("arguments", {})
        wrong = problem(tool.definition["inputSchema"], arguments)
        if wrong:
            # Since 2025-11-25 a model shall see what is wrong with its arguments, so it is a result.
            if self.revision < "2025-11-25":
                raise RpcError(-32602, wrong)
            return _result(identity, {"content": [{"type": "text", "text": wrong}], "isError": True})
        meta = params.get("_meta")
        call = Call(
            self, tool.definition["name"], meta.get("progressToken") if isinstance(meta, dict) else None
        )
        if not tool.waits:
            return self._run(identity, tool, call, arguments)
        self._running[json.dumps(identity)] = call.cancellation
        threading.Thread(target=self._run_beside, args=(identity, tool, call, arguments), daemon=True).start()
        return None

    def _run_beside(self, identity: str | int, tool: Tool, call: Call, arguments: JsonObject) -> None:
        try:
            answer = self._run(identity, tool, call, arguments)
            del self._running[json.dumps(identity)]
            if answer is not None and not call.cancellation.cancelled:
                self.channel.send(answer)
        except OSError:
            return  # the client is gone

    def _run(self, identity: str | int, tool: Tool, call: Call, arguments: JsonObject) -> JsonObject | None:
        try:
            return _result(identity, tool_result(tool.run(call, arguments), self.revision))
        except Cancelled:
            return None
        except RpcError as error:
            if tool.waits:
                text = f"The client answered with an error: {error.message} ({error.code})"
                return _result(identity, {"content": [{"type": "text", "text": text}], "isError": True})
            return {"jsonrpc": "2.0", "id": identity, "error": error.as_json()}
        except OSError:
            raise
        except Exception:
            return _broken(identity)

    # Resources

    def _list_resources(self, params: JsonObject) -> JsonObject:
        entries, following = resources.page(params.get("cursor"))
        page: JsonObject = {"resources": [definition(entry, self.revision) for entry in entries]}
        if following:
            page["nextCursor"] = following
        return page

    def _list_templates(self, _params: JsonObject) -> JsonObject:
        return {"resourceTemplates": [definition(entry, self.revision) for entry in resources.TEMPLATES]}

    def _read_resource(self, params: JsonObject) -> JsonObject:
        return {"contents": self._contents(params)}

    def _contents(self, params: JsonObject) -> list[JsonObject]:
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise RpcError(-32602, "uri must be a string")
        contents = resources.read(uri, self._counter)
        if contents is None:
            raise RpcError(-32002, f"There is no resource {uri}", {"uri": uri})
        return contents

    def _subscribe(self, params: JsonObject) -> JsonObject:
        self._contents(params)
        self._subscribed.add(params["uri"])
        return {}

    def _unsubscribe(self, params: JsonObject) -> JsonObject:
        self._subscribed.discard(str(params.get("uri")))
        return {}

    def count(self, by: int) -> int:
        self._counter += by
        if resources.COUNTER in self._subscribed:
            self.channel.notify("notifications/resources/updated", {"uri": resources.COUNTER})
        return self._counter

    # Prompts

    def _list_prompts(self, _params: JsonObject) -> JsonObject:
        return {"prompts": [definition(entry, self.revision) for entry in prompts.LISTED]}

    def _get_prompt(self, params: JsonObject) -> JsonObject:
        arguments = params.get("arguments") or {}
        if not isinstance(arguments, dict) or not all(isinstance(value, str) for value in arguments.values()):
            raise RpcError(-32602, "arguments must be an object of strings")
        return prompts.get(str(params.get("name")), arguments)

    def _complete(self, params: JsonObject) -> JsonObject:
        parts = [params.get("ref"), params.get("argument"), params.get("context", {})]
        ref, argument, context = (part if isinstance(part, dict) else {} for part in parts)
        return prompts.complete(ref, argument, context)


def _result(identity: str | int, value: JsonObject) -> JsonObject:
    return {"jsonrpc": "2.0", "id": identity, "result": value}


def _broken(identity: str | int) -> JsonObject:
    traceback.print_exc()
    error = {"code": -32603, "message": "The demo server has a fault; its stderr says more"}
    return {"jsonrpc": "2.0", "id": identity, "error": error}


def main() -> int:
    """Serve until stdin ends; the exit status is 0."""
    complain("serving on stdin and stdout")
    server = Server(Channel(sys.stdin.buffer, sys.stdout.buffer))
    try:
        for value in server.channel.values():
            server.receive(value)
    except BrokenPipeError:
        return 0
    except KeyboardInterrupt:
        return 130
    return 0
