"""What a line of the text form says of a frame, as the words and bytes it stands for."""

from __future__ import annotations

import binascii
from typing import Any

from workbench.core.frame import Channel, Direction
from workbench.store.formats.exact import STYLES, write

DIRECTIONS = {direction.name.lower(): direction for direction in Direction}
CHANNELS = {channel.name.lower(): channel for channel in Channel}


def body_of(line: dict[str, Any]) -> bytes:
    """The exact bytes of a frame's body. Raises ``ValueError``."""
    if "json" in line:
        style = STYLES.get(line.get("style", ""))
        if style is None:
            raise ValueError(f"style {line['style']!r} is not one of {', '.join(filter(None, STYLES))}")
        return write(line["json"], style).encode("utf-8", "surrogatepass")
    if "text" in line:
        return str(line["text"]).encode()
    if "base64" in line:
        return binascii.a2b_base64(line["base64"], strict_mode=True)
    raise ValueError("the frame has no body: give json, text or base64")
