"""A result for people: text as it is, everything else in a line that says what it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli import output
from workbench.core.jsonrpc import dumps
from workbench.core.jsontext import lookup, pretty

if TYPE_CHECKING:
    from workbench.core.actions import Outcome


def print_result(method: str, outcome: Outcome) -> None:
    """Show a result; one whose shape is not its method's is shown as JSON."""
    result = outcome.result
    if isinstance(result, dict):
        if method == "tools/call" and _print_tool(result, outcome.text):
            return
        if method == "resources/read" and _all_objects(result.get("contents")):
            for contents in result["contents"]:
                output.text(_resource(contents))
            return
        if method == "prompts/get" and _all_objects(result.get("messages")):
            for message in result["messages"]:
                content = message.get("content")
                for block in content if isinstance(content, list) else [content]:
                    output.text(f"{message.get('role')}: {_block(block)}")
            return
    output.json_text(pretty(outcome.text))


def _all_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _print_tool(result: dict[str, Any], text: str) -> bool:
    """Whether the result had content or structured data to show; ``text`` is it as it was written."""
    blocks = result.get("content")
    structured = result.get("structuredContent")
    if not _all_objects(blocks) or not (blocks or structured is not None):
        return False
    for block in blocks or ():
        output.text(_block(block))
    if structured is not None and not _is_mirrored(blocks, structured):
        output.json_text(pretty(lookup(text, "/structuredContent") or dumps(structured)))
    return True


def _is_mirrored(blocks: Any, structured: Any) -> bool:
    """Whether a text block says the structured content already, as servers are asked to do: as
    JSON, or as the text that is its only member."""
    from workbench.core.jsonrpc import loads

    for block in blocks:
        if block.get("type") != "text" or not isinstance(block.get("text"), str):
            continue
        if isinstance(structured, dict) and list(structured.values()) == [block["text"]]:
            return True
        try:
            if loads(block["text"]) == structured:
                return True
        except (ValueError, RecursionError):
            continue
    return False


def _block(block: Any) -> str:
    if not isinstance(block, dict):
        return dumps(block)
    kind = block.get("type")
    if kind == "text" and isinstance(block.get("text"), str):
        return str(block["text"])
    if kind in ("image", "audio"):
        return f"[{kind} {block.get('mimeType')}, {_decoded_size(block.get('data'))}]"
    if kind == "resource_link":
        return f"[link {block.get('uri')} {block.get('name', '')}]"
    if kind == "resource" and isinstance(block.get("resource"), dict):
        return f"[resource {block['resource'].get('uri')}]\n{_resource(block['resource'])}"
    return pretty(dumps(block))


def _resource(contents: dict[str, Any]) -> str:
    if isinstance(contents.get("text"), str):
        return str(contents["text"])
    if isinstance(contents.get("blob"), str):
        return f"[binary {contents.get('mimeType')}, {_decoded_size(contents['blob'])}]"
    return pretty(dumps(contents))


def _decoded_size(data: Any) -> str:
    """The size of base64 text when decoded, without decoding it."""
    if not isinstance(data, str):
        return "no data"
    return output.size(max(0, len(data) * 3 // 4 - data.endswith("=") - data.endswith("==")))
