"""``python -m tests.servers.served_http PORT``: the served server over HTTP, until its stdin closes.

Says ``ready`` on stdout as soon as it can be reached, and keeps nothing of what it sees.
"""

from __future__ import annotations

import sys

import anyio

from tests.servers.served import echo, taps
from tests.wire.stage import MemorySink
from workbench.core.frame import Unit
from workbench.wire.serving_http import serve_http


class Forgetful(MemorySink):
    """Counts, so that a server that runs for long does not grow."""

    def put(self, unit: Unit) -> int:  # noqa: ARG002
        return 1


async def main(port: str) -> None:
    async with serve_http(f"127.0.0.1:{port}", echo, taps(Forgetful())):
        print("ready", flush=True)
        await anyio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1])
