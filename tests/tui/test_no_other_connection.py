"""The screen connects to its targets and to nothing else, whatever they say and whatever is looked at."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from tests.cli.guarded import WATCHED
from tests.cli.test_no_other_connection import tempting
from tests.servers.http_script import serve_http
from tests.tui.at_work import at_work
from tests.wire.http_stage import target_of

pytestmark = pytest.mark.anyio


class Guard:
    """Notes where this process connects to, and what names it looks up, while it is ``on``."""

    def __init__(self) -> None:
        self.on = False
        self.places: list[str] = []

    def __call__(self, event: str, args: tuple[object, ...]) -> None:
        if self.on and event in WATCHED:
            self.places.append(repr(args[1] if event in ("socket.connect", "socket.sendto") else args[:2]))


@pytest.fixture
def guard() -> Iterator[Guard]:
    made = Guard()
    sys.addaudithook(made)  # for as long as the process lives
    yield made
    made.on = False


async def test_looking_at_everything_a_server_says_goes_nowhere_else(guard: Guard) -> None:
    methods = ("initialize", "tools/list", "tools/call", "resources/list", "resources/read")
    async with serve_http(dict.fromkeys(methods, tempting)) as site:
        guard.on = True
        async with at_work([target_of(site.url)], size=(120, 40)) as work:
            await work.ready()
            await work.shows("t")
            await work.press("enter", "enter")
            await work.until(lambda: work.desk.runs.recent(1, "tools/call"))
            await work.until(lambda: work.desk.runs.recent(1, "tools/call")[0].outcome is not None)
            await work.press(*["right_square_bracket"] * 8)
            asked = {each.method for each in site.asked}
    assert {"tools/list", "tools/call"} <= asked
    assert any(str(site.port) in each for each in guard.places)
    assert [each for each in guard.places if str(site.port) not in each] == []
