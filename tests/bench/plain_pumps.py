"""The stand-in's pumps without a recorder: ``python -m tests.bench.plain_pumps CMD ARGS…``."""

from __future__ import annotations

import os
import sys

from workbench.core.frame import Channel, Direction, Unit
from workbench.wire.bell import FIRST_CODE, Bell
from workbench.wire.pump import Codes, Pump, Stream
from workbench.wire.relay import Relay


class Nowhere:
    """A sink that keeps nothing."""

    def put(self, unit: Unit) -> int:  # noqa: ARG002
        return 0

    def has_room(self) -> bool:
        return True

    def wait_room(self, timeout: float | None = None) -> bool:  # noqa: ARG002
        return True


def main(command: list[str]) -> int:
    theirs_in, ours_in = os.pipe()
    ours_out, theirs_out = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, theirs_in, 0), (os.POSIX_SPAWN_DUP2, theirs_out, 1)]
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    os.close(theirs_in)
    os.close(theirs_out)
    bell, sink = Bell(), Nowhere()
    to_server = Stream("stdin", 1, Direction.TO_SERVER, Channel.STDIO)
    to_client = Stream("stdout", 1, Direction.TO_CLIENT, Channel.STDIO)
    first = Pump(to_server, 0, ours_in, sink, bell, Codes(FIRST_CODE, FIRST_CODE + 1))
    second = Pump(to_client, ours_out, 1, sink, bell, Codes(FIRST_CODE + 2, FIRST_CODE + 3))
    relay = Relay(bell, (first, second))
    while not second.over:
        relay.run()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
