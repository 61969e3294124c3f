"""Starts a process that holds its pipes, ignores SIGTERM and outlives it; tells its number."""

import subprocess
import sys

from tests.servers.minimal import Params, result, serve, text

PROGRAM = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); signal.pause()"

if __name__ == "__main__":
    grandchild = subprocess.Popen([sys.executable, "-c", PROGRAM])

    def call(id: object, params: Params) -> None:
        if params["arguments"]["text"] == "exit":
            sys.exit(5)
        result(id, text(str(grandchild.pid)))

    serve({"tools/call": call})
