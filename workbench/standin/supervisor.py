"""From the first byte to the exit status: what a stand-in does, in order.

The main thread carries the small traffic (``Relay``) and hears everything else
on one bell: signals, the server's exit, streams that are over. What follows from
what is written here and nowhere else:

* The client closes our standard input, or reads no more: the server's stdin is
  closed; ``EXIT_WITHIN`` later TERM, ``KILL_AFTER`` later KILL, to its group.
* TERM, INT or HUP come to us: they are passed on at once, stdin is closed, and
  KILL follows after ``KILL_AFTER``. A second one kills at once.
* The server exits: its output is read to the end, but not longer than ``DRAIN``
  without a byte, because something else may hold the pipes.
* The recorder is lost: said once; everything is passed on as before.
"""

from __future__ import annotations

import signal
import time
from typing import Any

from workbench.core.frame import Channel, Direction
from workbench.standin.scribe import Scribe, complain
from workbench.standin.server import Server, signal_name
from workbench.wire.bell import FIRST_CODE, Bell
from workbench.wire.pump import Codes, Pump, Stream, process_unit
from workbench.wire.relay import Relay

#: How long a server has to exit when its stdin is closed (seconds).
EXIT_WITHIN = 2.0

#: How long it has after TERM (seconds). Hosts give *us* two seconds between their TERM and their
#: KILL, and we want to be done by then.
KILL_AFTER = 1.5

#: How long is waited for more output of a server that has exited (seconds) ...
DRAIN = 0.5

#: ... and in all, if the client reads slowly or something else goes on writing (seconds). Who has
#: sent us a signal does not read any more.
DRAIN_MOST = 10.0
DRAIN_SIGNALLED = 0.5

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_TO_SERVER = Codes(FIRST_CODE, FIRST_CODE + 1)
_TO_CLIENT = Codes(FIRST_CODE + 2, FIRST_CODE + 3)
_STDERR = Codes(FIRST_CODE + 4, FIRST_CODE + 5)


def listen_to_signals(bell: Bell) -> None:
    """Let signals ring the bell instead of ending us. One that we inherited as ignored (``nohup``,
    a background job) stays ignored."""
    signal.set_wakeup_fd(bell.handle, warn_on_full_buffer=False)
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _noted)
    signal.signal(signal.SIGCHLD, _noted)


def _noted(number: int, frame: Any) -> None:
    """The bell has been rung; a handler must be there for that."""


class Supervisor:
    """Stands between our standard streams and a server until that is gone."""

    def __init__(self, server: Server, scribe: Scribe, bell: Bell, connection: int = 1) -> None:
        self.ended_how = "closed"
        self._server = server
        self._scribe = scribe
        self._bell = bell
        self._connection = connection
        self._deadline: float | None = None
        self._closing = ""
        self._next = signal.SIGTERM

        def pump(
            name: str, direction: Direction, channel: Channel, ends: tuple[int, int], codes: Codes
        ) -> Pump:
            stream = Stream(name, connection, direction, channel)
            return Pump(stream, *ends, scribe.ring, bell, codes, go_on=direction is Direction.TO_CLIENT)

        self._to_server = pump("stdin", Direction.TO_SERVER, Channel.STDIO, (0, server.stdin), _TO_SERVER)
        self._to_client = pump("stdout", Direction.TO_CLIENT, Channel.STDIO, (server.stdout, 1), _TO_CLIENT)
        self._stderr = pump("stderr", Direction.TO_CLIENT, Channel.STDERR, (server.stderr, 2), _STDERR)
        self._relay = Relay(bell, (self._to_server, self._to_client))

    def run(self) -> int:
        """Returns the server's exit code, negative for a signal."""
        self._stderr.start()
        while not self._server.exited():
            self._hear(self._relay.run(self._deadline))
        self._to_server.stop()
        self._drain()
        if self._to_client.in_hand:
            self._to_client.undelivered(self._to_client.in_hand, "the client did not read it")
        status = self._server.collect()
        how = {"signal": signal_name(-status)} if status < 0 else {"code": status}
        self._tell("exited", **how)
        return status

    def _hear(self, codes: bytes) -> None:
        if not codes:
            self._press()
        for code in codes:
            if code in ENDING:
                self._signalled(code)
            elif code == signal.SIGCHLD and self._scribe.lost():
                complain("the recorder is gone, nothing more is recorded; the server goes on without it")
            elif code == _TO_SERVER.over and not self._to_server.broken:
                self._shut("the client closed the connection")
            elif code == _TO_CLIENT.over and self._to_client.broken:
                self._shut("the client stopped reading")

    def _shut(self, why: str) -> None:
        if self._closing:
            return
        self._closing = why
        self._to_server.stop()
        self._wait(EXIT_WITHIN)

    def _signalled(self, number: int) -> None:
        if self.ended_how == "closed":
            self.ended_how = f"signal:{signal_name(number)}"
            self._closing = self._closing or "signal"
            self._to_server.stop()
            self._send(number)
            self._next = signal.SIGKILL
            self._wait(KILL_AFTER)
        else:
            self._next = signal.SIGKILL
            self._press()

    def _press(self) -> None:
        """The next step of the ladder."""
        number = self._next
        self._next = signal.SIGKILL
        self._send(number)
        self._wait(KILL_AFTER)

    def _send(self, number: int) -> None:
        self._tell("signal", name=signal_name(number))
        self._server.signal_group(number)

    def _wait(self, seconds: float) -> None:
        self._tell("waiting", seconds=seconds, **{"for": "exit"})
        self._deadline = time.monotonic() + seconds

    def _drain(self) -> None:
        """Read what the server wrote before it exited."""
        pumps = (self._to_client, self._stderr)
        most = time.monotonic() + (DRAIN_MOST if self.ended_how == "closed" else DRAIN_SIGNALLED)
        while time.monotonic() < most:
            carried = [pump.carried for pump in pumps]
            until = min(most, time.monotonic() + DRAIN)
            while not all(pump.over for pump in pumps):
                codes = self._relay.run(until)
                if not codes:
                    break
                if any(code in ENDING for code in codes):
                    return
            else:
                return
            if carried == [pump.carried for pump in pumps] and not any(pump.busy for pump in pumps):
                return

    def _tell(self, event: str, **members: Any) -> None:
        self._scribe.ring.put(process_unit(self._connection, {"event": event, **members}))
