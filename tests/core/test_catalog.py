"""Listings: read page by page, replaced whole, and what changed stays marked."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.frames import Tape
from workbench.core.fold import ConnectionFold, ConnectionView, Item
from workbench.core.jsonrpc import INLINE_BYTES
from workbench.core.listing import MAX_ITEMS, MAX_REMOVED


class Server:
    """A server whose lists the test sets; ``view`` is what is shown of it."""

    def __init__(self, capabilities: Any = None) -> None:
        self.tape = Tape()
        offered = {"tools": {}, "resources": {}, "prompts": {}} if capabilities is None else capabilities
        self.tape.handshake(offered)
        self.fold = ConnectionFold(1)
        self.seen = 0
        self.next_id = 1

    def ask(self, method: str = "tools/list", cursor: str | None = None) -> int:
        self.next_id += 1
        self.tape.ask(self.next_id, method, None if cursor is None else {"cursor": cursor})
        return self.next_id

    def list(self, result: Any, method: str = "tools/list", cursor: str | None = None) -> ConnectionView:
        self.tape.reply(self.ask(method, cursor), result)
        return self.view

    def tools(self, *tools: Any, **more: Any) -> ConnectionView:
        return self.list({"tools": [named(tool) for tool in tools], **more})

    @property
    def view(self) -> ConnectionView:
        for frame in self.tape.frames[self.seen :]:
            self.fold.advance(frame)
        self.seen = len(self.tape.frames)
        return self.fold.snapshot()


def named(tool: Any) -> Any:
    return {"name": tool} if isinstance(tool, str) else tool


def changes(items: tuple[Item, ...]) -> list[tuple[str, str]]:
    return [(item.name, item.change) for item in items]


@pytest.fixture
def server() -> Server:
    return Server()


def test_a_tool_is_shown_with_title_signature_and_marks(server: Server) -> None:
    tool = {
        "name": "search",
        "title": "Search",
        "description": "Finds things.",
        "inputSchema": {"properties": {"q": {"type": "string"}}, "required": ["q"]},
        "annotations": {
            "readOnlyHint": True,
            "destructiveHint": False,
            "idempotentHint": True,
            "title": "Other",
        },
        "execution": {"taskSupport": "optional"},
        "icons": [{"src": "data:"}],
    }
    (item,) = server.tools(tool).tools
    assert item == Item(
        "tool", "search", "Search", "Finds things.", tool, "q: string", ("read-only", "idempotent", "task")
    )


def test_resources_templates_and_prompts_are_called_by_what_names_them(server: Server) -> None:
    server.list(
        {"resources": [{"uri": "file:///a", "name": "a", "mimeType": "text/plain"}]}, "resources/list"
    )
    server.list({"resourceTemplates": [{"uriTemplate": "x://{id}", "name": "x"}]}, "resources/templates/list")
    view = server.list({"prompts": [{"name": "p", "arguments": [{"name": "topic"}]}]}, "prompts/list")
    told = [(i.kind, i.name, i.title, i.signature) for i in (*view.resources, *view.templates, *view.prompts)]
    assert told == [
        ("resource", "file:///a", "a", "text/plain"),
        ("template", "x://{id}", "x", ""),
        ("prompt", "p", "p", "topic?"),
    ]
    assert view.listed == {"resources/list", "resources/templates/list", "prompts/list"}


def test_the_title_is_the_tools_own_then_the_annotations_then_the_name(server: Server) -> None:
    view = server.tools(
        {"name": "a", "annotations": {"title": "A!"}}, {"name": "b", "title": ""}, {"title": 7}
    )
    assert [tool.title for tool in view.tools] == ["A!", "b", "(no name)"]


@pytest.mark.parametrize("odd", [None, 7, "x", [], {}, {"name": 7}, {"name": "", "inputSchema": 7}])
def test_one_odd_entry_does_not_hide_the_others(server: Server, odd: Any) -> None:
    tools = server.list({"tools": [{"name": "a"}, odd, {"name": "b"}]}).tools
    assert [tool.name for tool in tools] == ["a", "", "b"]
    assert "invalid" in tools[1].marks


def test_the_first_listing_shows_its_pages_as_they_come(server: Server) -> None:
    assert changes(server.tools("a", nextCursor="2").tools) == [("a", "")]
    assert not server.view.listed
    view = server.list({"tools": [named("b")]}, cursor="2")
    assert changes(view.tools) == [("a", ""), ("b", "")]
    assert view.listed == {"tools/list"}


def test_a_later_listing_replaces_the_one_before_when_it_is_complete(server: Server) -> None:
    server.tools("a", "b")
    assert changes(server.tools("a", nextCursor="2").tools) == [("a", ""), ("b", "")]
    view = server.list({"tools": [named("c")]}, cursor="2")
    assert changes(view.tools) == [("a", ""), ("c", "added"), ("b", "removed")]


def test_an_empty_cursor_leads_to_the_next_page_and_null_ends(server: Server) -> None:
    server.tools("a", nextCursor="")
    view = server.list({"tools": [named("b")], "nextCursor": None}, cursor="")
    assert [tool.name for tool in view.tools] == ["a", "b"]
    assert view.listed


def test_a_cursor_that_loops_ends_the_listing(server: Server) -> None:
    server.tools("a", nextCursor="1")
    view = server.list({"tools": [named("b")], "nextCursor": "1"}, cursor="1")
    assert [tool.name for tool in view.tools] == ["a", "b"]
    assert view.listed


def test_a_page_asked_for_by_itself_changes_no_list(server: Server) -> None:
    server.tools("a")
    view = server.list({"tools": [named("z")]}, cursor="elsewhere")
    assert changes(view.tools) == [("a", "")]


def test_two_listings_at_once_do_not_mix(server: Server) -> None:
    one, other = server.ask(), server.ask("resources/list")
    server.tape.reply(other, {"resources": [{"uri": "r:"}], "nextCursor": "2"})
    server.tape.reply(one, {"tools": [named("a")], "nextCursor": "2"})
    view = server.list({"resources": [{"uri": "s:"}]}, "resources/list", "2")
    assert ([item.name for item in view.resources], [item.name for item in view.tools]) == (
        ["r:", "s:"],
        ["a"],
    )


def test_changes_are_marked_and_stay_marked_when_the_list_is_read_again(server: Server) -> None:
    server.tools("a", "b", {"name": "c", "description": "old"})
    wanted = [("a", ""), ("c", "changed"), ("d", "added"), ("b", "removed")]
    new = ("a", {"name": "c", "description": "new"}, "d")
    assert changes(server.tools(*new).tools) == wanted
    assert changes(server.tools(*new).tools) == wanted


def test_a_removed_tool_that_comes_back_is_added(server: Server) -> None:
    server.tools("a", "b")
    server.tools("a")
    assert changes(server.tools("a", "b").tools) == [("a", ""), ("b", "added")]


def test_tools_of_the_same_name_are_compared_in_their_order(server: Server) -> None:
    server.tools("a", {"name": "a", "title": "2"})
    assert changes(server.tools("a", {"name": "a", "title": "3"}).tools) == [("a", ""), ("a", "changed")]


def test_a_capability_that_is_offered_but_not_there_is_told(server: Server) -> None:
    server.tape.fail(server.ask("resources/list"), -32601, "Method not found")
    server.tools("a")
    view = server.view
    told = view.list_errors["resources/list"]
    assert told == "The server offers resources, but answered: Method not found (-32601)"
    assert [tool.name for tool in view.tools] == ["a"]


def test_a_capability_that_is_there_but_not_offered_is_told() -> None:
    view = Server({}).tools("a")
    assert view.list_notes == {"tools/list": "The server does not offer tools, but lists tools."}
    assert [tool.name for tool in view.tools] == ["a"]


@pytest.mark.parametrize("result", [None, [], {}, {"tools": None}, {"tools": {"a": 1}}])
def test_a_result_without_a_list_is_an_error_of_that_list_and_keeps_the_old_one(
    server: Server, result: Any
) -> None:
    server.tools("a")
    view = server.list(result)
    assert "tools" in view.list_errors["tools/list"]
    assert changes(view.tools) == [("a", "")]


def test_an_error_of_a_list_goes_with_its_next_good_answer(server: Server) -> None:
    server.tape.fail(server.ask(), -32603, "Internal")
    assert server.view.list_errors == {"tools/list": "Internal (-32603)"}
    assert server.tools("a").list_errors == {}


def test_a_listing_larger_than_what_is_parsed_at_once_is_read(server: Server) -> None:
    tools = [
        {"name": f"t{number}", "description": "x" * 1_000} for number in range(2 * INLINE_BYTES // 1_000)
    ]
    big = {"name": "big", "description": "y" * 2_000_000}
    view = server.list({"tools": [*tools, big], "nextCursor": "more"})
    assert [tool.name for tool in view.tools] == [tool["name"] for tool in [*tools, big]]
    assert view.tools[0].value == tools[0]
    assert view.tools[-1].value == {"name": "big"}
    assert not view.listed


def test_lists_do_not_grow_without_bound_and_say_what_is_left_out(server: Server) -> None:
    view = server.tools(*(f"t{number}" for number in range(MAX_ITEMS + 7)))
    assert len(view.tools) == MAX_ITEMS
    assert view.list_notes == {"tools/list": "7 more are not shown."}
    view = server.tools("only")
    assert len(view.tools) == 1 + MAX_REMOVED
