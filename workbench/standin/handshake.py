"""What the handshake that passes says of both sides, for the recording's list of connections."""

from __future__ import annotations

from typing import Any

from workbench.core.frame import Channel, Direction, Kind, Unit
from workbench.core.jsonrpc import decode, dumps
from workbench.core.lines import LineSplitter
from workbench.core.parties import Parties

#: Where no answer to ``initialize`` has come within so many bytes, none is looked for (bytes).
GIVE_UP = 1 << 20


class Overheard:
    """Looks at the first units of a connection until ``initialize`` has been answered."""

    def __init__(self) -> None:
        self._splitters = {Direction.TO_SERVER: LineSplitter(), Direction.TO_CLIENT: LineSplitter()}
        self._parties = Parties()
        self._id: str | None = None
        self._seen = 0
        self.over = False

    def take(self, unit: Unit) -> dict[str, Any] | None:
        """The facts for ``Recorder.describe``, once: with the unit that completed them."""
        if self.over or unit.channel is not Channel.STDIO:
            return None
        self._seen += len(unit.data)
        self.over = self._seen > GIVE_UP
        for line in self._splitters[unit.direction].feed(unit.data):
            if self._line(unit.direction, line):
                self.over = True
                return self._facts()
        return None

    def _line(self, direction: Direction, line: bytes) -> bool:
        for message in decode(line).messages:
            if message.method == "initialize" and direction is Direction.TO_SERVER:
                self._parties.asked(message)
                self._id = message.id
            elif message.kind is Kind.RESULT and message.id == self._id and self._id is not None:
                self._parties.answered(message)
                return direction is Direction.TO_CLIENT
        return False

    def _facts(self) -> dict[str, Any]:
        parties = self._parties
        return {
            "era": parties.era,
            "era_found": "initialize",
            "revision": parties.revision,
            "client_info": dumps(parties.client_info),
            "server_info": dumps(parties.server_info),
            "client_capabilities": dumps(parties.client_capabilities),
            "server_capabilities": dumps(parties.server_capabilities),
        }
