"""Strategies for what a hostile peer may send."""

from __future__ import annotations

import json
import re

from hypothesis import strategies as st

from workbench.core.methods import METHODS

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)
KNOWN = re.findall(
    r"\w+",
    """protocolVersion capabilities serverInfo clientInfo tools resources prompts nextCursor cursor name uri
    inputSchema annotations level data logger progressToken progress requestId _meta isError task taskId
    arguments message total mode action content""",
)
members = st.dictionaries(
    st.sampled_from(KNOWN), values | st.dictionaries(st.sampled_from(KNOWN), values, max_size=3), max_size=5
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0"),
        "id": st.sampled_from([0, 1, "1", None]) | values,
        "method": st.sampled_from(sorted(METHODS)) | values,
        "params": members | values,
        "result": members | values,
        "error": members | values,
    },
)
bodies = (messages | st.lists(messages, max_size=3)).map(
    lambda value: json.dumps(value).encode()
) | st.binary()
