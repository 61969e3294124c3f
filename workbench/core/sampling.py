"""What a server asks a model for: whether it may, and whether an answer keeps to the rules.

Source: "Sampling", 2024-11-05 to 2025-11-25 (tools since 2025-11-25). No model is called: an
answer is written by a person, or taken from a rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.core.jsonrpc import dumps
from workbench.core.methods import has_capability

#: The model that is named where a person or a rule wrote what it would have said.
WRITTEN = "written by hand"

#: Kinds of content a model answers with; ``tool_use`` needs tools in the request.
_CONTENT = {"text": "text", "image": "data", "audio": "data", "tool_use": "name"}


def written(text: str, model: str = WRITTEN) -> str:
    """The result (JSON text) that says a text, as a model would."""
    content = {"type": "text", "text": text}
    return dumps({"role": "assistant", "content": content, "model": model, "stopReason": "endTurn"})


def refusal(params: Any, offered: Mapping[str, Any]) -> str:
    """Why a request must be refused as invalid, as a sentence without a full stop; empty if not."""
    if not isinstance(params, dict):
        return ""
    if ("tools" in params or "toolChoice" in params) and not has_capability(offered, "sampling.tools"):
        return "The client does not offer sampling.tools"
    messages = params.get("messages")
    return _order_fault(messages) if isinstance(messages, list) else ""


def _order_fault(messages: list[Any]) -> str:
    """Every tool_use is answered by the next message, which then holds nothing else."""
    open_uses: set[Any] = set()
    for message in messages:
        blocks = _blocks(message.get("content")) if isinstance(message, dict) else []
        results = [block for block in blocks if block.get("type") == "tool_result"]
        if results and len(results) < len(blocks):
            return "A message with tool results holds something else too"
        if open_uses - {_key(block.get("toolUseId")) for block in results}:
            return "A tool use has no tool result in the message after it"
        open_uses = {_key(block.get("id")) for block in blocks if block.get("type") == "tool_use"}
    return ""


def result_faults(params: Any, result: Any) -> list[str]:
    """What is wrong with an answer (the parsed result) to a request, each a sentence without a full
    stop."""
    if not isinstance(result, dict):
        return ["the result is no JSON object"]
    found = []
    if result.get("role") != "assistant":
        found.append("the role is not assistant")
    if not isinstance(result.get("model"), str):
        found.append("the model is not named")
    blocks = _blocks(result.get("content"))
    if not blocks:
        found.append("the content is no block, and no array of blocks")
    asked = params if isinstance(params, dict) else {}
    for block in blocks:
        found += _block_faults(block, asked)
    return [*found, *_tool_faults(blocks, asked, result.get("stopReason"))]


def _block_faults(block: dict[str, Any], asked: dict[str, Any]) -> list[str]:
    kind = block.get("type")
    member = _CONTENT.get(kind) if isinstance(kind, str) else None
    if member is None:
        return [f"a model does not answer with content of the type {dumps(kind)[:40]}"]
    if not isinstance(block.get(member), str):
        return [f"the {kind} content has no {member}"]
    if kind != "tool_use":
        return []
    tools = asked.get("tools")
    names = [tool.get("name") for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else []
    found = []
    if block["name"] not in names:
        found.append(f"no tool {block['name'][:60]} was given to the model")
    if not isinstance(block.get("id"), str) or not isinstance(block.get("input"), dict):
        found.append("a tool use needs an id (text) and an input (object)")
    return found


def _tool_faults(blocks: list[dict[str, Any]], asked: dict[str, Any], stop: Any) -> list[str]:
    uses = [block for block in blocks if block.get("type") == "tool_use"]
    choice = asked.get("toolChoice")
    mode = choice.get("mode") if isinstance(choice, dict) else None
    found = []
    if mode == "none" and uses:
        found.append("the request forbids to use tools (toolChoice none)")
    if mode == "required" and not uses:
        found.append("the request wants a tool to be used (toolChoice required)")
    if uses and stop not in (None, "toolUse"):
        found.append(f"with a tool use the stopReason is toolUse, not {dumps(stop)[:40]}")
    if len({_key(block.get("id")) for block in uses}) < len(uses):
        found.append("two tool uses have the same id")
    return found


def _blocks(content: Any) -> list[dict[str, Any]]:
    blocks = content if isinstance(content, list) else [content]
    good = [block for block in blocks if isinstance(block, dict)]
    return good if len(good) == len(blocks) else []


def _key(value: Any) -> str:
    return dumps(value)
