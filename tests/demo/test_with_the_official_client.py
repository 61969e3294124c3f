"""The demo server as the official SDK's client sees it."""

from __future__ import annotations

import base64
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp import ClientSession, MCPError, StdioServerParameters, stdio_client, types

from workbench.demo import pictures

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def connected(**callbacks: Any) -> AsyncIterator[ClientSession]:
    parameters = StdioServerParameters(command=sys.executable, args=["-m", "workbench.demo"])
    with anyio.fail_after(60):
        async with (
            stdio_client(parameters) as (read, write),
            ClientSession(read, write, **callbacks) as session,
        ):
            await session.initialize()
            yield session


def text_of(result: Any) -> str:
    block = result.content[0]
    assert isinstance(block, types.TextContent)
    return block.text


async def test_it_lists_tools_resources_templates_and_prompts() -> None:
    async with connected() as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert {"calculator_arithmetic", "weather_current", "ask_for_name", "sample"} <= set(tools)
        first = await client.list_resources()
        assert first.next_cursor is not None
        second = await client.list_resources(params=types.PaginatedRequestParams(cursor=first.next_cursor))
        assert second.next_cursor is None
        assert "demo://counter" in {entry.uri for entry in first.resources + second.resources}
        assert (await client.list_resource_templates()).resource_templates[0].name == "weather"
        assert len((await client.list_prompts()).prompts) == 3


async def test_the_calculator_and_the_weather_answer_the_same_every_time() -> None:
    async with connected() as client:
        assert (
            text_of(await client.call_tool("calculator_arithmetic", {"expression": "sqrt(16) + 2^3"}))
            == "sqrt(16) + 2^3 = 12"
        )
        metric = text_of(await client.call_tool("weather_current", {"location": "Oslo"}))
        assert metric == text_of(
            await client.call_tool("weather_current", {"location": "Oslo", "units": "metric"})
        )
        kelvin = text_of(await client.call_tool("weather_current", {"location": "Oslo", "units": "kelvin"}))
        assert "°C" in metric
        assert " K," in kelvin


async def test_structured_results_fit_their_schema_and_pictures_are_pictures() -> None:
    async with connected() as client:
        await client.list_tools()
        forecast = await client.call_tool("weather_forecast", {"location": "Lima", "days": 2})
        assert [day["day"] for day in forecast.structured_content["days"]] == [1, 2]
        picture = await client.call_tool("picture", {"side": 16})
        block = picture.content[0]
        assert isinstance(block, types.ImageContent)
        assert base64.b64decode(block.data) == pictures.png(16)


async def test_a_tool_error_is_a_result_and_a_protocol_error_is_raised() -> None:
    async with connected() as client:
        failed = await client.call_tool("fail", {"message": "as asked"})
        assert failed.is_error
        assert text_of(failed) == "as asked"
        with pytest.raises(MCPError) as raised:
            await client.call_tool("break_down", {"code": -32050})
        assert raised.value.error.code == -32050


async def test_progress_reaches_the_callback_step_by_step() -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    async with connected() as client:
        await client.call_tool("long_operation", {"duration": 0.3, "steps": 3}, progress_callback=told)
    assert seen == [(1, 3, "step 1 of 3"), (2, 3, "step 2 of 3"), (3, 3, "step 3 of 3")]


async def test_a_form_is_asked_for_and_its_answer_used() -> None:
    async def answer(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        assert isinstance(params, types.ElicitRequestFormParams)
        assert params.requested_schema["required"] == ["name"]
        return types.ElicitResult(action="accept", content={"name": "Ada", "manner": "formal", "loud": True})

    async with connected(elicitation_callback=answer) as client:
        assert text_of(await client.call_tool("ask_for_name")) == "GOOD DAY, ADA!"
    async with connected() as client:
        assert (await client.call_tool("ask_for_name")).is_error


async def test_the_clients_model_and_roots_are_asked() -> None:
    async def model(_context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        assert params.max_tokens == 7
        content = types.TextContent(type="text", text="forty-two")
        return types.CreateMessageResult(role="assistant", content=content, model="by hand")

    async def roots(_context: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root.model_validate({"uri": "file:///tmp/a", "name": "A"})])

    async with connected(sampling_callback=model, list_roots_callback=roots) as client:
        assert (
            text_of(await client.call_tool("sample", {"prompt": "?", "max_tokens": 7}))
            == "by hand said: forty-two"
        )
        assert text_of(await client.call_tool("read_roots")) == "file:///tmp/a A"


async def test_an_added_tool_is_announced_listed_and_callable() -> None:
    changed = anyio.Event()

    async def notified(message: Any) -> None:
        if isinstance(getattr(message, "root", message), types.ToolListChangedNotification):
            changed.set()

    async with connected(message_handler=notified) as client:
        await client.call_tool("add_a_tool", {"name": "one_more"})
        await changed.wait()
        assert "one_more" in [tool.name for tool in (await client.list_tools()).tools]
        assert "one_more" in text_of(await client.call_tool("one_more"))
        assert (await client.call_tool("add_a_tool", {"name": "one_more"})).is_error


@pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")
async def test_a_subscribed_resource_tells_of_its_change() -> None:
    updated = anyio.Event()

    async def notified(message: Any) -> None:
        if isinstance(getattr(message, "root", message), types.ResourceUpdatedNotification):
            updated.set()

    async with connected(message_handler=notified) as client:
        await client.subscribe_resource("demo://counter")
        await client.call_tool("count", {"by": 3})
        await updated.wait()
        contents = (await client.read_resource("demo://counter")).contents
        assert [entry.text for entry in contents if isinstance(entry, types.TextResourceContents)] == ["3"]


async def test_prompts_are_filled_in_and_their_arguments_completed() -> None:
    async with connected() as client:
        prompt = await client.get_prompt("packing_list", {"city": "Oslo"})
        said = prompt.messages[0].content
        assert isinstance(said, types.TextContent)
        assert "3 days" in said.text
        ref = types.PromptReference(type="ref/prompt", name="compare_weather")
        found = await client.complete(ref, {"name": "second", "value": "l"}, {"first": "Lima"})
        assert found.completion.values == ["London"]
        template = types.ResourceTemplateReference(type="ref/resource", uri="weather://{city}/{units}")
        found = await client.complete(template, {"name": "units", "value": "k"})
        assert found.completion.values == ["kelvin"]
