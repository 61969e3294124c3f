"""How many examples a property is tried with: a part of them in ``make test``, all in ``make test-long``."""

from __future__ import annotations

import os

#: Set by ``make test-long``.
ALL = "WORKBENCH_ALL_EXAMPLES" in os.environ


def many(examples: int) -> int:
    """``examples`` in the long form, a quarter of them otherwise."""
    return examples if ALL else max(examples // 4, 10)
