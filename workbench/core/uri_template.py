"""URI templates as resource templates use them (RFC 6570, all operators, string values).

Never raises: what is no expression stays as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote

_EXPRESSION = re.compile(r"\{([+#./;?&]?)([A-Za-z0-9_.%,*:]+)\}")
_RESERVED = ":/?#[]@!$&'()*+,;="

#: Variables that are told of one template.
MAX_VARIABLES = 50


class _Operator(NamedTuple):
    first: str
    between: str
    named: bool
    allowed: str


_OPERATORS = {
    "": _Operator("", ",", False, ""),
    "+": _Operator("", ",", False, _RESERVED),
    "#": _Operator("#", ",", False, _RESERVED),
    ".": _Operator(".", ".", False, ""),
    "/": _Operator("/", "/", False, ""),
    ";": _Operator(";", ";", True, ""),
    "?": _Operator("?", "&", True, ""),
    "&": _Operator("&", "&", True, ""),
}


def variables(template: str) -> tuple[str, ...]:
    """The names of a template's variables, each once, in order."""
    names: dict[str, None] = {}
    for found in _EXPRESSION.finditer(template):
        for name in found[2].split(","):
            names[_bare(name)] = None
    return tuple(names)[:MAX_VARIABLES]


def expand(template: str, values: Mapping[str, Any]) -> str:
    """The URI of a template with these values; a variable without a value leaves nothing."""

    def filled(found: re.Match[str]) -> str:
        operator = _OPERATORS[found[1]]
        parts: list[str] = []
        for name in found[2].split(","):
            bare, length = _bare(name), _length(name)
            value = values.get(bare)
            if value is None:
                continue
            text = quote(str(value)[:length], safe=operator.allowed + "-._~")
            equals = "" if found[1] == ";" and not text else "="
            parts.append(f"{bare}{equals}{text}" if operator.named else text)
        return operator.first + operator.between.join(parts) if parts else ""

    return _EXPRESSION.sub(filled, template)


def _bare(name: str) -> str:
    return name.rstrip("*").partition(":")[0]


def _length(name: str) -> int | None:
    length = name.partition(":")[2]
    return int(length) if length.isdigit() else None
