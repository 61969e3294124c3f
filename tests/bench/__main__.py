"""``python -m tests.bench [--json] [NAME…]``: every benchmark, or those whose name is given.

Exit status 1 if a figure that something is asked of misses it.
"""

from __future__ import annotations

import json
import os
import sys

from tests.bench import (
    burst,
    connected,
    corpus,
    isolation,
    longline,
    others,
    proxied,
    replaying,
    roundtrip,
    start,
)
from tests.bench.figures import Figure, table

BENCHES = {
    bench.__name__: bench
    for module in (
        roundtrip,
        burst,
        longline,
        start,
        replaying,
        others,
        corpus,
        proxied,
        connected,
        isolation,
    )
    for bench in module.BENCHES
}


def main(arguments: list[str]) -> int:
    names = [word for word in arguments if not word.startswith("--")] or list(BENCHES)
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"There is no benchmark {unknown[0]}; there are {', '.join(BENCHES)}.", file=sys.stderr)
        return 2
    # What is installed was compiled once; what is started from a tree must not be compiled each time.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    figures: list[Figure] = []
    for name in names:
        for figure in BENCHES[name]():
            print(f"{figure.name}: {figure.ratio:.2f}", file=sys.stderr)
            figures.append(figure)
    if "--json" in arguments:
        print(json.dumps([figure.as_json() for figure in figures], indent=1, ensure_ascii=False))
    else:
        print(table(figures))
    return 1 if any(figure.holds is False for figure in figures) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
