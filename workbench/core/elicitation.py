"""What a server asks a person for: whether an answer is what was asked, and the answer of defaults.

Source: "Elicitation", 2025-06-18 (forms) and 2025-11-25 (multi-select, titled enums, defaults,
URLs). A form is flat: strings, numbers, booleans, one of several, and some of several.
"""

from __future__ import annotations

from typing import Any

from workbench.core.arguments import encode, entry_of
from workbench.core.field import Choice, Field, FieldKind, item_choices
from workbench.core.forms import FormModel, form_of
from workbench.core.jsonrpc import dumps, loads
from workbench.core.jsontext import kind_of, members

#: What an elicitation can be answered with.
ACTIONS = ("accept", "decline", "cancel")

#: Faults that are told of one answer.
MAX_FAULTS = 20

_JSON_KINDS = {
    FieldKind.STRING: "string",
    FieldKind.INTEGER: "number",
    FieldKind.NUMBER: "number",
    FieldKind.BOOLEAN: "boolean",
}


def form_asked(params: Any) -> FormModel:
    """The form of an elicitation's ``params``; a URL has none to fill in."""
    if mode_of(params) != "form":
        return FormModel()
    return form_of(params.get("requestedSchema", {"type": "object"}) if isinstance(params, dict) else {})


def mode_of(params: Any) -> str:
    """``form``, ``url`` or what else the server wrote; without a mode it is a form."""
    mode = params.get("mode", "form") if isinstance(params, dict) else "form"
    return mode if isinstance(mode, str) else dumps(mode)[:40]


def choices_of(field: Field) -> tuple[Choice, ...] | None:
    """What a multi-select field chooses from; ``None`` for every other field."""
    return item_choices(field.schema) if field.kind is FieldKind.JSON else None


def defaults(params: Any) -> tuple[str, list[str]]:
    """The content that accepts a form with the defaults of its schema, and what keeps it from being
    sent: members that are required and have none, defaults that break their own schema."""
    form = form_asked(params)
    given = [(field, field.default) for field in form.fields if field.default is not None]
    content = "{" + ",".join(f"{dumps(field.name)}:{default}" for field, default in given) + "}"
    lacking = [f"{field.name} has no default" for field in form.fields if _lacks(field)]
    return content, [*lacking, *(fault for fault in content_faults(params, content) if not lacking)]


def _lacks(field: Field) -> bool:
    return field.required and field.default is None


def result_faults(params: Any, text: str) -> list[str]:
    """What is wrong with an answer (JSON text of a result) to an elicitation; each is a sentence
    without a full stop."""
    parts = members(text)
    if parts is None:
        return ["the result is no JSON object"]
    values = {part.key: part.text for part in parts}
    action = loads(values["action"]) if kind_of(values.get("action", "")) == "string" else None
    if action not in ACTIONS:
        return ["the result has no action (accept, decline or cancel)"]
    content = values.get("content")
    if action != "accept":
        return [] if content is None else [f"{action} carries no content"]
    if mode_of(params) == "url":
        return [] if content is None else ["consent to open a URL carries no content"]
    return content_faults(params, "{}" if content is None else content)


def content_faults(params: Any, text: str) -> list[str]:
    """What the schema of an elicitation has against a content (JSON text)."""
    parts = members(text)
    if parts is None:
        return ["the content is no JSON object"]
    form = form_asked(params)
    if form.reason:
        return []  # no flat form: what it asks for cannot be said member by member
    named = {part.key for part in parts}
    found = [
        f"{field.name} is required" for field in form.fields if field.required and field.name not in named
    ]
    for part in parts:
        field = form.field(part.key)
        doubt = "is not asked for" if field is None else value_doubt(field, part.text)
        if doubt:
            found.append(f"{part.key} {doubt}")
    return found[:MAX_FAULTS]


def value_doubt(field: Field, text: str) -> str:
    """What a field has against a value (JSON text), as the end of a sentence; empty if nothing."""
    kind = _JSON_KINDS.get(field.kind)
    if kind is not None and kind_of(text) != kind:
        return f"must be {field.kind.value}, not {kind_of(text)}"
    if choices_of(field) is not None and kind_of(text) != "array":
        return f"must be array, not {kind_of(text)}"
    encoded = encode(field, entry_of(field, text))
    return encoded.broken or encoded.doubt
