"""The client under test: one run of one scenario, on the product's public API.

The suite names the scenario and the revision in variables and gives the URL of
its server as the last argument. What a scenario wants done is in ``SCENARIOS``;
how the protocol is spoken is the product's matter.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx

from workbench.config import Target
from workbench.config.oauth import OAuth
from workbench.core.jsonrpc import dumps
from workbench.core.routing import annotated
from workbench.core.rules import rule_from
from workbench.session import Session
from workbench.wire.connection import Connection
from workbench.wire.oauth_logins import Logins

Scenario = Callable[[Connection], Awaitable[None]]


async def list_only(connection: Connection) -> None:
    await connection.list("tools/list")


async def add_numbers(connection: Connection) -> None:
    await connection.list("tools/list")
    await call(connection, "add_numbers", {"a": 5, "b": 3})


async def accept_defaults(connection: Connection) -> None:
    await connection.list("tools/list")
    await call(connection, "test_client_elicitation_defaults")


async def reconnect(connection: Connection) -> None:
    await connection.list("tools/list")
    await call(connection, "test_reconnection")


async def list_and_call_all(connection: Connection) -> None:
    """Call every tool that is offered to a host: those without a defect that the protocol names."""
    for tool in await connection.list("tools/list"):
        if not annotated(tool.get("inputSchema")).faults:
            await call(connection, tool["name"], example(tool.get("inputSchema") or {}))
    for item in await connection.list("resources/list") if connection.offers("resources/list") else []:
        await connection.request("resources/read", dumps({"uri": item["uri"]}))
    for item in await connection.list("prompts/list") if connection.offers("prompts/list") else []:
        await connection.request("prompts/get", dumps({"name": item["name"]}))


async def replay_calls(connection: Connection) -> None:
    await connection.list("tools/list")
    for wanted in context().get("toolCalls", []):
        await call(connection, wanted["name"], wanted["arguments"])


async def multi_round_trips(connection: Connection) -> None:
    await connection.list("tools/list")
    async with anyio.create_task_group() as group:
        for name in ("test_mrtr_echo_state", "test_mrtr_unrelated", "test_mrtr_no_state"):
            group.start_soon(call, connection, name)
    await call(connection, "test_mrtr_no_result_type")


async def echo_schema(connection: Connection) -> None:
    tools = {tool["name"]: tool for tool in await connection.list("tools/list")}
    focal = next(tool for name, tool in tools.items() if name != "json_schema_echo")
    await call(connection, "json_schema_echo", {"schema": focal["inputSchema"]})


SCENARIOS: dict[str, Scenario] = {
    "initialize": list_only,
    "tools_call": add_numbers,
    "elicitation-sep1034-client-defaults": accept_defaults,
    "sse-retry": reconnect,
    "request-metadata": list_only,
    "http-standard-headers": list_and_call_all,
    "http-custom-headers": replay_calls,
    "http-invalid-tool-headers": list_and_call_all,
    "sep-2322-client-request-state": multi_round_trips,
    "json-schema-ref-no-deref": list_only,
    "json-schema-2020-12-preservation": echo_schema,
}


class HeadlessBrowser:
    """Goes where it is sent and comes back at once: the suite's authorization server agrees to everything."""

    redirect = "http://127.0.0.1:8976/callback"

    @asynccontextmanager
    async def begin(self, _wanted: Sequence[str]) -> AsyncIterator[HeadlessBrowser]:
        yield self

    async def visit(self, url: str) -> str:
        async with httpx.AsyncClient() as client:
            answer = await client.get(url, follow_redirects=False)
        return str(answer.headers.get("location", ""))


def oauth() -> OAuth:
    """Who the client is to the authorization server, from what the suite says of the scenario."""
    told = context()
    given = {name: told.get(name, "") for name in ("client_id", "client_secret")}
    if os.environ["MCP_CONFORMANCE_SCENARIO"].startswith("auth/client-credentials"):
        key, algorithm = told.get("private_key_pem", ""), told.get("signing_algorithm", "")
        return OAuth(grant="client_credentials", private_key=key, algorithm=algorithm, **given)
    if "idp_id_token" in told:
        idp = {name: told[name] for name in ("idp_client_id", "idp_token_endpoint")}
        return OAuth(grant="enterprise", idp_token=told["idp_id_token"], **idp, **given)
    if "valid_jwt" in told:
        return OAuth(grant="assertion", assertion=told["valid_jwt"], client_id=told["client_id"])
    document = "https://conformance-test.local/client-metadata.json"
    return OAuth(client_metadata=document, issuer=told.get("issuer", ""), **given)


async def list_twice_and_call(connection: Connection) -> None:
    """Enough requests for a server to want more of a token, or another one."""
    await connection.list("tools/list")
    await call(connection, "test-tool")
    await connection.list("tools/list")


async def call(connection: Connection, name: str, arguments: dict[str, Any] | None = None) -> None:
    outcome = await connection.request("tools/call", dumps({"name": name, "arguments": arguments or {}}))
    print(name, outcome.how, outcome.sentence or outcome.text)


def context() -> dict[str, Any]:
    value: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    return value


def example(schema: dict[str, Any]) -> dict[str, Any]:
    """Some arguments that fit a simple schema."""
    values = {"string": "text", "integer": 1, "number": 1.5, "boolean": True}
    properties = schema.get("properties") or {}
    return {name: values.get(part.get("type", ""), "text") for name, part in properties.items()}


async def main(url: str) -> int:
    name = os.environ["MCP_CONFORMANCE_SCENARIO"]
    scenario = list_twice_and_call if name.startswith("auth/") else SCENARIOS.get(name)
    if scenario is None:
        print("this scenario is not spoken yet", file=sys.stderr)
        return 1
    rules = (rule_from("elicitation/create=defaults"),)
    target = Target(transport="http", url=url, rules=rules, oauth=oauth())
    logins = Logins(HeadlessBrowser(), keeps=False)
    async with Session.open(record=False, logins=logins) as session:
        connection = session.connect(target, listing=False)
        await connection.ready()
        await scenario(connection)
    return 0


if __name__ == "__main__":
    raise SystemExit(anyio.run(main, sys.argv[-1]))
