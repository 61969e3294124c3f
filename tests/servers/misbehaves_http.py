"""``misbehaves_http.py KIND STAGE``: ``misbehaves`` over streamable HTTP; prints its URL as its first line.

KIND and STAGE are those of ``misbehaves``, and ``good``. What goes wrong at ``start`` goes wrong with
every connection before anything is read of it; a flood and a trickle are SSE streams, and ``close``
closes the connection without an answer.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress

from tests.servers import bare
from tests.servers.misbehaves import LOG, STAGES

HEAD = b"HTTP/1.1 %d %s\r\n"
EVENTS = HEAD % (200, b"OK") + b"Content-Type: text/event-stream\r\n\r\n"
FLOOD = b"".join(b"data: %s\n\n" % line for line in LOG.splitlines())


class Site:
    def __init__(self, kind: str, stage: str) -> None:
        self.kind = kind
        self.stage = stage

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            if self.stage == "start":
                await self.misbehave(writer, b'{"jsonrpc": "2.0", "id": 1, "result": {}}')
            while self.stage != "start" and (head := await reader.readuntil(b"\r\n\r\n")):
                if not await self.answer(head, reader, writer):
                    break
        writer.close()

    async def answer(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection stays."""
        fields = dict(line.split(b": ", 1) for line in head.splitlines()[1:] if line)
        length = next((int(fields[name]) for name in fields if name.lower() == b"content-length"), 0)
        body = await reader.readexactly(length)
        message = json.loads(body) if head.startswith(b"POST") else {}
        if "id" not in message:
            status = (202, b"Accepted") if message else (405, b"Method Not Allowed")
            writer.write(HEAD % status + b"Content-Length: 0\r\n\r\n")
            await writer.drain()
            return True
        method = bare.METHODS.get(message["method"])
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if method is None:
            answer |= {"error": {"code": -32601, "message": "Method not found"}}
        else:
            answer |= {"result": method(message.get("params") or {})}
        text = json.dumps(answer).encode()
        if self.kind != "good" and message["method"] == STAGES[self.stage]:
            await self.misbehave(writer, text)
            return False
        fields_out = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(text)
        writer.write(HEAD % (200, b"OK") + fields_out + text)
        await writer.drain()
        return True

    async def misbehave(self, writer: asyncio.StreamWriter, answer: bytes) -> None:
        if self.kind == "close":
            return
        if self.kind in ("flood", "trickle"):
            writer.write(EVENTS)
        while self.kind == "flood":
            writer.write(FLOOD)
            await writer.drain()
        if self.kind == "trickle":
            event = b"data: " + answer
            for place in range(len(event)):
                writer.write(event[place : place + 1])
                await writer.drain()
                await asyncio.sleep(0.01)
        await asyncio.sleep(3600)


async def main(kind: str, stage: str = "") -> None:
    server = await asyncio.start_server(Site(kind, stage).connection, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp", flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
