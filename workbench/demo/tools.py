"""The tools: what they are called and take, and which function answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.demo import behaviour
from workbench.demo.weather import UNITS

if TYPE_CHECKING:
    from workbench.demo.call import Call

JsonObject = dict[str, Any]

LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Tool(NamedTuple):
    """A tool: its definition for the newest revision and its function.

    ``waits`` says that the function sleeps or asks the client something, so that it has to run
    beside the reading of further messages.
    """

    definition: JsonObject
    run: Callable[[Call, JsonObject], JsonObject]
    waits: bool = False


def _tool(
    name: str,
    title: str,
    description: str,
    run: Callable[[Call, JsonObject], JsonObject],
    properties: JsonObject | None = None,
    required: tuple[str, ...] = (),
    *,
    output: JsonObject | None = None,
    hints: JsonObject | None = None,
    waits: bool = False,
) -> Tool:
    schema: JsonObject = {"type": "object", "properties": properties or {}}
    if required:
        schema["required"] = list(required)
    shape: JsonObject = {"name": name, "title": title, "description": description, "inputSchema": schema}
    if output:
        shape["outputSchema"] = output
    if hints:
        shape["annotations"] = hints
    return Tool(shape, run, waits)


_READS = {"readOnlyHint": True, "openWorldHint": False}
_CHANGES = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
_UNITS = {
    "type": "string",
    "enum": list(UNITS),
    "default": "metric",
    "description": "Scale of the temperature",
}
_LOCATION = {"type": "string", "description": "A city; any name will do"}
_REPORT = {
    "type": "object",
    "properties": {
        "location": {"type": "string"},
        "units": {"type": "string"},
        "days": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "day": {"type": "integer"},
                    "temperature": {"type": "number"},
                    "sky": {"type": "string"},
                },
                "required": ["day", "temperature", "sky"],
            },
        },
    },
    "required": ["location", "units", "days"],
}
_PLACE = {
    "type": "object",
    "properties": {"street": {"type": "string"}, "number": {"type": "integer"}},
    "required": ["street"],
}
_EVERY_KIND = {
    "text": {"type": "string", "minLength": 1, "description": "Any text"},
    "count": {"type": "integer", "minimum": 0, "maximum": 9007199254740993},
    "ratio": {"type": "number", "default": 0.5},
    "sure": {"type": "boolean", "default": True},
    "colour": {"type": "string", "enum": ["red", "green", "blue"]},
    "note": {"type": ["string", "null"], "default": None, "description": "Text, nothing, or left out"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "address": _PLACE,
    "places": {"type": "array", "items": _PLACE},
}


def standard_tools() -> dict[str, Tool]:
    """Every tool the server starts with, by name, in the order they are listed."""
    tools = [
        _tool(
            "calculator_arithmetic",
            "Calculator",
            "Works out an arithmetic expression: + - * / // % ^, parentheses, pi, sqrt, sin and the like.",
            behaviour.calculator,
            {"expression": {"type": "string", "description": "For example 2 * (3 + 4)"}},
            ("expression",),
            hints={**_READS, "idempotentHint": True},
        ),
        _tool(
            "weather_current",
            "Current weather",
            "Tells the weather at a place, in words.",
            behaviour.weather_current,
            {"location": _LOCATION, "units": _UNITS},
            ("location",),
            hints=_READS,
        ),
        _tool(
            "weather_forecast",
            "Forecast",
            "Tells the weather of the next days as structured data.",
            behaviour.weather_forecast,
            {
                "location": _LOCATION,
                "days": {"type": "integer", "minimum": 1, "maximum": 14, "default": 3},
                "units": _UNITS,
            },
            ("location",),
            output=_REPORT,
            hints=_READS,
        ),
        _tool(
            "picture",
            "Picture",
            "Draws a small picture.",
            behaviour.picture,
            {
                "side": {
                    "type": "integer",
                    "minimum": 8,
                    "maximum": 256,
                    "default": 64,
                    "description": "Pixels",
                }
            },
            hints=_READS,
        ),
        _tool(
            "every_content",
            "Every kind of content",
            "Answers with text, a picture, a sound, a link to a resource and an embedded resource.",
            behaviour.every_content,
            hints=_READS,
        ),
        _tool(
            "echo",
            "Echo",
            "Gives back its arguments as JSON; its form has a field of every kind.",
            behaviour.echo,
            _EVERY_KIND,
            ("text",),
            hints=_READS,
        ),
        _tool(
            "fail",
            "Fail",
            "Always fails: the result is an error of the tool.",
            behaviour.fail,
            {"message": {"type": "string", "default": "this tool always fails"}},
            hints=_READS,
        ),
        _tool(
            "break_down",
            "Break down",
            "Always answers with an error of the protocol instead of a result.",
            behaviour.break_down,
            {"code": {"type": "integer", "default": -32603}},
            hints=_READS,
        ),
        _tool(
            "long_operation",
            "Long operation",
            "Takes its time and tells its progress.",
            behaviour.long_operation,
            {
                "duration": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": 600,
                    "default": 5,
                    "description": "Seconds",
                },
                "steps": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 5},
            },
            hints=_READS,
            waits=True,
        ),
        _tool(
            "ask_for_name",
            "Ask for a name",
            "Asks the user for a name with a form, and greets.",
            behaviour.ask_for_name,
            hints=_READS,
            waits=True,
        ),
        _tool(
            "sample",
            "Ask the model",
            "Asks the client's model a question and gives back the answer.",
            behaviour.sample,
            {
                "prompt": {"type": "string"},
                "max_tokens": {"type": "integer", "minimum": 1, "maximum": 4096, "default": 100},
            },
            ("prompt",),
            hints={"readOnlyHint": True, "openWorldHint": True},
            waits=True,
        ),
        _tool(
            "read_roots",
            "Read the roots",
            "Asks the client which folders the server may use.",
            behaviour.read_roots,
            hints=_READS,
            waits=True,
        ),
        _tool(
            "add_a_tool",
            "Add a tool",
            "Adds one more tool; the client is told that the list changed.",
            behaviour.add_a_tool,
            {"name": {"type": "string", "default": "surprise", "description": "Letters, digits, _ and -"}},
            hints=_CHANGES,
        ),
        _tool(
            "write_log",
            "Write a log message",
            "Sends a log message to the client, if its level is not below the one that was set.",
            behaviour.write_log,
            {
                "level": {"type": "string", "enum": list(LOG_LEVELS), "default": "warning"},
                "message": {"type": "string", "default": "something worth knowing"},
            },
            hints=_READS,
        ),
        _tool(
            "count",
            "Count",
            "Raises the counter; whoever subscribed to demo://counter is told.",
            behaviour.count,
            {"by": {"type": "integer", "default": 1}},
            hints=_CHANGES,
        ),
    ]
    return {tool.definition["name"]: tool for tool in tools}


def added_tool(name: str) -> Tool:
    return _tool(name, name, "A tool that was added while the server ran.", behaviour.added, hints=_READS)
