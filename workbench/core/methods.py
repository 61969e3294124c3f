"""The MCP method table: which way a method goes, what gates it, and since when it exists.

Source: the schemas of all five revisions (2024-11-05 to 2026-07-28). The
product never refuses a method because it is not in here; the table names
things, finds the member a call is known by, and feeds the checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

#: Every released revision, oldest first.
REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")

#: The revisions that begin with ``initialize``.
HANDSHAKE_REVISIONS = REVISIONS[:4]

LATEST_HANDSHAKE = HANDSHAKE_REVISIONS[-1]

#: The revisions without a handshake, in which every request says for itself what it is.
STATELESS_REVISIONS = REVISIONS[4:]

LATEST_STATELESS = STATELESS_REVISIONS[-1]

#: The only revision in which a JSON array of messages is legal.
BATCH_REVISION = "2025-03-26"


#: The methods of the tasks extension of 2026-07-28. Its requests need the extension, no capability.
TASKS_EXTENSION_METHODS = frozenset(("tasks/get", "tasks/update", "tasks/cancel", "notifications/tasks"))


class Method(NamedTuple):
    """One method of the protocol.

    ``to_server`` and ``to_client`` say who sends it, to whom, where there is a handshake or where
    it came later; ``goes`` knows it for each revision. ``gate`` is the dotted capability it needs:
    the receiver's for a request, the sender's for a notification; empty when it needs none.
    ``first`` and ``last`` are revisions, both inclusive.
    """

    name: str
    request: bool
    to_server: bool
    to_client: bool
    gate: str = ""
    first: str = REVISIONS[0]
    last: str = REVISIONS[-1]


def _table() -> dict[str, Method]:
    handshake = HANDSHAKE_REVISIONS[-1]
    tasks = "2025-11-25"
    modern = "2026-07-28"
    to_server, to_client, both = (True, False), (False, True), (True, True)
    rows: list[tuple[str, bool, tuple[bool, bool], str, str, str]] = [
        ("initialize", True, to_server, "", "", handshake),
        ("ping", True, both, "", "", handshake),
        ("server/discover", True, to_server, "", modern, ""),
        ("subscriptions/listen", True, to_server, "", modern, ""),
        ("tools/list", True, to_server, "tools", "", ""),
        ("tools/call", True, to_server, "tools", "", ""),
        ("resources/list", True, to_server, "resources", "", ""),
        ("resources/templates/list", True, to_server, "resources", "", ""),
        ("resources/read", True, to_server, "resources", "", ""),
        ("resources/subscribe", True, to_server, "resources.subscribe", "", handshake),
        ("resources/unsubscribe", True, to_server, "resources.subscribe", "", handshake),
        ("prompts/list", True, to_server, "prompts", "", ""),
        ("prompts/get", True, to_server, "prompts", "", ""),
        ("completion/complete", True, to_server, "completions", "", ""),
        ("logging/setLevel", True, to_server, "logging", "", handshake),
        ("tasks/get", True, both, "tasks", tasks, ""),
        ("tasks/result", True, both, "tasks", tasks, handshake),
        ("tasks/list", True, both, "tasks.list", tasks, handshake),
        ("tasks/cancel", True, both, "tasks.cancel", tasks, ""),
        ("tasks/update", True, to_server, "", modern, ""),
        ("roots/list", True, to_client, "roots", "", ""),
        ("sampling/createMessage", True, to_client, "sampling", "", ""),
        ("elicitation/create", True, to_client, "elicitation", "2025-06-18", ""),
        ("notifications/initialized", False, to_server, "", "", handshake),
        ("notifications/cancelled", False, both, "", "", ""),
        ("notifications/progress", False, both, "", "", ""),
        ("notifications/message", False, to_client, "logging", "", ""),
        ("notifications/tools/list_changed", False, to_client, "tools.listChanged", "", ""),
        ("notifications/prompts/list_changed", False, to_client, "prompts.listChanged", "", ""),
        ("notifications/resources/list_changed", False, to_client, "resources.listChanged", "", ""),
        ("notifications/resources/updated", False, to_client, "resources.subscribe", "", ""),
        ("notifications/roots/list_changed", False, to_server, "roots.listChanged", "", handshake),
        ("notifications/elicitation/complete", False, to_client, "", tasks, handshake),
        ("notifications/tasks/status", False, both, "tasks", tasks, handshake),
        ("notifications/subscriptions/acknowledged", False, to_client, "", modern, ""),
        ("notifications/tasks", False, to_client, "", modern, ""),
    ]
    return {
        name: Method(name, request, way[0], way[1], gate, first or REVISIONS[0], last or REVISIONS[-1])
        for name, request, way, gate, first, last in rows
    }


#: Every method of every revision, by name.
METHODS: Mapping[str, Method] = _table()

#: What goes another way in the stateless era than before: to the server, to the client. A server asks
#: nothing by itself there: what it asks is part of a result, and no message.
_STATELESS_WAYS: Mapping[str, tuple[bool, bool]] = {
    "roots/list": (False, False),
    "sampling/createMessage": (False, False),
    "elicitation/create": (False, False),
    "notifications/progress": (False, True),
    "tasks/get": (True, False),
    "tasks/cancel": (True, False),
}

#: The request whose stream tells of changes (2026-07-28, "Subscriptions").
LISTEN = "subscriptions/listen"

#: The listings and the member of the result that holds their items.
LIST_METHODS: Mapping[str, str] = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}

#: Which listings a notification says have changed.
CHANGED_LISTS: Mapping[str, tuple[str, ...]] = {
    "notifications/tools/list_changed": ("tools/list",),
    "notifications/resources/list_changed": ("resources/list", "resources/templates/list"),
    "notifications/prompts/list_changed": ("prompts/list",),
}

#: Requests that may be answered by a request for input (2026-07-28, "Multi round-trip requests").
INPUT_METHODS = frozenset(("tools/call", "prompts/get", "resources/read"))

#: Requests whose complete results say how long they are fresh (2026-07-28, "Caching").
CACHEABLE_METHODS = frozenset(("server/discover", "resources/read", *LIST_METHODS))

#: Requests that ask for progress: they do work for somebody. Listings and pings stay bare.
PROGRESS_METHODS = frozenset(
    ("tools/call", "resources/read", "prompts/get", "completion/complete", "tasks/result")
)

#: Log levels, lowest first (RFC 5424; "Logging" in all revisions).
LOG_LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")

#: The member of ``params`` a message is known by.
_NAME_MEMBERS: Mapping[str, str] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "resources/subscribe": "uri",
    "resources/unsubscribe": "uri",
    "notifications/resources/updated": "uri",
    "tasks/get": "taskId",
    "tasks/result": "taskId",
    "tasks/cancel": "taskId",
    "tasks/update": "taskId",
    "notifications/tasks": "taskId",
    "notifications/tasks/status": "taskId",
}


def name_of(method: str | None, params: Any) -> str | None:
    """What a message is about: a tool's or prompt's name, a resource's URI, a task's id.

    ``params`` is the parsed value, whatever it is. ``completion/complete`` is known by the name
    or URI of its ``ref``. ``None`` when there is no such member or it is not a string.
    """
    if method is None or not isinstance(params, dict):
        return None
    if method == "completion/complete":
        ref = params.get("ref")
        if not isinstance(ref, dict):
            return None
        name = ref.get("name", ref.get("uri"))
    else:
        member = _NAME_MEMBERS.get(method)
        name = params.get(member) if member else None
    return name if isinstance(name, str) else None


def gate_of(method: str, revision: str | None = None) -> str:
    """The dotted capability a method needs in a revision, empty when none (or unknown).

    ``completion/complete`` needed none in 2024-11-05; the capability came with 2025-03-26. What is
    left of tasks in 2026-07-28 is an extension, which each request declares for itself.
    """
    row = METHODS.get(method)
    if row is None or (method == "completion/complete" and revision == REVISIONS[0]):
        return ""
    if method in TASKS_EXTENSION_METHODS and (revision or "") > LATEST_HANDSHAKE:
        return ""
    return row.gate


def exists_in(method: str, revision: str) -> bool:
    """Whether a revision defines a method. Revisions compare as text, so drafts fall between."""
    row = METHODS.get(method)
    return row is not None and row.first <= revision <= row.last


def goes(method: str, revision: str | None, to_server: bool) -> bool:
    """Whether a message of a method goes this way in a revision (``None``: that of a handshake that
    is not known yet). Whether the revision has the method at all is ``exists_in``."""
    row = METHODS.get(method)
    if row is None:
        return False
    ways = (row.to_server, row.to_client)
    if (revision or "") > LATEST_HANDSHAKE:
        ways = _STATELESS_WAYS.get(method, ways)
    return ways[0] if to_server else ways[1]


def has_capability(capabilities: Any, dotted: str) -> bool:
    """Whether parsed capabilities hold a dotted one: present, and neither false nor null."""
    value = capabilities
    for key in dotted.split("."):
        if not isinstance(value, dict) or key not in value:
            return False
        value = value[key]
        if value is False or value is None:
            return False
    return True
