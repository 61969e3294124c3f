"""Real MCP servers to test against, from npm and PyPI, each at a pinned version.

They are installed into ``.cache/peers`` when a test first asks for one, and stay
there: ``python -m tests.peers`` installs them all beforehand. Installing needs
the registries; a peer that cannot be had skips its tests and says why, unless
``WORKBENCH_REQUIRE_PEERS`` is set, as CI does.
"""
