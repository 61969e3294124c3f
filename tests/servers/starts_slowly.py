"""Tells on stderr how it gets on, and answers only once the named pipe of its argument is opened."""

import sys

from tests.servers.minimal import log, serve

if __name__ == "__main__":
    log("downloading the package")
    with open(sys.argv[1], encoding="utf-8") as gate:
        gate.read()
    serve({})
