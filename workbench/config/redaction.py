"""What the user's settings say of secrets: values and patterns to look for in every recording.

    [redaction]
    values = ["env:COMPANY_TOKEN"]
    patterns = ["ACME-[0-9]{8}"]

Read without the other settings, because a stand-in starts before those could be loaded.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from workbench.config.place import settings_path
from workbench.core.redact import MIN_SECRET, Redactor
from workbench.errors import UsageError

_ENV = "env:"


def own_redactor(environ: Mapping[str, str] | None = None) -> Redactor:
    """A redactor that looks out for what the settings name. A variable that is not set is nothing to look
    for. Raises ``UsageError`` for a table that cannot be."""
    environ = os.environ if environ is None else environ
    redactor = Redactor()
    table = _table(environ)
    for value in _texts(table, "values"):
        name = value.removeprefix(_ENV)
        given = environ.get(name, "") if name != value else value
        redactor.add_value(name if name != value else "settings", given)
    for pattern in _texts(table, "patterns"):
        try:
            redactor.add_pattern(pattern)
        except re.error as error:
            raise UsageError(
                f"settings: redaction.patterns: {pattern!r} is no regular expression ({error}); correct it"
            ) from None
    return redactor


def check_redaction(table: Any) -> dict[str, list[str]]:
    """The table ``redaction`` of the settings. Raises ``ValueError``."""
    if not isinstance(table, dict) or not table.keys() <= {"values", "patterns"}:
        raise ValueError("redaction has the members values and patterns")
    for name, texts in table.items():
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError(f"redaction.{name} is a list of texts")
    for value in table.get("values", ()):
        if not value.startswith(_ENV) and len(value) < MIN_SECRET:
            raise ValueError(f"redaction.values: a value has {MIN_SECRET} characters or more")
    return table


def _texts(table: dict[str, list[str]], name: str) -> list[str]:
    return table.get(name, [])


def _table(environ: Mapping[str, str]) -> dict[str, list[str]]:
    try:
        text = settings_path(environ).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    if "redaction" not in text:
        return {}
    # A few milliseconds, for those only who have such a table.
    import tomllib

    try:
        return check_redaction(tomllib.loads(text).get("redaction", {}))
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise UsageError(f"settings: {error}; correct the table") from None
