"""Questions of each kind, as a server asks them in a call: for tests and for pictures of the inbox."""

from __future__ import annotations

import json
from typing import Any

from tests.servers.targets import server
from workbench.config import Target
from workbench.core.jsonrpc import dumps
from workbench.tui.desk import Desk

Step = dict[str, Any]

ANY = {
    "roots": {"listChanged": True},
    "sampling": {"tools": {}},
    "elicitation": {"form": {}, "url": {}},
}

COLOURS = [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}]

#: A field of every kind that a form can have.
EVERY_KIND: dict[str, Any] = {
    "name": {"type": "string", "minLength": 2, "maxLength": 9},
    "mail": {"type": "string", "format": "email", "title": "Where to write to"},
    "day": {"type": "string", "format": "date", "default": "2026-12-01"},
    "ratio": {"type": "number", "minimum": 0},
    "count": {"type": "integer", "minimum": 1, "maximum": 5, "default": 3},
    "sure": {"type": "boolean", "default": True},
    "size": {"type": "string", "enum": ["small", "large"]},
    "unit": {"type": "string", "enum": ["m", "i"], "enumNames": ["Metric", "Imperial"]},
    "colour": {"type": "string", "oneOf": COLOURS},
    "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "maxItems": 2},
    "paint": {"type": "array", "items": {"anyOf": COLOURS}, "minItems": 1, "default": ["g"]},
}

#: Messages of every kind that a model can be asked with.
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]},
    {"role": "assistant", "content": {"type": "tool_use", "id": "u1", "name": "find", "input": {"q": 1}}},
    {
        "role": "user",
        "content": {
            "type": "tool_result",
            "toolUseId": "u1",
            "content": [{"type": "text", "text": "nothing"}],
        },
    },
]
FIND = {"name": "find", "description": "Finds", "inputSchema": {"type": "object", "properties": {"q": {}}}}


def target(name: str = "told", **options: Any) -> Target:
    """A server that does in a call what the call says."""
    return server("does_as_told", name=name, capabilities=ANY, **options)


def needs_links() -> Target:
    """A server whose tool wants a URL opened first."""
    link = {"mode": "url", "elicitationId": "e", "url": "http://x.org/in", "message": "Log in first"}
    error = {"code": -32042, "message": "URL needed", "data": {"elicitations": [link]}}
    return server("does_as_told", '{"tools": {}}', json.dumps({"tools/call": error}), name="told")


def asking(id: int, method: str, **params: Any) -> Step:
    return {"send": {"id": id, "method": method, "params": params}}


def elicit(id: int, message: str = "?", required: tuple[str, ...] = (), **properties: Any) -> Step:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return asking(id, "elicitation/create", message=message, requestedSchema=schema)


def elicit_url(id: int, url: str, message: str = "Log in") -> Step:
    return asking(id, "elicitation/create", mode="url", message=message, url=url, elicitationId="e1")


def sample(id: int, text: str = "Hi", **more: Any) -> Step:
    messages = [{"role": "user", "content": {"type": "text", "text": text}}]
    return asking(id, "sampling/createMessage", **({"messages": messages, "maxTokens": 100} | more))


def sample_all(id: int) -> Step:
    """A request to a model with everything in it."""
    return sample(
        id,
        messages=MESSAGES,
        maxTokens=64,
        systemPrompt="Be terse",
        modelPreferences={"hints": [{"name": "small"}], "speedPriority": 0.9},
        tools=[FIND],
        toolChoice={"mode": "auto"},
    )


QUESTIONS: dict[str, list[Step]] = {
    "form": [elicit(7, "Tell us where to send it, and how it is to look.", ("name",), **EVERY_KIND)],
    "url": [elicit_url(7, f"http://xn--80ak6aa92e.com/{'sign-in/' * 14}?state=8f14e45f", "Sign in to go on")],
    "sampling": [sample_all(7)],
    "several": [
        elicit(1, "Whom shall I greet?", name={"type": "string"}),
        sample(2, "What is the weather like in Oslo?"),
        elicit_url(3, "https://example.com/sign-in"),
    ],
}


def call(desk: Desk, *steps: Step, connection: int = 1) -> None:
    """Call the tool that does this."""
    params = {"name": "echo", "arguments": {"text": json.dumps(steps)}}
    desk.call(connection, "echo", "tools/call", dumps(params))


def ask(desk: Desk, name: str) -> None:
    """Have the first connection ask, and wait for all answers."""
    steps = QUESTIONS[name]
    call(desk, *steps, *({"answer": step["send"]["id"]} for step in steps))
