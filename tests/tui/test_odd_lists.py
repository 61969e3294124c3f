"""A list never fails because an entry of it is odd."""

from __future__ import annotations

import pytest

from tests.servers.targets import server
from tests.tui.at_work import at_work

pytestmark = pytest.mark.anyio


async def test_every_entry_of_an_odd_list_can_be_looked_at_and_the_good_ones_called() -> None:
    async with at_work([server("lists_oddly", name="odd")], size=(120, 40)) as work:
        await work.ready()
        await work.shows("Tools 6", "(no name)", "last")
        for _ in range(6):
            await work.press("down")
        await work.press("enter", "ctrl+r")
        await work.shows("result", "called with")


async def test_two_tools_of_one_name_are_shown_as_two() -> None:
    async with at_work([server("lists_oddly", name="odd")], size=(120, 40)) as work:
        await work.ready()
        await work.shows("The first of two")
        await work.press("down")
        await work.shows("The second of two")
        await work.press("enter", "7", "enter")
        await work.until(lambda: work.sent("tools/call"))
        assert b'"arguments":{"second":7}' in work.sent("tools/call")[0]
