"""What a mock server leaves behind: the reports on disk, and a word on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from typing import Any

from workbench.core.jsonrpc import dumps
from workbench.errors import RecordingError
from workbench.replay.report import sentence

#: Misses that are told on stderr.
MOST_TOLD = 10


class ReportFiles:
    """The reports on disk: whole at any moment, because a new one takes the place of the old.

    ``value`` makes the report; ``report`` and ``junit`` are the paths, where there is to be one.
    Raises ``RecordingError`` for a path that cannot be written.
    """

    def __init__(self, value: Callable[[], dict[str, Any]], report: str | None, junit: str | None) -> None:
        self._value = value
        self._report = report
        self._junit = junit
        self._failed = False
        try:
            self._put()
        except OSError as error:
            raise RecordingError(
                f"The report {error.filename2 or error.filename} cannot be written ({error.strerror}); "
                "choose another place."
            ) from None

    def write(self) -> None:
        """Write what is known now; trouble is told once and stops nothing."""
        try:
            self._put()
        except OSError as error:
            if not self._failed:
                sys.stderr.write(f"mcp-workbench: the report cannot be written ({error.strerror})\n")
            self._failed = True

    def _put(self) -> None:
        if self._report is None and self._junit is None:
            return
        value = self._value()
        if self._report is not None:
            replace(self._report, dumps(value) + "\n")
        if self._junit is not None:
            from workbench.replay.junit import document

            replace(self._junit, document([value]))


def replace(path: str, text: str) -> None:
    """Put a text in a file's place at once. Raises ``OSError``."""
    beside = f"{path}.{os.getpid()}"
    with open(beside, "w", encoding="utf-8", errors="backslashreplace") as out:
        out.write(text)
    os.replace(beside, path)


def tell(misses: Iterable[dict[str, Any]], missed: int, differing: int, unused: Callable[[], int]) -> None:
    """A word on stderr about what did not agree. ``unused`` counts what is asked for in vain."""
    listed = list(misses)[:MOST_TOLD]
    told = [f"miss: {sentence(miss)}" for miss in listed]
    if missed > len(listed):
        told.append(f"and {missed - len(listed)} misses more")
    if differing:
        told.append(f"{differing} answers of the client were not the recorded ones")
    if not told:
        told.append(f"{unused()} recorded requests were not asked for")
    from workbench.core.printable import printable

    sys.stderr.write("".join(f"{printable(line)}\n" for line in told))
