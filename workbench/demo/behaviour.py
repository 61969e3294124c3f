"""What the tools do. Each takes the running call and its (checked) arguments."""

from __future__ import annotations

import base64
import json
import re
from typing import TYPE_CHECKING, Any

from workbench.demo import pictures, resources
from workbench.demo.arithmetic import ArithmeticProblem, as_text, calculate
from workbench.demo.channel import RpcError
from workbench.demo.weather import as_data, in_words, temperature, weather_at

if TYPE_CHECKING:
    from workbench.demo.call import Call

JsonObject = dict[str, Any]


def text(what: str) -> JsonObject:
    return {"content": [{"type": "text", "text": what}]}


def failure(why: str) -> JsonObject:
    return {"content": [{"type": "text", "text": why}], "isError": True}


def calculator(_call: Call, arguments: JsonObject) -> JsonObject:
    expression = arguments["expression"]
    try:
        return text(f"{expression} = {as_text(calculate(expression))}")
    except ArithmeticProblem as why:
        return failure(f"Cannot calculate: {why}")


def weather_current(_call: Call, arguments: JsonObject) -> JsonObject:
    if not arguments["location"].strip():
        return failure("A location is needed: name a city")
    return text(in_words(weather_at(arguments["location"]), arguments.get("units", "metric")))


def weather_forecast(_call: Call, arguments: JsonObject) -> JsonObject:
    units = arguments.get("units", "metric")
    days = []
    for day in range(1, int(arguments.get("days", 3)) + 1):
        weather = weather_at(arguments["location"], day)
        days.append({"day": day, "temperature": temperature(weather.celsius, units), "sky": weather.sky})
    data = {"location": arguments["location"], "units": units, "days": days}
    return {**text(json.dumps(data, ensure_ascii=False)), "structuredContent": data}


def _image(side: int) -> JsonObject:
    data = base64.b64encode(pictures.png(side)).decode()
    return {"type": "image", "data": data, "mimeType": pictures.PNG}


def picture(_call: Call, arguments: JsonObject) -> JsonObject:
    return {"content": [_image(int(arguments.get("side", 64)))]}


def every_content(_call: Call, _arguments: JsonObject) -> JsonObject:
    sound = base64.b64encode(pictures.wav()).decode()
    link = {"type": "resource_link", "uri": resources.README, "name": "readme", "mimeType": "text/markdown"}
    embedded = json.dumps(as_data(weather_at("Oslo"), "metric"), ensure_ascii=False)
    return {
        "content": [
            {"type": "text", "text": "One block of every kind:", "annotations": {"audience": ["user"]}},
            _image(16),
            {"type": "audio", "data": sound, "mimeType": pictures.WAV},
            link,
            {
                "type": "resource",
                "resource": {"uri": "weather://Oslo", "mimeType": "application/json", "text": embedded},
            },
        ]
    }


def echo(_call: Call, arguments: JsonObject) -> JsonObject:
    return text(json.dumps(arguments, ensure_ascii=False, indent=2))


def fail(_call: Call, arguments: JsonObject) -> JsonObject:
    return failure(arguments.get("message", "this tool always fails"))


def break_down(_call: Call, arguments: JsonObject) -> JsonObject:
    raise RpcError(
        int(arguments.get("code", -32603)), "The demo broke down, as it was asked to", {"tool": "break_down"}
    )


def long_operation(call: Call, arguments: JsonObject) -> JsonObject:
    duration, steps = float(arguments.get("duration", 5)), int(arguments.get("steps", 5))
    for step in range(1, steps + 1):
        call.cancellation.sleep(duration / steps)
        call.progress(step, steps, f"step {step} of {steps}")
    return text(f"Done: {steps} steps in {duration:g} s")


def ask_for_name(call: Call, _arguments: JsonObject) -> JsonObject:
    if "elicitation" not in call.client_capabilities:
        return failure("The client cannot be asked: it did not declare elicitation")
    form: JsonObject = {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Your name", "minLength": 1, "maxLength": 60},
            "manner": {"type": "string", "title": "Manner", "enum": ["plain", "warm", "formal"]},
            "loud": {"type": "boolean", "title": "In capitals", "default": False},
        },
        "required": ["name"],
    }
    answer = call.ask("elicitation/create", {"message": "Whom shall I greet?", "requestedSchema": form})
    if answer.get("action") != "accept":
        return text(f"No name was given ({answer.get('action')})")
    content = answer.get("content") or {}
    opening = {"warm": "How good to see you", "formal": "Good day"}.get(content.get("manner", ""), "Hello")
    greeting = f"{opening}, {content.get('name', 'nobody')}!"
    return text(greeting.upper() if content.get("loud") else greeting)


def sample(call: Call, arguments: JsonObject) -> JsonObject:
    if "sampling" not in call.client_capabilities:
        return failure("The client has no model to ask: it did not declare sampling")
    message = {"role": "user", "content": {"type": "text", "text": arguments["prompt"]}}
    answer = call.ask(
        "sampling/createMessage",
        {"messages": [message], "maxTokens": arguments.get("max_tokens", 100), "temperature": 0},
    )
    content = answer.get("content")
    said = content.get("text", content) if isinstance(content, dict) else content
    return text(f"{answer.get('model', 'the model')} said: {said}")


def read_roots(call: Call, _arguments: JsonObject) -> JsonObject:
    if "roots" not in call.client_capabilities:
        return failure("The client has no roots: it did not declare them")
    roots = call.ask("roots/list", None).get("roots") or []
    lines = [f"{root.get('uri')} {root.get('name', '')}".strip() for root in roots if isinstance(root, dict)]
    return text("\n".join(lines) or "The client has no roots")


def add_a_tool(call: Call, arguments: JsonObject) -> JsonObject:
    name = arguments.get("name", "surprise")
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
        return failure(f"{name!r} is no name for a tool: use letters, digits, _ and -")
    if not call.add_tool(name):
        return failure(f"There is a tool {name} already")
    return text(f"Added the tool {name}")


def added(call: Call, _arguments: JsonObject) -> JsonObject:
    return text(f"This is {call.name}, added while the server ran")


def write_log(call: Call, arguments: JsonObject) -> JsonObject:
    level = arguments.get("level", "warning")
    sent = call.log(level, arguments.get("message", "something worth knowing"))
    return text(f"Sent a message of level {level}" if sent else f"Kept quiet: {level} is below the level set")


def count(call: Call, arguments: JsonObject) -> JsonObject:
    return text(f"The counter is at {call.count(int(arguments.get('by', 1)))}")
