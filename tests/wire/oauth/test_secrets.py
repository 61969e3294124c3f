"""Nothing that authorization hands from one to another is in a recording, whatever it looks like."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from tests.servers.authorizing import AuthSite
from tests.wire.oauth.stage import staged
from workbench.core.jsonrpc import dumps
from workbench.store.copying import export

pytestmark = pytest.mark.anyio

#: Values that look like no secret: words, digits, what must be escaped in a form, in JSON, in a URL.
SHAPES: list[Callable[[int], str]] = [
    lambda number: f"Kx7vQ2mZ9pLw4Rt{number}",
    lambda number: "correcthorsebattery" + "abcdefgh"[number],
    lambda number: f"8842105566{number}",
    lambda number: f"a/b+c=d~e.f_g-h{number}",
]


def forms(secret: str) -> set[bytes]:
    """How it may be written."""
    found = {secret, quote(secret, safe=""), json.dumps(secret)[1:-1], secret.replace("/", "\\/")}
    return {each.encode() for each in found}


@pytest.mark.parametrize("shape", range(len(SHAPES)))
async def test_no_secret_is_in_what_is_recorded(tmp_path: Path, shape: int) -> None:
    secrets: list[str] = []

    def planted() -> str:
        secrets.append(SHAPES[shape](len(secrets)))
        return secrets[-1]

    client_secret = planted()
    async with staged(tmp_path) as stage:
        site = stage.site
        site._secret = planted  # type: ignore[method-assign]
        site.answers["/mcp"] = echoing(site)
        oauth = {"client_id": "ours", "client_secret": client_secret}
        connection = stage.connect(oauth=oauth)
        await connection.ready()
        for _ in range(2):
            site.revoke()
            await connection.request("tools/call", dumps({"name": "say", "arguments": {}}))
        secrets += [form["code_verifier"] for form in site.forms() if "code_verifier" in form]
    assert len(secrets) >= 8
    with (tmp_path / "text.jsonl").open("w", encoding="utf-8") as text:
        export(str(stage.path), text)
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert [secret for secret in secrets if any(form in written for form in forms(secret))] == []
    basic = base64.b64encode(f"ours:{client_secret}".encode())
    assert basic not in written
    assert b"<redacted:" in written


def echoing(site: AuthSite) -> Callable[[Request], Response | None]:
    """Repeats the token that it refuses in what it says of it, and one that it takes in what a tool says."""

    def answer(request: Request) -> Response | None:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token in site.tokens and b"tools/call" in site.asked[-1][3]:
            result = {"content": [{"type": "text", "text": token}], "structuredContent": {"yours": token}}
            asked = json.loads(site.asked[-1][3])
            return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": result})
        if not token or token in site.tokens:
            return None
        told = {
            "www-authenticate": f'Bearer error="invalid_token", resource_metadata="{site.origin}/.well-known/oauth-protected-resource/mcp"'
        }
        return JSONResponse({"error": "invalid_token", "access_token": token}, 401, told)

    return answer


async def test_what_a_registration_gives_is_not_recorded(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        given = {
            "client_id": "ours",
            "client_secret": "correcthorsebattery",
            "registration_access_token": "anotherplainword",
            "registration_client_uri": f"{stage.site.origin}/register/ours",
        }
        stage.site.answers["/register"] = JSONResponse(given, 201)
        await stage.connect().ready()
    written = stage.path.read_bytes()
    assert b"correcthorsebattery" not in written
    assert b"anotherplainword" not in written
    assert b'"client_id": "ours"' in written or b'"client_id":"ours"' in written


async def test_an_assertion_is_not_recorded(tmp_path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = ec.generate_private_key(ec.SECP256R1())
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    async with staged(tmp_path, browser=False) as stage:
        await stage.connect(
            oauth={"grant": "client_credentials", "client_id": "robot", "private_key": text}
        ).ready()
        sent = stage.site.forms()[0]["client_assertion"]
    written = stage.path.read_bytes()
    assert sent.encode() not in written
    assert sent.rpartition(".")[2].encode() not in written
    assert text.splitlines()[1].encode() not in written


async def test_what_is_no_secret_stays_readable(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        stage.site.challenge += ', scope="read"'
        await stage.connect().ready()
    written = stage.path.read_bytes()
    for word in (
        b"authorization_code",
        b"code_challenge_methods_supported",
        b"token_endpoint",
        b"grant_type",
        b"expires_in",
    ):
        assert word in written
    assert httpx.URL(stage.site.url).host.encode() in written
