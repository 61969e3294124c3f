"""The official suite's view of the serving half: those scenarios that are about the transport."""

from __future__ import annotations

import anyio
import pytest

from tests.peers.install import CONFORMANCE, PeerUnavailable, node_folder, npm_folder
from tests.servers.served import over_http

pytestmark = [pytest.mark.anyio, pytest.mark.peer]


@pytest.fixture(scope="module")
def suite() -> list[str]:
    try:
        packages = npm_folder("conformance", CONFORMANCE) / "node_modules" / "@modelcontextprotocol"
        return [str(node_folder() / "node"), str(packages / "conformance" / "dist" / "index.js"), "server"]
    except PeerUnavailable as trouble:
        pytest.skip(str(trouble))


@pytest.mark.parametrize(
    "scenario",
    [
        "dns-rebinding-protection",
        "http-header-validation",
        "ping",
        "server-initialize",
        "server-session-lifecycle",
        "server-sse-multiple-streams",
    ],
)
async def test_the_suite_finds_nothing_wrong(suite: list[str], scenario: str) -> None:
    async with over_http() as (url, _):
        with anyio.fail_after(100):
            done = await anyio.run_process([*suite, "--url", url, "--scenario", scenario], check=False)
    told = done.stdout.decode()
    assert done.returncode == 0, told
    assert "SUCCESS" in told
    assert "FAILURE" not in told
