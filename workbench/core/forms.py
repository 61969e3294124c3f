"""A JSON Schema as a form: fields as data, for any screen.

Servers write schemas of every kind, and hostile ones, so nothing here raises and
everything is bounded. What a field cannot show (objects, arrays, unions of types,
references that go round or nowhere) is a JSON field for that part, with the
reason; where the whole is a union, the form says why it has no fields and the
arguments are written as JSON. References are looked up within the document only;
nothing is ever fetched.

How values become the arguments' text is ``arguments``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.core.field import Choice, Field, FieldKind, field_of, text_of
from workbench.core.jsonrpc import dumps
from workbench.core.subschema import joined, listed, resolve, variants_of
from workbench.core.uri_template import variables_of

__all__ = ["Choice", "Field", "FieldKind", "FormModel", "form_of", "prompt_form", "template_form"]

#: Fields of a form; beyond it the arguments are written as JSON.
MAX_FIELDS = 500

_QUERY = re.compile(r"\{[?&][^{}]*\}")


@dataclass(frozen=True)
class FormModel:
    """The fields, or ``reason``: a sentence that says why the arguments are written as JSON.

    ``skeleton`` is the JSON text to begin with there.
    """

    fields: tuple[Field, ...] = ()
    reason: str = ""
    skeleton: str = "{}"

    def field(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)


def form_of(schema: Any) -> FormModel:
    """The form of a tool's ``inputSchema`` (or any schema of an object). Never raises."""
    if not isinstance(schema, dict):
        return FormModel(reason="The schema is no object, so the arguments are written as JSON.")
    try:
        return _form(schema)
    except RecursionError:
        return FormModel(reason="The schema is nested too deeply, so the arguments are written as JSON.")


def prompt_form(arguments: Any) -> FormModel:
    """The form of a prompt's ``arguments``: strings, each required or not."""
    if not isinstance(arguments, list):
        return FormModel()
    fields: dict[str, Field] = {}
    for argument in arguments[:MAX_FIELDS]:
        if not isinstance(argument, dict) or not isinstance(argument.get("name"), str):
            continue
        name = argument["name"]
        fields[name] = Field(
            name,
            FieldKind.STRING,
            "string",
            required=argument.get("required") is True,
            title=text_of(argument.get("title")),
            description=text_of(argument.get("description")),
        )
    return FormModel(tuple(fields.values()))


def template_form(template: Any) -> FormModel:
    """The form of a resource template's ``uriTemplate``: strings, required but in a query."""
    if not isinstance(template, str):
        return FormModel()
    optional = set(variables_of("".join(_QUERY.findall(template))))
    return FormModel(
        tuple(
            Field(name, FieldKind.STRING, "string", required=name not in optional)
            for name in variables_of(template)[:MAX_FIELDS]
        )
    )


def _form(schema: dict[str, Any]) -> FormModel:
    merged, why = resolve(schema, schema)
    if merged is None:
        return FormModel(reason=f"{why}, so the arguments are written as JSON.")
    kind = merged.get("type")
    if kind is not None and kind != "object" and not (isinstance(kind, list) and "object" in kind):
        shown = dumps(kind)[:40]
        return FormModel(
            reason=f"The schema describes {shown}, no object, so the arguments are written as JSON."
        )
    variants = variants_of(merged)
    if variants and not all(_only_requires(variant) for variant in variants):
        reason = f"The arguments take one of {len(variants)} forms, so they are written as JSON."
        return FormModel(reason=reason, skeleton=_skeleton(merged, variants, schema))
    properties = merged.get("properties")
    if not isinstance(properties, dict):
        if kind is None and "required" not in merged:
            return FormModel(reason="The schema says nothing of the arguments, so they are written as JSON.")
        properties = {}
    if len(properties) > MAX_FIELDS:
        return FormModel(
            reason=f"The schema has {len(properties)} members, so the arguments are written as JSON."
        )
    required = _names(merged.get("required"))
    fields = [field_of(str(name), part, schema, str(name) in required) for name, part in properties.items()]
    # A member that is required but described nowhere has to be sent all the same.
    fields.extend(
        Field(name, FieldKind.JSON, "any", required=True, why="the schema does not describe it")
        for name in sorted(required.difference(properties))[:MAX_FIELDS]
    )
    return FormModel(tuple(fields))


def _only_requires(variant: Any) -> bool:
    return isinstance(variant, dict) and set(variant) <= {"required", "type", "title", "description"}


def _skeleton(schema: Mapping[str, Any], variants: list[Any], root: dict[str, Any]) -> str:
    """The arguments to begin with: what the first variant fixes, as JSON text."""
    first, _ = resolve(variants[0], root)
    fixed = {
        name: part["const"]
        for name, part in _members(joined(schema, first or {}))
        if isinstance(part, dict) and "const" in part
    }
    return dumps(fixed)


def _members(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    properties = schema.get("properties")
    if isinstance(properties, dict):
        yield from list(properties.items())[:MAX_FIELDS]


def _names(value: Any) -> set[str]:
    return {name for name in listed(value) if isinstance(name, str)}
