"""What the recording of the demo server holds: a session of the official SDK's client with it.

``python -m tests.demo.conversation`` makes the recording anew. The same client is driven against
the replay of it by the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client, types
from pydantic import BaseModel

from workbench.demo.recording import RECORDING

FIXTURE = Path(__file__).resolve().parents[2] / "sessions" / "weather.jsonl"


class Seen:
    """What the client got, in order, in a form that can be compared."""

    def __init__(self) -> None:
        self.results: list[Any] = []
        self.progress: list[tuple[float, float | None, str | None]] = []
        self.notified: list[str] = []
        self.asked: list[str] = []


async def converse(server: StdioServerParameters) -> Seen:
    """Go through everything the demo server offers, once."""
    seen = Seen()
    with anyio.fail_after(120):
        async with (
            stdio_client(server) as (read, write),
            ClientSession(read, write, **_callbacks(seen)) as client,
        ):
            await _go_through(client, seen)
    return seen


async def _go_through(client: ClientSession, seen: Seen) -> None:
    keep = _Keeper(seen).keep
    await keep(client.initialize())
    await keep(client.list_tools())
    await keep(client.call_tool("calculator_arithmetic", {"expression": "2 * (3 + 4)"}))
    await keep(client.call_tool("calculator_arithmetic", {"expression": "1 / 0"}))
    for units in ("metric", "imperial", "kelvin"):
        await keep(client.call_tool("weather_current", {"location": "San Francisco", "units": units}))
    await keep(client.call_tool("weather_forecast", {"location": "Oslo", "days": 2}))
    await keep(client.call_tool("picture", {"side": 16}))
    slow = {"duration": 0.6, "steps": 3}
    await keep(client.call_tool("long_operation", slow, progress_callback=_progress(seen)))
    await keep(client.call_tool("ask_for_name"))
    await keep(client.call_tool("sample", {"prompt": "What is the answer?"}))
    await keep(client.call_tool("read_roots"))
    await keep(client.call_tool("add_a_tool", {"name": "surprise"}))
    await keep(client.list_tools())
    await keep(client.call_tool("surprise"))
    await keep(client.call_tool("write_log", {"level": "warning", "message": "the wind is rising"}))
    await keep(client.call_tool("fail"))
    await keep(client.call_tool("break_down"))
    first = await keep(client.list_resources())
    cursor = types.PaginatedRequestParams(cursor=first.next_cursor)
    await keep(client.list_resources(params=cursor))
    await keep(client.list_resource_templates())
    await keep(client.read_resource("demo://readme"))
    await keep(client.read_resource("weather://Oslo/metric"))
    await keep(client.subscribe_resource("demo://counter"))
    await keep(client.call_tool("count"))
    await keep(client.read_resource("demo://counter"))
    await keep(client.list_prompts())
    await keep(client.get_prompt("packing_list", {"city": "Oslo", "days": "2"}))
    city = types.PromptReference(type="ref/prompt", name="packing_list")
    await keep(client.complete(city, {"name": "city", "value": "L"}))


class _Keeper:
    def __init__(self, seen: Seen) -> None:
        self._seen = seen

    async def keep(self, asked: Any) -> Any:
        """Wait for a result and note it; an error of the server is a result to note, too."""
        try:
            result = await asked
        except MCPError as error:
            self._seen.results.append(error.error.model_dump(mode="json"))
            return None
        self._seen.results.append(result.model_dump(mode="json"))
        return result


def _progress(seen: Seen) -> Any:
    async def told(progress: float, total: float | None, message: str | None) -> None:
        seen.progress.append((progress, total, message))

    return told


def _callbacks(seen: Seen) -> dict[str, Any]:
    async def elicit(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        seen.asked.append(params.message)
        return types.ElicitResult(action="accept", content={"name": "Ada", "manner": "warm"})

    async def sample(_context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        seen.asked.append(f"sample {params.max_tokens}")
        content = types.TextContent(type="text", text="Forty-two.")
        return types.CreateMessageResult(role="assistant", content=content, model="by hand")

    async def roots(_context: Any) -> types.ListRootsResult:
        seen.asked.append("roots")
        return types.ListRootsResult.model_validate(
            {"roots": [{"uri": "file:///project", "name": "project"}]}
        )

    async def notified(message: Any) -> None:
        inner = getattr(message, "root", message)
        if isinstance(inner, BaseModel) and hasattr(inner, "method"):
            seen.notified.append(str(inner.method))

    return {
        "elicitation_callback": elicit,
        "sampling_callback": sample,
        "list_roots_callback": roots,
        "message_handler": notified,
    }


def record(target: Path) -> None:
    """Make the recording anew. It names no folder of this machine."""
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        database = os.path.join(folder, "weather.db")
        options = ["-o", database, "--name", "weather", "--cwd", "/"]
        words = ["-m", "workbench", "record", *options, "--", "python", "-m", "workbench.demo"]
        server = StdioServerParameters(command=sys.executable, args=words, env={"PATH": path})
        anyio.run(converse, server)
        target.unlink(missing_ok=True)
        words = ["sessions", "keep", database, target.stem, "--folder", str(target.parent)]
        subprocess.run([sys.executable, "-m", "workbench", *words], check=True)


if __name__ == "__main__":
    record(FIXTURE)
    shutil.copyfile(FIXTURE, RECORDING)
