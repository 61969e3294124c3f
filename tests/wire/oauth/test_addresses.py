"""Which of the addresses that servers name are asked."""

from __future__ import annotations

import httpx
import pytest

from tests.wire.stage import MemorySink
from workbench.wire.http_clients import HttpClients
from workbench.wire.oauth_exchange import AuthorizationFailed, Exchanges
from workbench.wire.tap import Tap

REMOTE, LAN, HERE = "https://host.example/mcp", "http://host.lan:8080/mcp", "http://127.0.0.1:1/mcp"


@pytest.mark.parametrize(
    ("base", "named", "asked"),
    [
        (REMOTE, "https://as.example/token", True),
        (REMOTE, "http://as.example/token", False),
        (REMOTE, "http://host.example/token", False),
        (REMOTE, "http://127.0.0.1:9/token", False),  # a server elsewhere has no business here
        (REMOTE, "http://localhost/token", False),
        (LAN, "http://host.lan:9/token", True),
        (LAN, "http://other.lan/token", False),
        (LAN, "http://[::1]/token", False),
        (HERE, "http://localhost:9/token", True),
        (HERE, "http://[::1]:9/token", True),
        (HERE, "https://as.example/token", True),
        (HERE, "http://as.example/token", False),
        (HERE, "ftp://127.0.0.1/token", False),
        (HERE, "https://user:pass@as.example/token", False),
        (HERE, "https:///token", False),
        (HERE, "//as.example/token", False),
        (HERE, "https://as.example:99999/token", False),
        (HERE, "", False),
    ],
)
def test_nothing_is_sent_where_it_could_be_read_or_has_no_business(
    base: str, named: str, asked: bool
) -> None:
    exchanges = Exchanges(HttpClients(), httpx.URL(base), Tap(MemorySink(), 1))
    if asked:
        assert str(exchanges.allowed("token", named)) == named
    else:
        with pytest.raises(AuthorizationFailed):
            exchanges.allowed("token", named)
