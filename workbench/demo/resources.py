"""The resources and the template: text, data, a picture, one that changes, one for each city."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import unquote

from workbench.demo import pictures
from workbench.demo.channel import RpcError
from workbench.demo.weather import CITIES, UNITS, as_data, weather_at

JsonObject = dict[str, Any]

README = "demo://readme"
COUNTER = "demo://counter"

LISTED: list[JsonObject] = [
    {
        "uri": README,
        "name": "readme",
        "title": "Read me",
        "description": "What this server is for",
        "mimeType": "text/markdown",
    },
    {"uri": "demo://cities", "name": "cities", "description": "Known cities", "mimeType": "application/json"},
    {"uri": "demo://logo", "name": "logo", "description": "A picture", "mimeType": pictures.PNG},
    {
        "uri": COUNTER,
        "name": "counter",
        "description": "A number that the tool count raises; subscribe to be told",
        "mimeType": "text/plain",
    },
    {
        "uri": "demo://alphabets",
        "name": "alphabets",
        "description": "Text of many scripts",
        "mimeType": "text/plain",
    },
]

TEMPLATES: list[JsonObject] = [
    {
        "uriTemplate": "weather://{city}/{units}",
        "name": "weather",
        "title": "Weather of a city",
        "description": "The weather as data; units are metric, imperial or kelvin",
        "mimeType": "application/json",
    }
]

_TEXTS = {
    README: "# Demo server\n\nEverything a server can offer, once: try each tool, read each resource.\n",
    "demo://cities": json.dumps(CITIES, ensure_ascii=False),
    "demo://alphabets": "Latin, Ελληνικά, Кириллица, עברית, العربية, हिन्दी, 漢字, かな, 한글, 👩\u200d🚀\n",
}


#: Resources a page of the list, few enough that there are several.
PAGE = 3


def page(cursor: Any) -> tuple[list[JsonObject], str | None]:
    """A page of the list and the cursor of the next one. Raises ``RpcError`` -32602 for a foreign cursor."""
    starts = {f"page-{n}": n * PAGE for n in range(1, -(-len(LISTED) // PAGE))}
    if cursor is not None and not (isinstance(cursor, str) and cursor in starts):
        raise RpcError(-32602, "The cursor is not one of this server's")
    start = starts[cursor] if cursor is not None else 0
    following = next((name for name, at in starts.items() if at == start + PAGE), None)
    return LISTED[start : start + PAGE], following


def read(uri: str, counter: int) -> list[JsonObject] | None:
    """The contents of a resource; ``None`` when there is no such resource."""
    for entry in LISTED:
        if entry["uri"] == uri:
            head = {"uri": uri, "mimeType": entry["mimeType"]}
            if uri == COUNTER:
                return [{**head, "text": str(counter)}]
            if uri in _TEXTS:
                return [{**head, "text": _TEXTS[uri]}]
            return [{**head, "blob": base64.b64encode(pictures.png(48)).decode()}]
    return _weather(uri)


def _weather(uri: str) -> list[JsonObject] | None:
    scheme, _, rest = uri.partition("://")
    city, _, units = rest.partition("/")
    units = units or "metric"
    if scheme != "weather" or not city or units not in UNITS:
        return None
    data = as_data(weather_at(unquote(city)), units)
    return [{"uri": uri, "mimeType": "application/json", "text": json.dumps(data, ensure_ascii=False)}]
