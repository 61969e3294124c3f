"""The prompts, and what is completed while a person types."""

from __future__ import annotations

from typing import Any

from workbench.demo.channel import RpcError
from workbench.demo.resources import TEMPLATES
from workbench.demo.weather import CITIES, UNITS, in_words, weather_at

JsonObject = dict[str, Any]

LISTED: list[JsonObject] = [
    {"name": "greeting", "title": "Greeting", "description": "A prompt without arguments"},
    {
        "name": "packing_list",
        "title": "Packing list",
        "description": "What to take on a trip",
        "arguments": [
            {"name": "city", "title": "City", "description": "Where to", "required": True},
            {"name": "days", "title": "Days", "description": "For how long", "required": False},
        ],
    },
    {
        "name": "compare_weather",
        "title": "Compare the weather",
        "description": "Two cities side by side, with what is known about them",
        "arguments": [
            {"name": "first", "description": "One city", "required": True},
            {"name": "second", "description": "Another city", "required": True},
        ],
    },
]

#: MCP: a completion holds at most this many values.
MOST_COMPLETIONS = 100


def get(name: str, arguments: JsonObject) -> JsonObject:
    """The messages of a prompt. Raises ``RpcError`` -32602 for an unknown one or a missing argument."""
    listed = next((prompt for prompt in LISTED if prompt["name"] == name), None)
    if listed is None:
        raise RpcError(-32602, f"There is no prompt {name}")
    for argument in listed.get("arguments", ()):
        if argument.get("required") and not arguments.get(argument["name"]):
            raise RpcError(-32602, f"The argument {argument['name']} is required")
    return {"description": listed["description"], "messages": _messages(name, arguments)}


def _messages(name: str, arguments: JsonObject) -> list[JsonObject]:
    if name == "greeting":
        return [_said("user", "Greet me in one short sentence.")]
    if name == "packing_list":
        days = arguments.get("days") or "3"
        weather = in_words(weather_at(arguments["city"]), "metric")
        return [_said("user", f"What do I pack for {days} days? The weather: {weather}")]
    both = [in_words(weather_at(arguments[key]), "metric") for key in ("first", "second")]
    return [
        _said("assistant", "Which two cities shall I compare?"),
        _said("user", f"{arguments['first']} and {arguments['second']}."),
        {
            "role": "user",
            "content": {
                "type": "resource",
                "resource": {"uri": "demo://comparison", "mimeType": "text/plain", "text": "\n".join(both)},
            },
        },
    ]


def _said(role: str, text: str) -> JsonObject:
    return {"role": role, "content": {"type": "text", "text": text}}


def complete(ref: JsonObject, argument: JsonObject, context: JsonObject) -> JsonObject:
    """Values that begin with what was typed; a second city is never the first one again."""
    candidates = _candidates(ref, str(argument.get("name", "")))
    typed = str(argument.get("value", "")).casefold()
    taken = (context.get("arguments") or {}).get("first") if argument.get("name") == "second" else None
    values = [each for each in candidates if each.casefold().startswith(typed) and each != taken]
    return {
        "completion": {
            "values": values[:MOST_COMPLETIONS],
            "total": len(values),
            "hasMore": len(values) > MOST_COMPLETIONS,
        }
    }


def _candidates(ref: JsonObject, argument: str) -> tuple[str, ...]:
    if ref.get("type") == "ref/prompt":
        known = any(prompt["name"] == ref.get("name") for prompt in LISTED)
    elif ref.get("type") == "ref/resource":
        known = any(template["uriTemplate"] == ref.get("uri") for template in TEMPLATES)
    else:
        known = False
    if not known:
        raise RpcError(-32602, "There is nothing to complete for this reference")
    if argument in ("city", "first", "second"):
        return CITIES
    if argument == "units":
        return UNITS
    if argument == "days":
        return ("1", "3", "7", "14")
    return ()
