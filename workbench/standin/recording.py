"""What a stand-in is asked for: which command, and of what to make the recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Command(NamedTuple):
    """What to start. ``env`` is put over the environment that is inherited."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str | None] = {}
    cwd: str | None = None

    @property
    def words(self) -> list[str]:
        return [self.command, *self.args]


class Recording(NamedTuple):
    """Of what a recording is made, and where. Without ``path`` it is a new file in the user's
    store. Without ``name`` one is found in the command, which is then the only connection; where there
    is no command, connections come as they are told. ``force`` replaces a file that exists."""

    command: Command | None
    path: str | None = None
    name: str = ""
    group: str | None = None
    redact: bool = True
    force: bool = False
