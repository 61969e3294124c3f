"""httpx, without its command line: the one place it is imported from.

``import httpx`` also loads ``httpx._main`` where click is installed, and with it rich and pygments:
60 ms that every command over HTTP would wait for. httpx goes on without that module where it cannot
be imported, so it cannot while httpx is.
"""

from __future__ import annotations

import sys

_COMMAND_LINE = "httpx._main"

if "httpx" in sys.modules:
    import httpx
else:
    sys.modules[_COMMAND_LINE] = None  # type: ignore[assignment] # how an import is made to fail
    try:
        import httpx
    finally:
        del sys.modules[_COMMAND_LINE]

__all__ = ["httpx"]
