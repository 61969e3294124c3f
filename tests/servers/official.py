"""A real server, made with the official SDK: tools of several kinds, a resource, a prompt."""

from __future__ import annotations

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("official", instructions="Only for tests.")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ValueError("as asked")


@server.tool()
async def count(steps: int, ctx: Context) -> str:
    """Report progress at each step."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps)
    return "done"


@server.resource("memo://one")
def memo() -> str:
    """A text."""
    return "remember"


@server.prompt()
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Say hello to {name}."


if __name__ == "__main__":
    server.run()
