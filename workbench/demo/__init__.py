"""A demo MCP server over stdio, and a recording of it.

``python -m workbench.demo`` is a server like any other: the workbench starts it
as a child and knows nothing of its inside. It has one of everything a server of
the handshake era (2024-11-05 to 2025-11-25) can offer, gives the same answer to
the same question, and needs the standard library only.
"""
