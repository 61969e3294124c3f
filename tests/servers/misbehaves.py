"""``misbehaves.py KIND STAGE``: a server that goes wrong at one stage of its life, in one way.

KIND is ``flood`` (notifications without end), ``hang`` (nothing more), ``trickle`` (the answer byte by
byte, for ever) or ``close`` (it exits). STAGE is ``start`` (before anything is read), ``initialize``,
``list`` or ``call``: the request in place of whose answer it happens.
"""

from __future__ import annotations

import json
import os
import sys
import time

from tests.servers import bare

LOG = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}\n' * 500

STAGES = {"initialize": "initialize", "list": "tools/list", "call": "tools/call"}


def misbehave(kind: str, answer: bytes) -> None:
    if kind == "close":
        os._exit(0)
    while kind == "flood":
        write(LOG)
    if kind == "trickle":
        for place in range(len(answer) - 1):
            write(answer[place : place + 1])
            time.sleep(0.01)
    while True:
        time.sleep(3600)


def write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def main(kind: str, stage: str) -> None:
    if stage == "start":
        misbehave(kind, b'{"jsonrpc": "2.0", "id": 1, "result": {}}')
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message:
            continue
        method = bare.METHODS.get(message["method"])
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if method is None:
            answer |= {"error": {"code": -32601, "message": "Method not found"}}
        else:
            answer |= {"result": method(message.get("params") or {})}
        body = json.dumps(answer).encode() + b"\n"
        if message["method"] == STAGES[stage]:
            misbehave(kind, body)
        write(body)


if __name__ == "__main__":
    main(*sys.argv[1:3])
