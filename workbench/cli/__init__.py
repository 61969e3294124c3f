"""The command line: ``mcp-workbench``.

``record`` and ``replay server`` stand beside every server somebody starts, so
they are found here, before anything is loaded that they do not need. All other
commands are click's and live in a module each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (without the program's name); returns its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["record"]:
        from workbench.cli import record

        return _light(record.main, arguments[1:])
    if arguments[:2] == ["replay", "server"]:
        from workbench.cli import replay_server

        return _light(replay_server.main, arguments[2:])
    from workbench.cli import program

    return program.run(arguments)


def _light(command: Callable[[list[str]], int], arguments: list[str]) -> int:
    """Run a light command; what tells of failures is loaded when one fails."""
    try:
        return command(arguments)
    except (Exception, KeyboardInterrupt) as error:
        from workbench.cli.failures import guarded

        return guarded(_raising(error), None)


def _raising(error: BaseException) -> Callable[[], int]:
    def again() -> int:
        raise error

    return again
