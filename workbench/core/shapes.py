"""The shapes of tokens: secrets that are known by their looks, wherever they stand.

A table, so that a new kind is a new row. Nearly no body holds any of them, so one
search decides that there is nothing to do: ``MAYBE`` is made from the literals
of all shapes and anchored at their rarest character, which costs about a
microsecond for a small body and is linear for a large one. Only a body that it
finds something in is searched shape by shape.

No pattern backtracks over what it has taken: repeats are possessive or bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Shape(NamedTuple):
    """A kind of token known by its looks.

    ``literals``: one of them stands in every such token. ``pattern``: what is replaced is its
    first group, else all of it. ``example`` is matched and is nobody's secret.
    """

    name: str
    literals: tuple[str, ...]
    pattern: str
    example: str


class Hit(NamedTuple):
    """A secret's place in a body (bytes) and what it is called."""

    start: int
    end: int
    label: str


_EDGE = r"(?<![A-Za-z0-9_-])"
_TEXT = "a1B2"

#: Where two match at one place, what either covers is replaced as one.
SHAPES = (
    Shape(
        "github token",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
        _EDGE + r"gh[pousr]_[A-Za-z0-9]{30,255}+",
        "ghp_" + _TEXT * 9,
    ),
    Shape(
        "github token",
        ("github_pat_",),
        _EDGE + r"github_pat_[A-Za-z0-9_]{22,255}+",
        "github_pat_" + _TEXT * 8,
    ),
    Shape("gitlab token", ("glpat-",), _EDGE + r"glpat-[A-Za-z0-9_-]{20,}+", "glpat-" + _TEXT * 5),
    Shape("anthropic key", ("sk-ant-",), _EDGE + r"sk-ant-[A-Za-z0-9_-]{20,}+", "sk-ant-" + _TEXT * 8),
    Shape(
        "openai key",
        ("sk-",),
        # A digit early on tells a key from a long hyphenated word.
        _EDGE + r"sk-(?!ant-)(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{20,}+",
        "sk-proj-" + _TEXT * 8,
    ),
    Shape("slack token", ("xox",), _EDGE + r"xox[abeoprs]-[A-Za-z0-9-]{10,}+", "xoxb-" + "1234567890-" * 3),
    Shape("slack token", ("xapp-",), _EDGE + r"xapp-[A-Za-z0-9-]{20,}+", "xapp-1-" + _TEXT * 6),
    Shape("aws key id", ("AKIA", "ASIA"), _EDGE + r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])", "AKIA" + "A1B2" * 4),
    Shape("google key", ("AIza",), _EDGE + r"AIza[A-Za-z0-9_-]{35}", "AIza" + "a1B2c" * 7),
    Shape("google token", ("ya29.",), _EDGE + r"ya29\.[A-Za-z0-9_-]{20,}+", "ya29." + _TEXT * 8),
    Shape(
        "stripe key",
        ("k_live_", "k_test_"),
        _EDGE + r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}+",
        "sk_live_" + _TEXT * 6,
    ),
    Shape("npm token", ("npm_",), _EDGE + r"npm_[A-Za-z0-9]{36}", "npm_" + _TEXT * 9),
    Shape("pypi token", ("pypi-",), _EDGE + r"pypi-[A-Za-z0-9_-]{50,}+", "pypi-" + _TEXT * 13),
    Shape("hugging face token", ("hf_",), _EDGE + r"hf_[A-Za-z0-9]{30,}+", "hf_" + _TEXT * 9),
    Shape(
        "jwt",
        ("eyJ",),
        _EDGE + r"eyJ[A-Za-z0-9_-]{8,}+\.eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlMTIz",
    ),
    Shape(
        "private key",
        ("PRIVATE KEY-----",),
        # Up to its end line, or where that is missing (a cut text) as far as the letters go. A quote
        # ends it too, so that it never reaches out of the JSON string it stands in.
        r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----(?:"
        r'(?:[^"-]|-(?!----)){16,16384}+-----END [A-Z ]{0,20}PRIVATE KEY-----'
        r"|(?:\\+[nr]|\s){0,8}+[A-Za-z0-9+/]{32,}+[A-Za-z0-9+/=\\\s]*+)",
        "-----BEGIN PRIVATE KEY-----" + _TEXT * 8 + "-----END PRIVATE KEY-----",
    ),
    Shape(
        "bearer token",
        ("Bearer ", "bearer "),
        r"[Bb]earer ([A-Za-z0-9._~+/=-]{16,}+)",
        "Bearer " + _TEXT * 6,
    ),
    Shape(
        "basic credentials",
        ("Basic ",),
        # A digit or an equals sign tells them from prose.
        r"Basic ((?=[A-Za-z+/]{0,200}[0-9=])[A-Za-z0-9+/]{16,}+={0,2})",
        "Basic " + _TEXT * 6,
    ),
    Shape(
        "password in a url",
        ("://",),
        r"://[^\s/@:\"\\?#]{0,64}:([^\s/@\"\\<>]{3,256}+)@",
        "postgres://ann:a1B2a1B2@db.example/x",
    ),
)

#: Characters that bodies hold few of; a literal is looked for at the first of these it has.
_RARE = "_-JIBb/xy"


def _anchored() -> str:
    """One pattern for all literals: their rarest character, then what stands around it."""
    groups: dict[str, list[str]] = {}
    for literal in sorted({literal for shape in SHAPES for literal in shape.literals}):
        at = next((literal.index(rare) for rare in _RARE if rare in literal), 0)
        before = f"(?<={re.escape(literal[: at + 1])})" if at else ""
        groups.setdefault(literal[at], []).append(before + re.escape(literal[at + 1 :]))
    return "|".join(f"{re.escape(rare)}(?:{'|'.join(around)})" for rare, around in groups.items())


_maybe: re.Pattern[bytes] | None = None


def may_hold_token(body: bytes) -> bool:
    """False for a body that holds no token of any shape; the cheap answer nearly always given."""
    # Compiling takes longer than everything else here: at the first body, not at import.
    global _maybe
    if _maybe is None:
        _maybe = re.compile(_anchored().encode())
    return _maybe.search(body) is not None


def tokens(body: bytes) -> Iterator[Hit]:
    """Everything in a body that has the shape of a token, in no order; places may overlap."""
    for shape in SHAPES:
        if any(literal.encode() in body for literal in shape.literals):
            # ``re`` compiles a pattern when it is first needed, and remembers it.
            for match in re.finditer(shape.pattern.encode(), body):
                group = 1 if match.re.groups else 0
                yield Hit(match.start(group), match.end(group), shape.name)
