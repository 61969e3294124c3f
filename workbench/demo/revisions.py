"""What each handshake revision knows: definitions and content of a newer one are cut down to it.

Source: the "Key changes" of the revisions 2025-03-26, 2025-06-18 and 2025-11-25.
"""

from __future__ import annotations

from typing import Any

JsonObject = dict[str, Any]

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LATEST = REVISIONS[-1]

#: Member of a definition -> the first revision that has it.
_SINCE = {
    "annotations": "2025-03-26",
    "title": "2025-06-18",
    "outputSchema": "2025-06-18",
    "_meta": "2025-06-18",
}

#: Type of a content block -> the first revision that has it.
_CONTENT_SINCE = {"audio": "2025-03-26", "resource_link": "2025-06-18"}


def definition(value: JsonObject, revision: str) -> JsonObject:
    """A tool, resource, template or prompt as a client of the revision may see it."""
    kept = {key: item for key, item in value.items() if _SINCE.get(key, "") <= revision}
    if "arguments" in kept and revision < "2025-06-18":
        kept["arguments"] = [
            {key: item for key, item in argument.items() if key != "title"} for argument in kept["arguments"]
        ]
    return kept


def tool_result(value: JsonObject, revision: str) -> JsonObject:
    """A tool's result: what an old revision has no word for becomes text."""
    shape = dict(value)
    if revision < "2025-06-18":
        shape.pop("structuredContent", None)
    shape["content"] = [_content(block, revision) for block in value["content"]]
    return shape


def _content(block: JsonObject, revision: str) -> JsonObject:
    if _CONTENT_SINCE.get(block["type"], "") <= revision:
        return block
    what = block.get("uri") or block.get("mimeType") or block["type"]
    return {"type": "text", "text": f"({block['type']}: {what})"}
