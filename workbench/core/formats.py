"""The formats of strings that a form can ask for ("Elicitation", 2025-06-18 and later)."""

from __future__ import annotations

import re
from datetime import date, datetime

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s]+")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})")


def format_doubt(name: object, text: str) -> str:
    """What a format has against a text, as the end of a sentence; empty for a format not known here.

    Formats are annotations in JSON Schema, so a doubt is told and never stops anybody.
    """
    if name == "email":
        return "" if _EMAIL.fullmatch(text) else "is no e-mail address"
    if name == "uri":
        return "" if _URI.fullmatch(text) else "is no URI (it begins with a scheme, as in https://…)"
    if name == "date":
        return "" if _DATE.fullmatch(text) and _readable(date, text) else "is no date (write 2026-01-31)"
    if name == "date-time":
        good = _DATE_TIME.fullmatch(text) and _readable(datetime, text.upper())
        return "" if good else "is no date and time (write 2026-01-31T12:00:00Z)"
    return ""


def _readable(kind: type[date], text: str) -> bool:
    try:
        kind.fromisoformat(text)
    except ValueError:
        return False
    return True
