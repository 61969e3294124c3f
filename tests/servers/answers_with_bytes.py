"""Answers a call with the bytes of a file: the folder is the argument, the tool's name names the file.

``@ID@`` in the file stands for the id as the client wrote it. Several lines are several messages.
"""

import re
import sys
from pathlib import Path

from tests.servers.minimal import Params, send, serve

ID = re.compile(rb'"id"\s*:\s*("[^"]*"|[0-9]+)')


def id_text(id: object) -> bytes:
    return b'"%s"' % id.encode() if isinstance(id, str) else str(id).encode()


def call(id: object, params: Params) -> None:
    answer = Path(sys.argv[1], params["name"]).read_bytes()
    send(answer.replace(b"@ID@", id_text(id)))


if __name__ == "__main__":
    serve({"tools/call": call})
