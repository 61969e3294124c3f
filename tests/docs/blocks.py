"""The fenced blocks of the documents."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"

_BLOCK = re.compile(r"(?m)^```(\w*)\n(.*?)^```$", re.DOTALL)


class Block(NamedTuple):
    """``language`` is the word behind the fence, ``line`` where the block begins."""

    document: str
    line: int
    language: str
    text: str


def blocks(document: str) -> list[Block]:
    """The blocks of README.md or of a document in docs/, in order."""
    path = ROOT / document if document == "README.md" else DOCS / document
    text = path.read_text(encoding="utf-8")
    return [
        Block(document, text.count("\n", 0, found.start()) + 1, found[1], found[2])
        for found in _BLOCK.finditer(text)
    ]
