"""Closes its stdout on a call and runs on."""

import os

from tests.servers.minimal import Params, serve


def call(_id: object, _params: Params) -> None:
    os.close(1)


if __name__ == "__main__":
    serve({"tools/call": call})
