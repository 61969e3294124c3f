"""Reads the examples of rules (``Rule.example`` has the notation) and runs them through a checker."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from workbench.check.checker import Checker
from workbench.check.rule import Finding
from workbench.core.frame import Channel, Direction, Ending, Frame, Kind, Stream
from workbench.core.jsonrpc import decode, dumps
from workbench.core.methods import name_of

META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {
        "elicitation": {"form": {}, "url": {}},
        "sampling": {},
        "roots": {},
    },
    "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
}

CLIENT = {
    "2024-11-05": {"roots": {"listChanged": True}, "sampling": {}},
    "2025-03-26": {"roots": {"listChanged": True}, "sampling": {}},
    "2025-06-18": {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}},
    "2025-11-25": {
        "roots": {"listChanged": True},
        "sampling": {"tools": {}, "context": {}},
        "elicitation": {"form": {}, "url": {}},
        "tasks": {"list": {}, "cancel": {}, "requests": {"sampling": {"createMessage": {}}}},
    },
}
SERVER = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "logging": {},
}

CHANGED = '{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}'

_STREAM = re.compile(r"^(\d+) ([A-Z]+) (\S+) ?(.*?) ?=>(?: (\d+))?(?: (.*))?$")
_BODY = re.compile(r"^(\d+)?([<>:])(?: ?)(.*)$", re.DOTALL)


def server_capabilities(revision: str) -> dict[str, Any]:
    more: dict[str, Any] = {} if revision == "2024-11-05" else {"completions": {}}
    if revision == "2025-11-25":
        more["tasks"] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    return SERVER | more


class Play:
    """Makes frames of an example's lines and gives them to a checker; ``findings`` is what it found."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.checker = Checker()
        self.findings: list[Finding] = []
        self.revision = "2026-07-28"
        self.session = False
        self._seq = 0
        self._time = 0
        self._streams: dict[int, Stream] = {}
        self._lines = list(lines)
        while self._lines:
            self._play(self._lines.pop(0))

    @property
    def ids(self) -> list[str]:
        return [finding.rule.id for finding in self.findings]

    def _play(self, line: str) -> None:
        if line.startswith("@"):
            words = line.split()
            self._lines[:0] = self._handshake(words[1], "none" in words, words[0] == "@http")
        elif line.startswith("+"):
            self._time += int(float(line[1:]) * 1e9)
        elif line.startswith("!"):
            self._take(Channel.PROCESS, Direction.NONE, line[2:], 0, None)
        elif line.startswith("*"):
            self._take(Channel.AUTH, Direction.NONE, line[2:], 0, None)
        elif found := _STREAM.match(line):
            self._open(*found.groups())
        elif re.fullmatch(r"\d+ \w+", line):
            number, how = line.split()
            stream = self._streams[int(number)]
            self._put(stream._replace(closed_ns=self._time, closed_how=how))
        elif found := _BODY.match(line):
            self._body(*found.groups())
        else:
            raise ValueError(line)

    def _handshake(self, revision: str, bare: bool, http: bool) -> Iterator[str]:
        self.revision = revision
        if revision == "2026-07-28":
            return
        client = {} if bare else CLIENT[revision]
        server = {} if bare else server_capabilities(revision)
        info = {"name": "n", "version": "1"}
        yield from ("90 POST /mcp => 200 Mcp-Session-Id: s1",) if http else ()
        out, back = ("90> ", "90< ") if http else ("> ", "< ")
        params = {"protocolVersion": revision, "capabilities": client, "clientInfo": info}
        yield out + dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        result = {"protocolVersion": revision, "capabilities": server, "serverInfo": info}
        yield back + dumps({"jsonrpc": "2.0", "id": 0, "result": result})
        yield from ("90 end", "91 POST /mcp => 202") if http else ()
        yield ("91> " if http else "> ") + '{"jsonrpc":"2.0","method":"notifications/initialized"}'
        yield from ("91 end",) if http else ()

    def _open(
        self, number: str, verb: str, path: str, headers: str, status: str | None, answer: str | None
    ) -> None:
        sent, came = self._headers(int(number))
        asked = _with(self._due(verb, sent), headers)
        back = _with(came, answer or "")
        if any(key.lower() == "mcp-session-id" for key, _ in back):
            self.session = True
        bare = Stream(int(number), 1, verb, f"http://127.0.0.1{path}", tuple(asked), self._time)
        self._put(bare)
        self._answer = (int(status), tuple(back)) if status else None
        if self._answer:
            self._streams[bare.number] = bare._replace(
                status=self._answer[0], response_headers=self._answer[1]
            )
            if sent is None:
                self._put(self._streams[bare.number])

    def _headers(self, number: int) -> tuple[str | None, list[tuple[str, str]]]:
        """What is sent first on this stream, and the headers that fit what comes back."""
        sent, came = None, list[tuple[str, str]]()
        for line in self._lines:
            if line.startswith(f"{number}> ") and sent is None:
                sent = line.split("> ", 1)[1]
            elif line.startswith(f"{number}< ") and not came:
                came = [("Content-Type", "application/json")]
            elif line.startswith(f"{number}: ") and not came:
                came = [("Content-Type", "text/event-stream")]
        return sent, came

    def _due(self, verb: str, sent: str | None) -> list[tuple[str, str]]:
        """The headers a client must send."""
        headers = [
            ("Accept", "application/json, text/event-stream" if verb == "POST" else "text/event-stream")
        ]
        if sent is not None:
            headers.append(("Content-Type", "application/json"))
        message = decode((sent or "").replace("$META", dumps(META)).encode()).messages
        method = message[0].method if message else None
        if self.revision >= "2025-06-18" and method != "initialize":
            headers.append(("MCP-Protocol-Version", self.revision))
        if self.session and self.revision < "2026":
            headers.append(("Mcp-Session-Id", "s1"))
        if self.revision == "2026-07-28" and method:
            headers.append(("Mcp-Method", method))
            name = name_of(method, message[0].value("params"))
            if name and method in ("tools/call", "prompts/get", "resources/read"):
                headers.append(("Mcp-Name", name))
        return headers

    def _body(self, stream: str | None, way: str, body: str) -> None:
        number = int(stream or 0)
        event = None
        channel = Channel.HTTP if number else Channel.STDIO
        if way == ":":
            channel = Channel.SSE
            told, end = json.JSONDecoder().raw_decode(body)
            event, body = dumps(told), body[end:].lstrip()
        to = Direction.TO_SERVER if way == ">" else Direction.TO_CLIENT
        self._take(channel, to, filled(body), number, event)
        if way == ">" and number and self._streams[number].status is not None:
            self._put(self._streams[number])

    def _take(self, channel: Channel, to: Direction, text: str, stream: int, event: str | None) -> None:
        self._seq += 1
        self._time += 1_000_000
        body = text.encode("utf-8", "surrogateescape")
        frame = Frame(
            self._seq,
            1,
            self._time,
            self._time,
            to,
            channel,
            Kind.NOTE,
            body,
            len(body),
            Ending.LF,
            stream=stream,
            event=event,
        )
        self.findings += self.checker.take(frame)

    def _put(self, stream: Stream) -> None:
        self._streams[stream.number] = stream
        self.findings += self.checker.take_stream(stream)


def filled(body: str) -> str:
    """A body with what its words stand for."""
    if "$DEEP" in body:
        body = body.replace("$DEEP", '{"a":' * 60_000 + "1" + "}" * 60_000)
    if "$MANY" in body:
        body = body.replace("$MANY", ",".join([CHANGED] * 10_001))
    return body.replace("$META", dumps(META))


def _with(headers: list[tuple[str, str]], given: str) -> list[tuple[str, str]]:
    """Headers with those of an example in their place; ``Name: -`` leaves one out."""
    named = [tuple(part.split(": ", 1)) for part in given.split("; ") if part]
    names = {name.lower() for name, *_ in named}
    kept = [(name, value) for name, value in headers if name.lower() not in names]
    return kept + [(name, value[0]) for name, *value in named if value[0] != "-"]


def found(lines: Sequence[str]) -> list[str]:
    """The ids of the rules that these lines break, each once, in order."""
    return list(dict.fromkeys(Play(lines).ids))
