"""Comparing large answers in a process of its own.

Comparing is all interpreter: a thread that does it for seconds takes every second
turn of the lock from the screen, and keys would be felt.
"""

from __future__ import annotations

import marshal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import workbench
from workbench.replay.comparing import Comparison, Side, Verdict, compare

#: Texts of more characters than this together go to a process of their own.
APART = 256 * 1024

#: Reads lengths on a line (-1 for a text that takes no part), then the texts; writes plain tuples.
_HELPER = """
import marshal, sys
sys.path.insert(0, sys.argv[1])
from workbench.replay.comparing import compare
lengths = [int(word) for word in sys.stdin.buffer.readline().split()]
texts = [None if n < 0 else sys.stdin.buffer.read(n).decode("utf-8", "surrogatepass") for n in lengths]
found = compare(texts)
lines = [tuple(side and tuple(side) for side in line) for line in found.lines]
verdicts = [verdict and tuple(verdict) for verdict in found.verdicts]
sys.stdout.buffer.write(marshal.dumps((lines, verdicts, found.left)))
"""


def compare_apart(texts: Sequence[str | None]) -> Comparison:
    """``compare``, for large texts in another process. Waits: call it in a thread."""
    if sum(len(text) for text in texts if text is not None) <= APART:
        return compare(texts)
    bodies = [None if text is None else text.encode("utf-8", "surrogatepass") for text in texts]
    lengths = " ".join("-1" if body is None else str(len(body)) for body in bodies)
    whole = b"".join([lengths.encode(), b"\n", *(body for body in bodies if body is not None)])
    # Isolated, so that what lies in the folder one works in is not taken for the program.
    root = str(Path(workbench.__file__).parents[1])
    command = [sys.executable, "-I", "-c", _HELPER, root]
    try:
        done = subprocess.run(command, input=whole, capture_output=True, check=False)
    except OSError:
        return compare(texts)
    return _read(done.stdout) if done.returncode == 0 else compare(texts)


def _read(data: bytes) -> Comparison:
    lines, verdicts, left = marshal.loads(data)
    return Comparison(
        [tuple(side and Side(*side) for side in line) for line in lines],
        tuple(verdict and Verdict(*verdict) for verdict in verdicts),
        left,
    )
