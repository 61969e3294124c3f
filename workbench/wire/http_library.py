"""httpx, without its command line: the one place it is imported from.

``import httpx`` also loads ``httpx._main`` where click is installed, and with it rich and pygments:
60 ms that every command over HTTP would wait for. httpx goes on without that module where it cannot
be imported, so it cannot while httpx is.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

_COMMAND_LINE = "httpx._main"

if "httpx" in sys.modules:
    import httpx
else:
    sys.modules[_COMMAND_LINE] = None  # type: ignore[assignment] # how an import is made to fail
    try:
        import httpx
    finally:
        del sys.modules[_COMMAND_LINE]

# httpcore looks for sniffio four times a request, which it does without where it is not installed. A name
# that is known to be missing is looked for on no path: that saves a tenth of what a request costs.
if "sniffio" not in sys.modules and find_spec("sniffio") is None:
    sys.modules["sniffio"] = None  # type: ignore[assignment]

__all__ = ["httpx"]
