"""``record``: stand in for a server, pass everything on, and record what passes.

    client ── stdin ──▶ pump ──────▶ server          process 1: pumps, signals, exit status
           ◀─ stdout ── pump ◀──────
                          │ put
                          ▼
                        ring, shared memory
                          │ take
                          ▼
                       recorder ──▶ file             process 2: lines, redaction, SQLite

Part of the light path: standard library only, and little of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from workbench.errors import EXIT_CONNECTION
from workbench.standin.recording import Command, Recording
from workbench.standin.scribe import Scribe, complain

if TYPE_CHECKING:
    from workbench.wire.bell import Bell
    from workbench.wire.command import NotStarted

__all__ = ["Command", "Recording", "hold_standard_streams", "stand_in"]

#: The only connection of a stand-in's session.
CONNECTION = 1


def stand_in(recording: Recording, *, tell: bool = False) -> int:
    """Start the recording's command, stand between it and our standard streams until it is gone, and return
    the exit status: the server's, 128 and the number of the signal that ended it, or
    ``EXIT_CONNECTION`` if it could not be started. With ``tell`` the file is named on stderr.

    Raises ``RecordingError``, before anything is started, if the file cannot be made.
    """
    command = recording.command
    assert command is not None
    hold_standard_streams()
    scribe = Scribe(recording)
    # Loaded while the recorder's process opens the file.
    from workbench.standin.server import NotStarted, Server, exit_status
    from workbench.standin.supervisor import Supervisor, listen_to_signals
    from workbench.wire.bell import Bell
    from workbench.wire.pump import process_unit

    path = scribe.opened()
    if tell:
        complain(f"recording to {path}")
    bell = Bell()
    listen_to_signals(bell)
    try:
        server = Server(command)
    except NotStarted as error:
        return _not_started(command, error, scribe, bell)
    started = {
        "event": "started",
        "pid": server.pid,
        "command": command.words,
        "cwd": server.folder,
    }
    scribe.ring.put(process_unit(CONNECTION, started))
    supervisor = Supervisor(server, scribe, bell, CONNECTION)
    status = supervisor.run()
    closed_how = f"exited {status}" if status >= 0 else f"signal {-status}"
    scribe.end(supervisor.ended_how, CONNECTION, {"exit_code": status, "closed_how": closed_how})
    _until_written(scribe, bell)
    return exit_status(status)


def _not_started(command: Command, error: NotStarted, scribe: Scribe, bell: Bell) -> int:
    from workbench.wire.pump import process_unit

    complain(str(error))
    event = {"event": "start_failed", "why": error.why, "command": command.words}
    scribe.ring.put(process_unit(CONNECTION, event))
    scribe.end("closed", CONNECTION, {"closed_how": "not_started"})
    _until_written(scribe, bell)
    return EXIT_CONNECTION


def _until_written(scribe: Scribe, bell: Bell) -> None:
    """Wait for the file to be whole. Who does not want to wait sends a signal: the recorder goes on
    by itself."""
    from workbench.standin.supervisor import ENDING

    while not scribe.ended():
        if set(bell.wait(1.0)) & set(ENDING):
            return


def hold_standard_streams() -> None:
    """A host may start us with one of them closed. Its number must not come to mean a pipe of ours."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
