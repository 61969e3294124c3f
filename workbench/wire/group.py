"""A process group as a whole: what a server and all that it has started are ended by."""

from __future__ import annotations

import os


def signal_group(leader: int, number: int) -> bool:
    """Send a signal to everything in the group of a leader; false when nothing is there any more."""
    try:
        os.killpg(leader, number)
    except (ProcessLookupError, PermissionError):
        # macOS says "not permitted" for a group of which only a zombie is left.
        return False
    return True
