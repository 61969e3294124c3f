"""Files of variables, a line each: ``NAME=VALUE`` (an entry's ``envFile``)."""

from __future__ import annotations

import re
from pathlib import Path

from workbench.config.files import read_text

_LINE = re.compile(
    r"""\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*
    (?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^#\n]*?(?:(?<!\s)\#[^\n]*?)?))\s*(?:\#.*)?""",
    re.VERBOSE,
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}


def read_env_file(path: Path) -> dict[str, str]:
    """The variables of a file. What is no ``NAME=VALUE`` is passed over, as those tools do. In double
    quotes ``\\n`` is a line end. Raises ``Unreadable``."""
    found: dict[str, str] = {}
    for line in read_text(path).splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        double, single, bare = match[2], match[3], match[4]
        if double is not None:
            found[match[1]] = re.sub(r"\\(.)", lambda one: _ESCAPES.get(one[1], one[1]), double)
        else:
            found[match[1]] = single if single is not None else bare.strip()
    return found
