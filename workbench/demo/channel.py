"""The wire of the demo server: JSON lines in and out, requests to the client and their answers."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from typing import Any, BinaryIO

JsonObject = dict[str, Any]

#: Longest wait for a person to answer a form or a sampling request, in seconds.
PATIENCE = 600.0


class RpcError(Exception):
    """An answer that is a JSON-RPC error: ours to the client, or the client's to us."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    def as_json(self) -> JsonObject:
        shape: JsonObject = {"code": self.code, "message": self.message}
        if self.data is not None:
            shape["data"] = self.data
        return shape


class Cancelled(Exception):
    """The client cancelled the call, or is gone: nothing is answered any more."""


class Cancellation:
    """Tells a running call that nobody waits for it any more."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    def sleep(self, seconds: float) -> None:
        """Wait that long; raises ``Cancelled`` at once when the call is cancelled."""
        if self._event.wait(seconds):
            raise Cancelled

    @property
    def cancelled(self) -> bool:
        return self._event.is_set()


class _Pending:
    """A request of ours that the client has not answered yet."""

    def __init__(self) -> None:
        self.answered = threading.Event()
        self.answer: JsonObject = {}


class Channel:
    """Reads messages and writes them, whole lines at a time, from any thread."""

    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self._source = source
        self._target = target
        self._writing = threading.Lock()
        self._pending: dict[str, _Pending] = {}
        self._sent = 0

    def values(self) -> Iterator[Any]:
        """Every JSON value that comes in, until end of file; what is no JSON is told on stderr."""
        for line in iter(self._source.readline, b""):
            if not line.strip():
                continue
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                complain(f"ignored a line of {len(line)} bytes that is not JSON")

    def send(self, message: JsonObject | list[JsonObject]) -> None:
        text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        try:
            line = text.encode()
        except UnicodeEncodeError:
            line = json.dumps(message, separators=(",", ":")).encode()
        with self._writing:
            self._target.write(line + b"\n")
            self._target.flush()

    def notify(self, method: str, params: JsonObject | None = None) -> None:
        message: JsonObject = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)

    def request(self, method: str, params: JsonObject | None, cancellation: Cancellation) -> JsonObject:
        """Ask the client and wait. Raises ``RpcError`` for its error, ``Cancelled`` when the call is over."""
        with self._writing:
            self._sent += 1
            identity = f"demo-{self._sent}"
            pending = self._pending[identity] = _Pending()
        message: JsonObject = {"jsonrpc": "2.0", "id": identity, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        try:
            self._wait(identity, pending, cancellation)
        finally:
            self._pending.pop(identity, None)
        if "error" in pending.answer:
            error = pending.answer["error"]
            known = error if isinstance(error, dict) else {}
            raise RpcError(known.get("code", 0), str(known.get("message", error)))
        result = pending.answer.get("result")
        return result if isinstance(result, dict) else {}

    def _wait(self, identity: str, pending: _Pending, cancellation: Cancellation) -> None:
        waited = 0.0
        while not pending.answered.wait(0.05):
            waited += 0.05
            if cancellation.cancelled or waited > PATIENCE:
                reason = "the call was cancelled" if cancellation.cancelled else "no answer came"
                self.notify("notifications/cancelled", {"requestId": identity, "reason": reason})
                raise Cancelled

    def answered(self, message: JsonObject) -> None:
        """Take a response of the client; one that nobody waits for is told on stderr."""
        pending = self._pending.get(str(message.get("id")))
        if pending is None:
            complain("ignored an answer to no request")
            return
        pending.answer = message
        pending.answered.set()


def complain(what: str) -> None:
    """One line on stderr, where a person debugging the client looks."""
    print(f"demo server: {what}", file=sys.stderr, flush=True)
