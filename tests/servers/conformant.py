"""A server with everything the official conformance suite looks for by name, in both eras, over streamable
HTTP on the port in ``PORT``. Made with the official SDK; what it makes up, it makes up anew in each run.
"""

from __future__ import annotations

import base64
import os
import secrets
import warnings
from typing import Any

import anyio
from mcp import MCPError
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import (
    AudioContent,
    Completion,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequiredResult,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel, Field

warnings.simplefilter("ignore")  # of what is deprecated, which is asked for here
server = MCPServer("conformant", version="1")

#: One transparent pixel, and a sound of no length.
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = base64.b64encode(
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0data\0\0\0\0"
).decode()

PNG = ImageContent(type="image", data=PIXEL, mime_type="image/png")


def text(words: str) -> TextContent:
    return TextContent(type="text", text=words)


def embedded(uri: str, words: str, mime_type: str = "text/plain") -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=words)
    return EmbeddedResource(type="resource", resource=contents)


# Tools that answer at once


@server.tool()
def test_simple_text() -> str:
    """Says something."""
    return "This is a simple text response for testing."


@server.tool()
def test_image_content() -> list[ImageContent]:
    """Shows something."""
    return [PNG]


@server.tool()
def test_audio_content() -> list[AudioContent]:
    """Sounds."""
    return [AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")]


@server.tool()
def test_embedded_resource() -> list[EmbeddedResource]:
    """Brings a resource with it."""
    return [embedded("test://embedded-resource", "This is an embedded resource content.")]


@server.tool()
def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
    """Says, shows and brings."""
    mixed = embedded("test://mixed-content-resource", '{"test":"data"}', "application/json")
    return [text("Multiple content types test:"), PNG, mixed]


@server.tool()
def test_error_handling() -> str:
    """Fails."""
    raise RuntimeError("This tool intentionally returns an error for testing")


# Tools that tell and ask on the way


@server.tool()
async def test_tool_with_logging(ctx: Context) -> str:
    """Logs three times."""
    for words in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.log("info", words)
        await anyio.sleep(0.05)
    return "Logged three times."


@server.tool()
async def test_logging_tool(ctx: Context) -> str:
    """Logs, for who wants it."""
    await ctx.log("info", "logged")
    return "Logged."


@server.tool()
async def test_tool_with_progress(ctx: Context) -> str:
    """Reports progress three times."""
    for step in (0, 50, 100):
        await ctx.report_progress(step, 100, f"Completed step {step} of 100")
        await anyio.sleep(0.05)
    return "Done."


@server.tool()
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Asks for what a model would say."""
    asked = [SamplingMessage(role="user", content=text(prompt))]
    answer = await ctx.session.create_message(
        messages=asked, max_tokens=100, related_request_id=ctx.request_id
    )
    return f"LLM response: {getattr(answer.content, 'text', answer.content)}"


class Named(BaseModel):
    username: str = Field(description="User's response")
    email: str = Field(description="User's email address")


@server.tool()
async def test_elicitation(message: str, ctx: Context) -> str:
    """Asks the user."""
    answer = await ctx.elicit(message=message, schema=Named)
    return f"User response: {answer.model_dump_json()}"


DEFAULTS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}

TITLED = [
    {"const": f"value{n}", "title": f"{word} Option"}
    for n, word in enumerate(("First", "Second", "Third"), 1)
]
ENUMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
        },
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}


async def form(ctx: Context, schema: dict[str, Any]) -> str:
    # On the call's own stream: what goes to the client's is lost while that is not open yet.
    answer = await ctx.session.elicit_form(
        message="Please fill it in", requested_schema=schema, related_request_id=ctx.request_id
    )
    return f"Elicitation completed: action={answer.action}, content={answer.content}"


@server.tool()
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Asks with defaults."""
    return await form(ctx, DEFAULTS)


@server.tool()
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Asks with choices of every kind."""
    return await form(ctx, ENUMS)


# The stateless era: tools whose calls take several rounds


def need(key: str, request: dict[str, Any], state: str | None = None) -> dict[str, Any]:
    asked: dict[str, Any] = {"inputRequests": {key: request}}
    return asked if state is None else asked | {"requestState": state}


def elicit(message: str, field: str = "name", kind: str = "string") -> dict[str, Any]:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": message, "requestedSchema": schema},
    }


def sample(words: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": {"type": "text", "text": words}}]
    return {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}}


ROOTS = {"method": "roots/list", "params": {}}


def again(asked: dict[str, Any]) -> InputRequiredResult:
    return InputRequiredResult.model_validate(asked)


def answered(ctx: Context, *keys: str) -> bool:
    given = ctx.input_responses or {}
    return all(key in given for key in keys)


@server.tool()
async def test_input_required_result_elicitation(ctx: Context) -> InputRequiredResult | str:
    """Asks for a name."""
    if not answered(ctx, "user_name"):
        return again(need("user_name", elicit("What is your name?")))
    given: Any = (ctx.input_responses or {})["user_name"]
    content = given.content or {}
    if given.action == "accept" and not isinstance(content.get("name"), str):
        return again(need("user_name", elicit("What is your name?")))
    return f"Hello, {content.get('name', 'nobody')}!"


@server.tool()
async def test_input_required_result_sampling(ctx: Context) -> InputRequiredResult | str:
    """Asks a model."""
    if not answered(ctx, "capital_question"):
        return again(need("capital_question", sample("What is the capital of France?")))
    given: Any = (ctx.input_responses or {})["capital_question"]
    return f"The model says: {getattr(given.content, 'text', '')}"


@server.tool()
async def test_input_required_result_list_roots(ctx: Context) -> InputRequiredResult | str:
    """Asks for roots."""
    if not answered(ctx, "client_roots"):
        return again(need("client_roots", ROOTS))
    given: Any = (ctx.input_responses or {})["client_roots"]
    return f"Roots: {len(given.roots)}"


@server.tool()
async def test_input_required_result_request_state(ctx: Context) -> InputRequiredResult | str:
    """Keeps something with the client."""
    if not answered(ctx, "confirm") or ctx.request_state is None:
        return again(need("confirm", elicit("Go on?", "ok", "boolean"), f"state-{secrets.token_hex(8)}"))
    return "state-ok"


@server.tool()
async def test_input_required_result_tampered_state(ctx: Context) -> InputRequiredResult | str:
    """Keeps something with the client that nobody may change."""
    if not answered(ctx, "confirm") or ctx.request_state is None:
        return again(need("confirm", elicit("Go on?", "ok", "boolean"), f"sealed-{secrets.token_hex(8)}"))
    return "state-ok"


@server.tool()
async def test_input_required_result_multiple_inputs(ctx: Context) -> InputRequiredResult | str:
    """Asks for three things at once."""
    if not answered(ctx, "user_name", "greeting", "client_roots"):
        asked = {
            "user_name": elicit("What is your name?"),
            "greeting": sample("Greet"),
            "client_roots": ROOTS,
        }
        return again({"inputRequests": asked, "requestState": f"many-{secrets.token_hex(8)}"})
    return "all there"


@server.tool()
async def test_input_required_result_multi_round(ctx: Context) -> InputRequiredResult | str:
    """Asks twice."""
    if answered(ctx, "step2"):
        return "done"
    if answered(ctx, "step1"):
        return again(
            need("step2", elicit("Step 2: favourite colour?", "color"), f"two-{secrets.token_hex(8)}")
        )
    return again(need("step1", elicit("Step 1: your name?"), f"one-{secrets.token_hex(8)}"))


@server.tool()
async def test_input_required_result_capabilities(ctx: Context) -> InputRequiredResult | str:
    """Asks for no more than the client can."""
    if ctx.input_responses:
        return "done"
    offered: Any = ctx.client_capabilities
    asked: dict[str, Any] = {}
    if offered is not None and offered.elicitation is not None:
        asked["user_name"] = elicit("What is your name?")
    if offered is not None and offered.sampling is not None:
        asked["greeting"] = sample("Greet")
    if offered is not None and offered.roots is not None:
        asked["client_roots"] = ROOTS
    return again({"inputRequests": asked}) if asked else "nothing to ask"


@server.tool()
async def test_missing_capability(ctx: Context) -> InputRequiredResult | str:
    """Needs sampling."""
    offered: Any = ctx.client_capabilities
    if offered is None or offered.sampling is None:
        raise MCPError(-32021, "Sampling is needed.", {"requiredCapabilities": {"sampling": {}}})
    if not answered(ctx, "capital_question"):
        return again(need("capital_question", sample("What is the capital of France?")))
    return "done"


@server.tool()
async def test_streaming_elicitation(ctx: Context) -> InputRequiredResult | str:
    """Asks, on a stream."""
    await ctx.report_progress(1, 2)
    if not answered(ctx, "user_name"):
        return again(need("user_name", elicit("What is your name?")))
    return "done"


@server.tool()
async def test_trigger_tool_change(ctx: Context) -> str:
    """Says that the tools have changed."""
    await ctx.notify_tools_changed()
    return "told"


@server.tool()
async def test_trigger_prompt_change(ctx: Context) -> str:
    """Says that the prompts have changed."""
    await ctx.notify_prompts_changed()
    return "told"


# Resources


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """Text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """A pixel."""
    return base64.b64decode(PIXEL)


@server.resource("test://template/{id}/data", mime_type="application/json")
def template(id: str) -> str:
    """By its id."""
    return f'{{"id": "{id}", "templateTest": true, "data": "Data for ID: {id}"}}'


@server.resource("test://watched-resource", mime_type="text/plain")
def watched() -> str:
    """Can be watched."""
    return "Watched resource content"


async def _taken(_context: Any, _params: Any) -> EmptyResult:
    return EmptyResult()


# The SDK's high-level server has no words for these.
server._lowlevel_server.add_request_handler("resources/subscribe", SubscribeRequestParams, _taken)
server._lowlevel_server.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, _taken)
server._lowlevel_server.add_request_handler("logging/setLevel", SetLevelRequestParams, _taken)


# Prompts, completion


@server.prompt()
def test_simple_prompt() -> str:
    """Without arguments."""
    return "This is a simple prompt for testing."


@server.prompt()
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """With two."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@server.prompt()
def test_prompt_with_embedded_resource(resourceUri: str) -> Any:
    """With a resource."""
    return [
        UserMessage(embedded(resourceUri, "Embedded resource content for testing.")),
        UserMessage("See above."),
    ]


@server.prompt()
def test_prompt_with_image() -> Any:
    """With an image."""
    return [UserMessage(PNG), UserMessage("Please analyze the image above.")]


@server.prompt()
async def test_input_required_result_prompt(ctx: Context) -> Any:
    """Asks for its context."""
    if not answered(ctx, "user_context"):
        return again(need("user_context", elicit("What context should be used?", "context")))
    return "With this context."


@server.completion()  # type: ignore[no-untyped-call, untyped-decorator]
async def complete(_ref: Any, argument: Any, _context: Any) -> Completion:
    return Completion(
        values=[f"{argument.value}{each}" for each in ("paris", "park", "party")], total=3, has_more=False
    )


if __name__ == "__main__":
    server.run("streamable-http", host="127.0.0.1", port=int(os.environ["PORT"]))
