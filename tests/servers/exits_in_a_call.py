"""Reads a call and exits with the status of its argument, a traceback on stderr."""

import os
import sys

from tests.servers.minimal import Params, log, serve


def call(_id: object, _params: Params) -> None:
    log("Traceback (most recent call last):")
    log("KeyError: 'TOKEN'")
    os._exit(int(sys.argv[1]))


if __name__ == "__main__":
    serve({"tools/call": call})
