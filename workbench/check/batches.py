"""Arrays of messages, which one revision has."""

from __future__ import annotations

from workbench.check.rule import ALL, HANDSHAKE, Rule
from workbench.check.watched import Hooks, Watched
from workbench.core.frame import ANSWERS, Kind
from workbench.core.methods import BATCH_REVISION

BATCH = Rule(
    "batch",
    "error",
    ALL,
    "Base protocol: Batching (2025-03-26 only)",
    "Several messages came as one array, which only 2025-03-26 has; most peers drop it without a word.",
    ("@ 2025-11-25", '< [{"jsonrpc":"2.0","id":1,"method":"ping"}]'),
)
BATCH_MIXED = Rule(
    "batch-mixed",
    "warning",
    (BATCH_REVISION, BATCH_REVISION),
    "Transports: Streamable HTTP, Sending messages (2025-03-26)",
    "The array mixes answers with requests or notifications.",
    (
        "@ 2025-03-26",
        '< {"jsonrpc":"2.0","id":1,"method":"ping"}',
        '> [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":9,"method":"ping"}]',
    ),
)
INITIALIZE_IN_BATCH = Rule(
    "initialize-in-batch",
    "error",
    HANDSHAKE,
    "Lifecycle: Initialization (2025-03-26)",
    "initialize is part of an array; it must be sent alone, before anything else.",
    (
        '> [{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26",'
        '"capabilities":{},"clientInfo":{"name":"c","version":"1"}}}]',
        '< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{},'
        '"serverInfo":{"name":"s","version":"1"}}}',
    ),
)

RULES = (BATCH, BATCH_MIXED, INITIALIZE_IN_BATCH)

_ASKS = (Kind.REQUEST, Kind.NOTIFICATION)


class Batches:
    """Looks at every array that holds messages."""

    def __init__(self, watched: Watched, hooks: Hooks) -> None:
        self._watched = watched
        hooks.frames.append(self._on_frame)

    def _on_frame(self) -> None:
        watched = self._watched
        if watched.excused or watched.decoded.kind is not Kind.BATCH:
            return
        messages = watched.decoded.messages
        if watched.revision != BATCH_REVISION and not any(each.method == "initialize" for each in messages):
            watched.found(BATCH)
        kinds = {message.kind for message in messages}
        if kinds.intersection(ANSWERS) and kinds.intersection(_ASKS):
            watched.found(BATCH_MIXED)
        for index, message in enumerate(messages):
            if message.method == "initialize":
                watched.found(INITIALIZE_IN_BATCH, f"/{index}")
