"""``--mcp-record=new_episodes``: a live server answers what is new, and that is added."""

from __future__ import annotations

import glob
import os
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Any

from workbench.errors import ConnectionFailed, RecordingError
from workbench.keep import check
from workbench.pytest_plugin.marked import Marked
from workbench.pytest_plugin.replaying import Command
from workbench.pytest_plugin.taking import PATIENCE, put_in_place, server_of, streams_of, target_words

if TYPE_CHECKING:
    from workbench.pytest_plugin.acting import StandIn

#: How long a mock may take until clients can come (seconds).
START = 60.0

#: How often to look (seconds).
_LOOK = 0.02


def adding(kind: str, how: Marked, server: Any, folder: str) -> StandIn:
    """What stands in. Raises ``pytest.UsageError`` where no live server is named."""
    kinds: dict[str, Callable[[Marked, Any, str], StandIn]] = {
        "command": _Command,
        "url": _Site,
        "streams": _Streams,
    }
    return kinds[kind](how, server_of(how, server), folder)


class _Command(Command):
    """Everything happens to a copy, which takes the recording's place when the test has passed."""

    def __init__(self, how: Marked, server: Any, folder: str) -> None:
        self._place = how.path
        self._copy = os.path.join(folder, os.path.basename(how.path))
        shutil.copyfile(how.path, self._copy)
        super().__init__(how._replace(path=self._copy), folder)
        line = shlex.join(target_words(how, server))
        self.value = [*self.value[:-1], "--on-miss", "record", "--live", line, self.value[-1]]

    def report(self) -> dict[str, Any] | None:
        """Nobody is held to a recording that was not used."""
        return super().report() if self._written("json") else None

    def close(self, *, kept: bool) -> str:
        self._wait()
        with open(self._copy, "rb") as now, open(self._place, "rb") as before:
            if not kept or now.read() == before.read():
                return ""
        checked = "; ".join(str(each.verdict) for each in check(self._copy))
        put_in_place(self._copy, self._place)
        return f"added to {os.path.relpath(self._place)}: {checked}"

    def _wait(self) -> None:
        """Until every mock that was started has ended, because it adds then. Raises ``RecordingError``."""
        until = time.monotonic() + PATIENCE
        for path in glob.glob(os.path.join(glob.escape(self._folder), "replay-*.json")):
            pid = int(os.path.basename(path)[len("replay-") : -len(".json")])
            while _runs(pid):
                if time.monotonic() > until:
                    raise RecordingError(
                        f"The mock of {self._how.name} has not ended: end the client before the test ends."
                    )
                time.sleep(_LOOK)


class _Site(_Command):
    """Over HTTP the mock is a process too, which is ended with the test."""

    def __init__(self, how: Marked, server: Any, folder: str) -> None:
        super().__init__(how, server, folder)
        ready = os.path.join(folder, "url.txt")
        where = ["--listen", "127.0.0.1:0", "--ready-file", ready, "--transport", how.transport]
        complaints = os.path.join(folder, "stderr.txt")
        with open(complaints, "wb") as stderr:
            self._process = subprocess.Popen(
                [*self.value[:-1], *where, self.value[-1]],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
            )
        until = time.monotonic() + START
        while not os.path.exists(ready):
            if self._process.poll() is not None or time.monotonic() > until:
                self._process.kill()
                with open(complaints, encoding="utf-8", errors="replace") as file:
                    raise ConnectionFailed(f"The mock did not start: {file.read().strip()}")
            time.sleep(_LOOK)
        with open(ready, encoding="utf-8") as file:
            self.value = file.read().strip()

    def close(self, *, kept: bool) -> str:
        self._process.terminate()
        self._process.wait()
        return super().close(kept=kept)


class _Streams(_Command):
    def __init__(self, how: Marked, server: Any, folder: str) -> None:
        super().__init__(how, server, folder)
        self._command = self.value
        self.value = self._streams

    def _streams(self) -> AbstractAsyncContextManager[Any]:
        return streams_of(self._command)


def _runs(pid: int) -> bool:
    if os.path.isdir("/proc/self"):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                # One that has ended, and that nobody has asked how, is gone all the same.
                return file.read().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False
    with suppress(OSError):
        os.kill(pid, 0)
        return True
    return False
