"""Its tool gives back the variable that is asked for, and the working directory."""

import json
import os

from tests.servers.minimal import Params, result, serve, text


def call(id: object, params: Params) -> None:
    wanted = params["arguments"]["text"]
    result(id, text(json.dumps({"value": os.environ.get(wanted), "cwd": os.getcwd()})))


if __name__ == "__main__":
    serve({"tools/call": call})
