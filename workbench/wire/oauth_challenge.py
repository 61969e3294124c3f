"""What a server says of authorization in ``WWW-Authenticate``.

Source: RFC 9110, 11.6.1 (several challenges may stand in one header), RFC 6750, 3, RFC 9728, 5.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

#: Longest header that is read (characters).
_LONGEST = 16_384

_PART = re.compile(
    r"""[\s,]*(?:
    (?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"
        |(?P<plain>[^\s,"=]+(?:=[^\s,"]*)?))
    |(?P<scheme>[!#$%&'*+.^_`|~0-9A-Za-z-]+)(?=[\s,]|$)
    (?:[ \t]+(?P<token68>[A-Za-z0-9._~+/-]+=*)(?=\s*(?:,|$)))?
    )""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)")


class Challenge(NamedTuple):
    """One challenge; names are in lower case."""

    scheme: str
    parameters: dict[str, str]

    def get(self, name: str) -> str:
        """A parameter, empty where there is none."""
        return self.parameters.get(name, "")


def challenges(headers: Iterable[str]) -> list[Challenge]:
    """The challenges in the values of one answer's ``WWW-Authenticate`` headers; what cannot be read ends
    the value it stands in."""
    found: list[Challenge] = []
    for header in headers:
        text = header[:_LONGEST]
        at = 0
        first = len(found)
        while (match := _PART.match(text, at)) is not None:
            at = match.end()
            if match["scheme"]:
                found.append(Challenge(match["scheme"].lower(), {}))
            elif len(found) > first:
                quoted = match["quoted"]
                value = match["plain"] if quoted is None else _ESCAPE.sub(r"\1", quoted)
                found[-1].parameters.setdefault(match["name"].lower(), value)
    return found


def bearer(headers: Iterable[str]) -> Challenge | None:
    """The challenge for a bearer token; the one that says most, where there are several."""
    ours = [each for each in challenges(headers) if each.scheme == "bearer"]
    return max(ours, key=lambda each: len(each.parameters), default=None)
