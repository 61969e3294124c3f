"""The file that tells where clients come, for whoever starts us and waits."""

from __future__ import annotations

import os
from contextlib import suppress

from workbench.errors import RecordingError


def forget(path: str | None) -> None:
    """Take away what another run has left: nobody may go where nobody is yet."""
    if path is not None:
        with suppress(OSError):
            os.unlink(path)


def tell(path: str | None, url: str) -> None:
    """Write the URL; the file is whole at any moment it is there. Raises ``RecordingError``."""
    if path is None:
        return
    beside = f"{path}.{os.getpid()}"
    try:
        with open(beside, "w", encoding="utf-8") as out:
            out.write(url + "\n")
        os.replace(beside, path)
    except OSError as error:
        raise RecordingError(
            f"The file {path} cannot be written ({error.strerror}); choose another place."
        ) from None
