"""A demo MCP server, and a recording of it."""
