"""Copying to the clipboard of the terminal, wherever that is, and saving to a file."""

from __future__ import annotations

import base64
import os

from workbench.tui import figures

#: What terminals take at least: 100,000 characters of base64, a little less for what is around them.
MAX_COPIED = 74_000


def copied(body: bytes) -> tuple[str, str]:
    """The OSC 52 sequence for a body (empty if it is too large) and the sentence to say."""
    size = figures.size(len(body))
    if len(body) > MAX_COPIED:
        limit = figures.size(MAX_COPIED)
        return "", f"{size} are more than terminals take from a clipboard sequence ({limit}); w saves them."
    return f"\x1b]52;c;{base64.b64encode(body).decode()}\x07", f"copied, {size}"


def save(body: bytes, path: str) -> str:
    """Write a body to a new file; returns a sentence when that cannot be."""
    place = os.path.expanduser(path)
    if not place:
        return "Type the name of a file."
    try:
        with open(place, "xb") as file:
            file.write(body)
    except FileExistsError:
        return f"{path} exists already; choose another name."
    except OSError as error:
        return f"{path} cannot be written ({error.strerror}); choose another place."
    return ""
