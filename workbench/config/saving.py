"""Writing our own small files: whole or not at all, and for their owner only."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from workbench.errors import UsageError


def write_private(path: Path, text: str) -> None:
    """Put a text in the place of a file (mode 0600), through a file beside it, so that a reader sees
    the old text or the new one. A link stays a link. Raises ``UsageError``."""
    place = Path(os.path.realpath(path))
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(prefix=f".{place.name}.", dir=place.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, place)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}; make the folder writable") from None
