"""The form at work: keys in, arguments out, exactly as shown."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tui.stage import Stage
from workbench.core.forms import form_of
from workbench.tui.widgets.form import Form, one_line
from workbench.tui.widgets.json_area import JsonArea

pytestmark = pytest.mark.anyio

SCHEMA = {
    "type": "object",
    "properties": {
        "location": {"type": "string", "description": "Where"},
        "units": {"type": "string", "enum": ["metric", "imperial", "kelvin"]},
        "days": {"type": "integer", "default": 5, "maximum": 14},
        "alerts": {"type": "boolean"},
        "station": {"type": ["string", "null"]},
        "stops": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["location"],
}


def stage() -> Stage:
    return Stage(lambda: [Form()])


def started(app: Stage, schema: Any = SCHEMA, text: str | None = None) -> Form:
    form = app.query_one(Form)
    form.set_form(form_of(schema), text)
    form.start()
    return form


def sent(app: Stage) -> list[str]:
    return [message.text for message in app.kept(Form.Submitted)]


async def test_typing_and_enter_send_what_the_wire_line_shows() -> None:
    app = stage()
    async with app.run_test(size=(80, 24), message_hook=app.hear) as pilot:
        form = started(app)
        await pilot.press(*"San Francisco")
        assert form.wire == '{"location":"San Francisco"}'
        assert any(line.startswith("   wire") and form.wire in line for line in app.lines())
        await pilot.press("enter")
        assert sent(app) == ['{"location":"San Francisco"}']


async def test_a_choice_is_found_by_typing_and_by_arrows_and_fields_passed_through_stay_absent() -> None:
    app = stage()
    async with app.run_test(size=(80, 24), message_hook=app.hear) as pilot:
        form = started(app)
        await pilot.press("x", "tab", *"imp")
        assert form.wire == '{"location":"x","units":"imperial"}'
        await pilot.press("backspace", "backspace", "backspace")
        assert form.wire == '{"location":"x"}'
        await pilot.press("down", "down", "down")
        assert form.wire == '{"location":"x","units":"kelvin"}'
        await pilot.press("tab", "tab", "tab", "tab")
        assert form.wire == '{"location":"x","units":"kelvin"}'
        await pilot.press("shift+tab", "shift+tab", *"tr")
        assert form.wire == '{"location":"x","units":"kelvin","alerts":true}'


async def test_absent_null_and_a_value_can_each_be_had() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        form = started(app)
        seen = []
        await pilot.press("escape")
        for _ in range(4):
            seen.append(form.wire)
            await pilot.press("right")
        assert seen == ["{}", '{"location":null}', '{"location":""}', "{}"]
        await pilot.press("left", "enter", *"a", "backspace")
        assert form.wire == '{"location":""}'
        await pilot.press("backspace")
        assert form.wire == "{}"
        await pilot.press("ctrl+t")
        assert form.wire == '{"location":null}'


async def test_a_required_member_left_out_is_told_and_goes_out_at_the_second_enter() -> None:
    app = stage()
    async with app.run_test(size=(80, 24), message_hook=app.hear) as pilot:
        started(app)
        await pilot.press("tab", "tab", *"3", "enter")
        assert sent(app) == []
        assert any("location is required. Enter once more" in line for line in app.lines())
        await pilot.press("enter")
        assert sent(app) == ['{"days":3}']


async def test_what_breaks_the_schema_is_told_in_its_place() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        form = started(app)
        await pilot.press("x", "tab", "tab", *"20")
        lines = app.lines()
        at = next(at for at, line in enumerate(lines) if "days" in line)
        assert "days must be at most 14." in lines[at + 1]
        assert form.wire == '{"location":"x","days":20}'


async def test_a_field_that_is_no_json_keeps_the_form_from_being_sent() -> None:
    app = stage()
    async with app.run_test(size=(80, 24), message_hook=app.hear) as pilot:
        started(app, text='{"location":"x"}')
        await pilot.press("tab", "tab", "tab", "tab", "tab", *"[{", "enter", "enter")
        assert sent(app) == []
        assert any("stops is not JSON" in line for line in app.lines())
        await pilot.press(*"}]", "enter")
        assert sent(app) == ['{"location":"x","stops":[{}]}']


async def test_letters_are_commands_after_escape_and_text_after_enter() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        form = started(app)
        assert form.editing
        await pilot.press("escape", "q")
        assert not form.editing
        assert form.wire == "{}"
        await pilot.press("enter", "q")
        assert form.wire == '{"location":"q"}'


async def test_json_by_hand_is_sent_as_it_is_also_against_the_schema() -> None:
    app = stage()
    async with app.run_test(size=(80, 24), message_hook=app.hear) as pilot:
        form = started(app, text='{"location":"x"}')
        await pilot.press("escape", "e")
        assert form.by_hand
        area = app.query_one(JsonArea)
        area.load_text('{"location": 5, "location":1.0, "new":[]}')
        await pilot.pause()
        await pilot.press("ctrl+r")
        assert sent(app) == ['{"location": 5, "location":1.0, "new":[]}']
        area.load_text("[1,")
        await pilot.pause()
        assert any("This is not JSON" in line for line in app.lines())
        await pilot.press("ctrl+r")
        assert sent(app)[-1] == "[1,"


async def test_what_was_written_by_hand_comes_back_into_the_fields() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        form = started(app)
        await pilot.press("escape", "e")
        app.query_one(JsonArea).load_text('{\n  "location": "a",\n  "days": 7\n}')
        await pilot.pause()
        assert form.wire == '{"location":"a","days":7}'
        await pilot.press("escape")
        assert not form.by_hand
        assert form.wire == '{"location":"a","days":7}'


async def test_a_schema_without_fields_opens_as_json_and_says_why() -> None:
    union = {"oneOf": [{"properties": {"via": {"const": "mail"}}}, {"properties": {"nr": {}}}]}
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        form = started(app, union)
        await pilot.pause()
        assert form.by_hand
        assert form.wire == '{"via":"mail"}'
        assert any("The arguments take one of 2 forms" in line for line in app.lines())


async def test_a_tool_without_arguments_runs_at_once() -> None:
    app = stage()
    async with app.run_test(size=(80, 24), message_hook=app.hear) as pilot:
        started(app, {"type": "object"})
        await pilot.press("enter")
        assert sent(app) == ["{}"]


async def test_arguments_from_history_fill_the_fields_and_odd_ones_open_as_json() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        form = started(app, text='{"location":"x","days":1.0,"station":null}')
        await pilot.pause()
        assert not form.by_hand
        assert form.wire == '{"location":"x","days":1.0,"station":null}'
        form.set_form(form_of(SCHEMA), '{"location":"x","unknown":1}')
        assert form.by_hand
        assert form.wire == '{"location":"x","unknown":1}'


async def test_text_from_a_server_cannot_hide_in_the_json_editor() -> None:
    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        form = started(app, {"oneOf": [{"properties": {"a": {"const": "\x9b\u202e\U000e0041"}}}]})
        await pilot.pause()
        assert form.text == '{\n  "a": "\\u009b\\u202e\\udb40\\udc41"\n}'


MANY = {
    "type": "object",
    "properties": {f"field_{number:02}": {"type": "string"} for number in range(25)},
}


async def test_with_more_fields_than_rows_the_wire_line_and_the_current_field_stay_in_view() -> None:
    app = stage()
    async with app.run_test(size=(80, 24), message_hook=app.hear) as pilot:
        form = started(app, MANY)
        for size in ((80, 24), (60, 15), (20, 5), (120, 40)):
            await pilot.resize_terminal(*size)
            await pilot.press("tab")
            await pilot.press("z")
            await pilot.pause()
            lines = app.lines()
            assert any(line.startswith(" ›") for line in lines)
            assert any(line.startswith("   wire") for line in lines)
            assert all(len(line) <= size[0] for line in lines)
        await pilot.press("enter")
        assert sent(app) == [form.wire]


async def test_a_pasted_text_of_several_lines_is_one_value() -> None:
    from textual import events

    app = stage()
    async with app.run_test(size=(80, 24)) as pilot:
        form = started(app)
        form.query_one("FieldKeys").post_message(events.Paste("one\ntwo"))
        await pilot.pause()
        assert form.wire == '{"location":"one\\ntwo"}'
        assert any("one␊two" in line for line in app.lines())


async def test_tab_past_the_last_field_leaves_the_form() -> None:
    from textual.widget import Widget

    from workbench.tui.widgets.rows import Rows

    def both() -> list[Widget]:
        return [Rows(), Form()]

    app = Stage(both)
    async with app.run_test(size=(80, 24)) as pilot:
        form = started(app, {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}})
        await pilot.press("tab")
        assert form.editing
        await pilot.press("tab")
        assert not form.editing
        assert app.focused is app.query_one(Rows)


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ('{"a" : 1.0}', '{"a" : 1.0}'),
        ('{\n "a": "x  y",\n "b": [1, 2]\n}', '{"a":"x  y","b":[1,2]}'),
        ('{\n"a": "bro\nken"', '{"a":"bro ken"'),
        ("1\n2", "1 2"),
    ],
)
def test_text_by_hand_becomes_one_line(written: str, line: str) -> None:
    assert one_line(written) == line
