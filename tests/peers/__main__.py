"""``python -m tests.peers``: install every peer now that the short tests need, and show the commands."""

from __future__ import annotations

import shlex
import sys

from tests.peers.install import (
    PYTHON_PEERS,
    TYPESCRIPT_CLIENT,
    VITEST,
    PeerUnavailable,
    npm_folder,
    npm_peer,
    python_peer,
    typescript_peer,
)


def main() -> int:
    try:
        commands = [npm_peer(name) for name in ("everything", "filesystem", "memory")]
        commands.append(typescript_peer())
        commands += [python_peer(requirement) for requirement in PYTHON_PEERS]
        npm_folder("typescript-client", TYPESCRIPT_CLIENT)
        npm_folder("vitest", VITEST)
    except PeerUnavailable as trouble:
        print(trouble, file=sys.stderr)
        return 1
    for command in commands:
        print(shlex.join(command))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
