"""``python -m tests.cli.guarded FILE WORDS…``: the command, with every place it connects to in a file.

The interpreter itself tells of each connection and each look-up of a name, whichever library makes it.
"""

from __future__ import annotations

import os
import sys

WATCHED = frozenset(("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"))


def main() -> int:
    file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def watch(event: str, args: tuple[object, ...]) -> None:
        if event in WATCHED:
            place = args[1] if event in ("socket.connect", "socket.sendto") else args[:2]
            os.write(file, f"{event} {place!r}\n".encode())

    sys.addaudithook(watch)
    del sys.argv[1]
    from workbench.cli import main as command

    return int(command() or 0)


if __name__ == "__main__":
    sys.exit(main())
