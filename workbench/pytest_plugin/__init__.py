"""The pytest plugin: recordings stand in for servers in the tests of any project.

    @pytest.mark.mcp_recording("weather", strict=True)
    async def test_forecast(mcp_streams):
        async with mcp_streams() as (read, write), ClientSession(read, write) as client: ...

Pytest imports this in every project where it is installed, so nothing is loaded
here before a test asks for a recording. How it is used is told in ``docs/replay.md``.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from workbench.pytest_plugin.acting import Acting

MARKER = "mcp_recording"

#: What ``--mcp-record`` can be, and which of them may reach a live server.
MODES = ("none", "once", "new_episodes", "all")

_ACTING: pytest.StashKey[list[Acting]] = pytest.StashKey()
_SHARED: pytest.StashKey[dict[str, list[str]]] = pytest.StashKey()

#: Under which name a report carries what was recorded, from the process of a test to the one that tells.
RECORDED = "mcp_recorded"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mcp", "recordings in place of MCP servers")
    group.addoption(
        "--mcp-record",
        choices=MODES,
        default="none",
        help="none (the default): replay only; once: record what has no recording yet; new_episodes: "
        "also add what a recording has no answer for; all: record anew",
    )
    group.addoption(
        "--mcp-artifacts",
        metavar="DIR",
        default="mcp-artifacts",
        help="where the replays of tests that fail are left as recordings (mcp-artifacts)",
    )
    parser.addini("mcp_sessions", "the folder of the recordings, seen from the rootdir", default="sessions")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{MARKER}(name, *, strict, match, ignore, fault, after, on_answer, order, timing, connection, "
        "transport, server): the recording that mcp_command, mcp_url and mcp_streams replay to this test",
    )


def pytest_collection_finish(session: pytest.Session) -> None:
    """Note which tests share a recording: only one of them may record it."""
    if session.config.getoption("mcp_record") == "none":
        return
    shared: dict[str, list[str]] = {}
    for item in session.items:
        marker = item.get_closest_marker(MARKER)
        if marker is not None and marker.args:
            shared.setdefault(str(marker.args[0]), []).append(item.nodeid)
    session.config.stash[_SHARED] = shared


@pytest.fixture
def mcp_server() -> Any:
    """The live server that is recorded, where the marker names none: a command as a list of words, or a
    URL. Projects override it."""
    return None


@pytest.fixture
def mcp_command(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """The words of a command that is an MCP server over stdio: the recording."""
    yield from _act(request, "command")


@pytest.fixture
def mcp_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an MCP server over HTTP: the recording."""
    yield from _act(request, "url")


@pytest.fixture
def mcp_streams(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Makes the pair of streams of a client of the official SDK, at whose other end is the recording:
    ``async with mcp_streams() as (read, write)``. Each call is a client of its own."""
    yield from _act(request, "streams")


def _act(request: pytest.FixtureRequest, kind: str) -> Iterator[Any]:
    from workbench.pytest_plugin.acting import Acting

    item = request.node
    shared = request.config.stash.get(_SHARED, {})
    acting = Acting(request, kind, shared)
    item.stash.setdefault(_ACTING, []).append(acting)
    try:
        yield acting.value
    finally:
        item.stash[_ACTING].remove(acting)
        acting.end()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """A test that goes well although the recording had no answer for it fails."""
    outcome = yield
    for acting in item.stash.get(_ACTING, ()):
        acting.check()
    return outcome


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "call" or report.failed:
        for acting in item.stash.get(_ACTING, ()):
            told = acting.ended(report.outcome)
            if told:
                report.sections.append(("MCP recording", told))
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tell what was recorded, whichever process did it."""
    reports = [each for several in terminalreporter.stats.values() for each in several]
    told = [
        text
        for report in reports
        if getattr(report, "when", "") == "teardown"
        for name, text in report.user_properties
        if name == RECORDED
    ]
    if told:
        terminalreporter.section("MCP recordings")
        for text in told:
            terminalreporter.line(text)
