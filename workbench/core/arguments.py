"""Values of a form as the arguments' JSON text, and back.

The text is what goes on the wire, so values travel as text: the digits a user
types are the digits sent (``9007199254740993``, ``1.0``, ``1e400``). An optional
member that nobody touched is absent; absent, null and an empty string are three
different things, and each can be had for any member. Only what cannot be written
as JSON at all is refused; what merely breaks the schema is told and can be sent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from typing import NamedTuple

from workbench.core.field import item_choices
from workbench.core.formats import format_doubt
from workbench.core.forms import Field, FieldKind, FormModel
from workbench.core.jsonrpc import dumps, loads
from workbench.core.jsontext import compact, elements, kind_of, members, problem

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
_WHOLE = re.compile(r"-?\d+(\.0+)?([eE]\+?\d+)?")


class Presence(StrEnum):
    """Whether a member is sent, and as what."""

    ABSENT = "absent"
    NULL = "null"
    VALUE = "value"


class Entry(NamedTuple):
    """What a field holds. ``text`` counts for ``VALUE`` only: the string itself for a string
    field, the text as typed for numbers, JSON text for the others."""

    presence: Presence = Presence.ABSENT
    text: str = ""


class Encoded(NamedTuple):
    """``json`` is the member's text (``None``: not sent). ``broken`` says why the text is no JSON
    at all, ``doubt`` what the schema has against it; each is a sentence's end (``is required``)."""

    json: str | None
    broken: str = ""
    doubt: str = ""


ABSENT = Entry()
NULL = Entry(Presence.NULL)


def value(text: str) -> Entry:
    return Entry(Presence.VALUE, text)


def initial(field: Field) -> Entry:
    """What a field holds untouched: nothing, but a default or the only choice where it is required."""
    if not field.required:
        return ABSENT
    if field.default is not None:
        return entry_of(field, field.default)
    if field.kind is FieldKind.ENUM and len(field.choices) == 1:
        return value(field.choices[0].text)
    return ABSENT


def encode(field: Field, entry: Entry) -> Encoded:
    """The JSON text of one member. Never raises."""
    if entry.presence is Presence.ABSENT:
        return Encoded(None, doubt="is required" if field.required else "")
    if entry.presence is Presence.NULL:
        allowed = field.nullable or field.kind is FieldKind.JSON or _offers(field, "null")
        return Encoded("null", doubt="" if allowed else "must not be null")
    if field.kind is FieldKind.STRING:
        return Encoded(dumps(entry.text), doubt=_string_doubt(field, entry.text))
    text = entry.text.strip()
    if field.kind in (FieldKind.INTEGER, FieldKind.NUMBER):
        if not _NUMBER.fullmatch(text):
            return Encoded(None, broken="is not a number" if text else "needs a number")
        return Encoded(text, doubt=_number_doubt(field, text))
    if not text:
        return Encoded(None, broken="needs a value")
    if field.kind is FieldKind.ENUM:
        known = _offers(field, text)
        return Encoded(text, doubt="" if known else "is none of the choices")
    wrong = problem(text)
    if wrong is not None:
        at = f" (line {wrong.line}, column {wrong.column})" if "\n" in text else f" (column {wrong.column})"
        return Encoded(None, broken=f"is not JSON: {wrong.why}{at}")
    return Encoded(text, doubt=_kind_doubt(field, text) or _items_doubt(field, text))


def arguments_text(form: FormModel, entries: Mapping[str, Entry]) -> str:
    """The arguments as they go on the wire; members that cannot be written are left out."""
    parts: list[str] = []
    for field in form.fields:
        text = encode(field, entries.get(field.name, ABSENT)).json
        if text is not None:
            parts.append(f"{dumps(field.name)}:{text}")
    return f"{{{','.join(parts)}}}"


def broken(form: FormModel, entries: Mapping[str, Entry]) -> dict[str, str]:
    """Why members cannot be written, by name."""
    found = {field.name: encode(field, entries.get(field.name, ABSENT)).broken for field in form.fields}
    return {name: why for name, why in found.items() if why}


def doubts(form: FormModel, entries: Mapping[str, Entry]) -> dict[str, str]:
    """What the schema has against members, by name."""
    found = {field.name: encode(field, entries.get(field.name, ABSENT)).doubt for field in form.fields}
    return {name: why for name, why in found.items() if why}


def entries_of(form: FormModel, text: str) -> dict[str, Entry] | None:
    """The entries that give this arguments' text, ``None`` when fields cannot show it: it is no
    object, or has members twice or without a field."""
    parts = members(text)
    if parts is None:
        return None
    entries: dict[str, Entry] = {}
    for part in parts:
        field = form.field(part.key)
        if field is None or part.key in entries:
            return None
        entries[part.key] = entry_of(field, part.text)
        if encode(field, entries[part.key]).json is None:
            return None
    return entries


def entry_of(field: Field, text: str) -> Entry:
    """The entry for a member's JSON text; ``encode`` gives an equal value back."""
    text = text.strip()
    if text == "null" and not _offers(field, "null"):
        return NULL
    if field.kind is FieldKind.STRING and kind_of(text) == "string":
        return value(str(loads(text)))
    if field.kind is FieldKind.ENUM:
        same = next((choice.text for choice in field.choices if choice.text == compact(text)), None)
        return value(same if same is not None else text)
    return value(text)


def title_of(field: Field, text: str) -> str:
    """What an enum's value is called."""
    return next((choice.title for choice in field.choices if choice.text == text), text)


def _offers(field: Field, text: str) -> bool:
    return any(choice.text == text for choice in field.choices)


def _limit(field: Field, key: str) -> Decimal | None:
    limit = field.schema.get(key) if isinstance(field.schema, dict) else None
    if isinstance(limit, bool) or not isinstance(limit, (int, float)):
        return None
    return _decimal(dumps(limit))


def _decimal(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except (InvalidOperation, ValueError):
        return None
    return number if number.is_finite() else None


def _string_doubt(field: Field, text: str) -> str:
    least, most = _limit(field, "minLength"), _limit(field, "maxLength")
    if least is not None and len(text) < least:
        return f"needs at least {least} characters"
    if most is not None and len(text) > most:
        return f"takes at most {most} characters"
    return format_doubt(field.schema.get("format"), text) if isinstance(field.schema, dict) else ""


def _number_doubt(field: Field, text: str) -> str:
    if field.kind is FieldKind.INTEGER and not _WHOLE.fullmatch(text):
        return "is not a whole number"
    number = _decimal(text)
    if number is None:
        return ""
    least, most = _limit(field, "minimum"), _limit(field, "maximum")
    above, below = _limit(field, "exclusiveMinimum"), _limit(field, "exclusiveMaximum")
    if least is not None and number < least:
        return f"must be at least {least}"
    if most is not None and number > most:
        return f"must be at most {most}"
    if above is not None and number <= above:
        return f"must be more than {above}"
    if below is not None and number >= below:
        return f"must be less than {below}"
    return ""


def _kind_doubt(field: Field, text: str) -> str:
    wanted = field.schema.get("type") if isinstance(field.schema, dict) else None
    kinds = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
    kind = kind_of(text)
    if not kinds or kind in kinds or (kind == "number" and "integer" in kinds):
        return ""
    if kind == "null" and field.nullable:
        return ""
    names = " or ".join(str(name)[:20] for name in kinds[:4])
    return f"must be {names}, not {kind}"


def _items_doubt(field: Field, text: str) -> str:
    """What the schema of an array has against how many elements there are, and which."""
    schema = field.schema
    if not isinstance(schema, dict) or schema.get("type") != "array" or kind_of(text) != "array":
        return ""
    chosen = elements(text) or []
    choices = item_choices(schema)
    what = "elements" if choices is None else "chosen"
    least, most = _limit(field, "minItems"), _limit(field, "maxItems")
    if least is not None and len(chosen) < least:
        return f"needs at least {least} {what}"
    if most is not None and len(chosen) > most:
        return f"takes at most {most} {what}"
    known = None if choices is None else {choice.text for choice in choices}
    other = next(
        (part.text for part in chosen if known is not None and compact(part.text) not in known), None
    )
    return "" if other is None else f"has no choice {other[:40]}"
