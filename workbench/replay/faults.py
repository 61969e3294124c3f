"""Failures that a mock server injects, because its user asked for them.

    delay=2s         everything that hangs on the request comes so much later
    error=-32603     an error with this code in place of the answer
    drop             no answer, ever
    disconnect       the connection ends in place of an answer
    garbage          something that is no JSON in place of the answer

``METHOD=FAULT`` or ``METHOD:NAME=FAULT`` limits one to a method or to a tool, prompt or resource, ``FAULT@3``
to the third of those requests. What a fault takes the place of counts as asked for. A request that was
not recorded is a miss whatever faults there are; one that a live server is asked for has them as any other.

Part of the light path: standard library and ``core`` only.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from workbench.errors import UsageError

DELAY, ERROR, DROP, DISCONNECT, GARBAGE = "delay", "error", "drop", "disconnect", "garbage"

#: What comes in place of an answer: no JSON in any reading, and it says what it is.
RUBBISH = b'{"jsonrpc": "2.0", injected garbage \xff'

#: What a mock over lines exits with after an injected disconnect.
DISCONNECTED = 1

#: The error code where none is given: "internal error" (JSON-RPC 2.0, 5.1).
_USUAL = -32603

_FORM = re.compile(
    r"(?:(?P<scope>.+)=)?"
    r"(?P<what>delay=(?P<time>\d{1,6}(?:\.\d{1,6})?)(?P<unit>ms|s)|error(?:=(?P<code>-?\d{1,9}))?|drop|disconnect"
    r"|garbage)"
    r"(?:@(?P<nth>[1-9]\d{0,8}))?",
    re.DOTALL,
)


class Fault(NamedTuple):
    """``method`` and ``name`` are empty where it is for any, ``nth`` is 0 where it is for each request.
    ``seconds`` is that of a delay, ``code`` that of an error."""

    text: str
    kind: str
    method: str = ""
    name: str = ""
    nth: int = 0
    seconds: float = 0.0
    code: int = _USUAL

    def is_for(self, method: str, name: str | None) -> bool:
        return (not self.method or self.method == method) and (not self.name or self.name == name)


def parse_fault(text: str) -> Fault:
    """A fault as it is written on the command line. Raises ``UsageError``."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise UsageError(
            f"--fault {text}: it is delay=2s, error=-32603, drop, disconnect or garbage, for one method or "
            "name with METHOD= or METHOD:NAME= before it, for the third such request with @3 after it."
        )
    method, _, name = (found["scope"] or "").partition(":")
    seconds = float(found["time"] or 0) * (0.001 if found["unit"] == "ms" else 1.0)
    kind = found["what"].partition("=")[0]
    return Fault(text, kind, method, name, int(found["nth"] or 0), seconds, int(found["code"] or _USUAL))


def idle(faults: Sequence[Fault], struck: Collection[str]) -> list[str]:
    """A sentence for each fault that no request met."""
    return [f"--fault {fault.text}: no such request came." for fault in faults if fault.text not in struck]


class Faults:
    """The faults of one client: each counts the requests that it is for."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._faults = faults
        self._counts = [0] * len(faults)

    def __bool__(self) -> bool:
        return bool(self._faults)

    def strikes(self, method: str, name: str | None) -> Fault | None:
        """The first fault that a request gets, if any. Call it once for each request."""
        struck: Fault | None = None
        for at, fault in enumerate(self._faults):
            if fault.is_for(method, name):
                self._counts[at] += 1
                if struck is None and fault.nth in (0, self._counts[at]):
                    struck = fault
        return struck
