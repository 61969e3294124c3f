"""URI templates (RFC 6570) with string values: what they ask for, and the URI they give.

All operators are known; ``:n`` cuts a value and ``*`` is read as no more than the plain
variable, since a value here is one string. Text that is no expression stays as it stands.
A variable without a value is left out, as the RFC says of undefined ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote

_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
_VARIABLE = re.compile(r"((?:[A-Za-z0-9_.]|%[0-9A-Fa-f]{2})+)(?::(\d{1,4})|\*)?")
_RESERVED = ":/?#[]@!$&'()*+,;="


class _Operator(NamedTuple):
    first: str
    between: str
    named: bool
    empty: str
    reserved: bool


_OPERATORS = {
    "": _Operator("", ",", False, "", False),
    "+": _Operator("", ",", False, "", True),
    "#": _Operator("#", ",", False, "", True),
    ".": _Operator(".", ".", False, "", False),
    "/": _Operator("/", "/", False, "", False),
    ";": _Operator(";", ";", True, "", False),
    "?": _Operator("?", "&", True, "=", False),
    "&": _Operator("&", "&", True, "=", False),
}


def variables_of(template: str) -> list[str]:
    """The names a template asks for, in their order, each once."""
    names: dict[str, None] = {}
    for expression in _EXPRESSION.finditer(template):
        for name, _ in _variables(expression[2]):
            names[name] = None
    return list(names)


def expand(template: str, values: Mapping[str, str]) -> str:
    """The URI of a template with these values."""
    return _EXPRESSION.sub(lambda found: _expanded(found, values), template)


def _expanded(found: re.Match[str], values: Mapping[str, str]) -> str:
    operator = _OPERATORS[found[1]]
    parts: list[str] = []
    for name, length in _variables(found[2]):
        value = values.get(name)
        if value is None:
            continue
        text = _escaped(value if length is None else value[:length], operator.reserved)
        if operator.named:
            text = f"{name}={text}" if text else f"{name}{operator.empty}"
        parts.append(text)
    return operator.first + operator.between.join(parts) if parts else ""


def _variables(text: str) -> list[tuple[str, int | None]]:
    found = [_VARIABLE.fullmatch(part.strip()) for part in text.split(",")]
    return [(match[1], int(match[2]) if match[2] else None) for match in found if match]


def _escaped(text: str, reserved: bool) -> str:
    data = text.encode("utf-8", "replace")
    if not reserved:
        return quote(data, safe="")
    # What is escaped already stays as it is.
    return re.sub(r"%25([0-9A-Fa-f]{2})", r"%\1", quote(data, safe=_RESERVED))
