"""One stand-in of one test, from its fixture's beginning to its end: what it gives, and the verdict."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import pytest

from workbench.errors import WorkbenchError
from workbench.pytest_plugin import RECORDED
from workbench.pytest_plugin.artifacts import leave, open_lines, place
from workbench.pytest_plugin.marked import Marked, marked
from workbench.pytest_plugin.verdict import told


class StandIn(Protocol):
    """What stands where a server stood. ``value`` is what the fixture gives to the test."""

    value: Any

    def report(self) -> dict[str, Any] | None:
        """What happened so far, ``None`` where there is no recording to hold it against."""
        ...

    def recordings(self) -> list[str]:
        """The paths of what was recorded, as far as it is there."""
        ...

    def close(self, *, kept: bool) -> str:
        """End it. ``kept``: what was recorded becomes the test's recording; returns what to tell of that."""
        ...


class Acting:
    """Stands in for the server of a test. Raises what fails the setup of a test."""

    def __init__(self, request: pytest.FixtureRequest, kind: str, shared: dict[str, list[str]]) -> None:
        self._item = request.node
        self._place = place(request.config, request.node.nodeid)
        self._outcome = ""
        self._said = False
        with _plainly():
            self._marked = marked(request.node)
            self._folder = str(request.getfixturevalue("tmp_path_factory").mktemp("mcp"))
            self._stand_in = _made(request, kind, self._marked, self._folder, shared)
        self.value = self._stand_in.value

    def check(self) -> None:
        """Fail the test if what it asked for was not recorded, or what was recorded not asked for."""
        text = "" if self._said else told(self._marked, self._stand_in.report())
        if text:
            self._said = True
            pytest.fail(text, pytrace=False)

    def ended(self, outcome: str) -> str:
        """The test has passed, failed or was skipped; returns what to show beside the reason."""
        self._outcome = outcome
        if outcome != "failed":
            return ""
        text = "" if self._said else told(self._marked, self._stand_in.report())
        return "\n".join(filter(None, (text, *open_lines(self._stand_in.recordings(), self._place))))

    def end(self) -> None:
        """The test is over, and whatever used the stand-in as well. Fails for what came to light since."""
        try:
            with _plainly():
                recorded = self._stand_in.close(kept=self._outcome == "passed")
            if recorded:
                self._item.user_properties.append((RECORDED, recorded))
            if self._outcome == "passed":
                self.check()
        finally:
            if self._outcome == "failed" or self._said:
                leave(self._stand_in.recordings(), self._stand_in.report(), self._place)
            shutil.rmtree(self._folder, ignore_errors=True)


def _made(
    request: pytest.FixtureRequest, kind: str, how: Marked, folder: str, shared: dict[str, list[str]]
) -> StandIn:
    mode = request.config.getoption("mcp_record")
    there = os.path.exists(how.path)
    if mode in ("all", "new_episodes") or (mode == "once" and not there):
        others = [each for each in shared.get(how.name, ()) if each != request.node.nodeid]
        if others:
            raise pytest.UsageError(
                f"{others[0]} records {how.name} as well; give each test a recording of its own, "
                "or record with one of them alone."
            )
        if mode == "new_episodes" and there:
            from workbench.pytest_plugin.adding import adding

            return adding(kind, how, request.getfixturevalue("mcp_server"), folder)
        from workbench.pytest_plugin.taking import taking

        return taking(kind, how, request.getfixturevalue("mcp_server"), folder)
    if not there:
        raise pytest.UsageError(
            f"There is no recording {os.path.relpath(how.path)}; make it with --mcp-record=once, "
            f"or keep one with mcp-workbench sessions keep last {how.name}."
        )
    from workbench.pytest_plugin.replaying import replaying

    return replaying(kind, how, folder)


@contextmanager
def _plainly() -> Iterator[None]:
    """Whatever is wrong with a recording or an option fails a test with its sentence, and no traceback."""
    try:
        yield
    except (WorkbenchError, pytest.UsageError) as error:
        pytest.fail(str(error), pytrace=False)
