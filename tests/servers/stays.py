"""Ignores that its stdin is closed, and with the argument ``term`` also SIGTERM."""

import signal
import sys

from tests.servers.minimal import serve

if __name__ == "__main__":
    if sys.argv[1:] == ["term"]:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve({})
    while True:
        signal.pause()
