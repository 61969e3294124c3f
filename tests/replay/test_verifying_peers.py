"""Real servers verify as they were recorded, also over another transport, and a changed one does not."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.cli.command import workbench
from tests.replay.test_real_client import WORKBENCH, client
from tests.replay.verifying import read, target, verify
from tests.servers.targets import ROOT
from tests.wire.http_peers import served
from workbench.config import Target
from workbench.core.rules import rule_from
from workbench.replay.manner import Manner
from workbench.session import Session

ANSWERS = (
    rule_from('elicitation/create={"action":"accept","content":{"n":7}}'),
    rule_from("sampling/createMessage=text:a sampled answer"),
)
PATIENT = Manner(timeout=20, start=60)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def verified(recording: Path, *target: str) -> dict[str, Any]:
    done = workbench("replay", "client", str(recording), "--json", *target)
    told: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode in (0, 6), done.stderr
    return told


def differing(told: dict[str, Any]) -> list[tuple[str, str, Any]]:
    return [
        (each["method"], each["verdict"], each.get("differences") or each.get("why"))
        for each in told["exchanges"]
        if each["verdict"] != "equal"
    ]


def test_server_everything_run_anew_is_equal(tmp_path: Path, everything_command: list[str]) -> None:
    recording = tmp_path / "live.db"
    client(*WORKBENCH, "record", "-o", str(recording), "--", *everything_command)
    told = verified(recording, "--", *everything_command)
    assert told["verdict"] == "ok", (differing(told), told["questions"])
    assert told["counts"]["equal"] > 8


async def record_official(path: Path, server: Target) -> None:
    """Everything the official SDK's server has in an era, with a call that is given up."""
    async with Session.open(path=str(path), origin="command") as session:
        connection = session.connect(server, listing=True)
        await connection.ready()
        await connection.refresh()
        modern = connection.conversation.era == "modern"
        if not modern:
            await connection.subscribe("memo://one").wait()
        for method, params in (
            ("tools/call", {"name": "work", "arguments": {"steps": 3}}),
            ("prompts/get", {"name": "greet", "arguments": {"name": "Ada"}}),
            ("resources/read", {"uri": "memo://one"}),
            (
                "completion/complete",
                {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "name", "value": "A"}},
            ),
            ("tools/call", {"name": "tell", "arguments": {}}),
            ("tools/call", {"name": "no-such-tool", "arguments": {}}),
            *(
                (("tools/call", {"name": "ask", "arguments": {}}), ("prompts/get", {"name": "asking"}))
                if modern
                else ()
            ),
        ):
            await connection.request(method, json.dumps(params))
        held = connection.call("tools/call", json.dumps({"name": "hold", "arguments": {}}))
        with anyio.fail_after(20):
            while not held.progress:
                await anyio.sleep(0.02)
        held.cancel()
        await connection.request("tools/call", json.dumps({"name": "work", "arguments": {"steps": 1}}))


@pytest.mark.anyio
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_the_official_server_is_equal_over_stdio_and_over_http(tmp_path: Path, era: str) -> None:
    path = tmp_path / "official.db"
    command = ("-m", "tests.servers.official_eras")
    stdio = target("stdio", command=sys.executable, args=command, cwd=str(ROOT), era=era, rules=ANSWERS)
    await record_official(path, stdio)
    whole = read(path)
    async with served([sys.executable, *command]) as port:
        for server in (stdio, target("http", url=f"http://127.0.0.1:{port}/mcp", era=era, rules=ANSWERS)):
            again = tmp_path / f"{server.transport}.db"
            told = await verify(whole, server, PATIENT, record=str(again))
            assert told.agrees, (
                server.transport,
                told.sentence,
                [each.value() for each in told.disagreeing],
                [each.sentence for each in told.questions],
            )
            [held] = [each for each in told.compared if each.request.name == "hold"]
            assert held.why == "cancelled"
            # The cancel waited for the progress that had been there before it.
            run = read(again).frames
            asked = next(frame for frame in run if frame.method == "tools/call" and b'"hold"' in frame.body)
            assert any(frame.method == "notifications/progress" for frame in run if frame.seq > asked.seq)
    assert len(told.compared) > 10
