"""Says it has resources and refuses them; has tools and does not say so (argument: silent)."""

import sys

from tests.servers.minimal import serve

if __name__ == "__main__":
    serve({}, {} if sys.argv[1:] == ["silent"] else {"tools": {}, "resources": {}, "prompts": {}})
