"""A server behind authorization and its authorization server, at one address, whose every answer can be changed.

It does what the protocol says until a test puts something else into ``documents`` or ``answers``.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from base64 import b64decode, urlsafe_b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlencode

import anyio
import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from tests.wire.http_peers import free_port

RESOURCE = "/.well-known/oauth-protected-resource"
SERVER = "/.well-known/oauth-authorization-server"
OPENID = "/.well-known/openid-configuration"


class AuthSite:
    """``asked`` are all requests so far: verb, path, headers and body. ``documents`` are the JSON documents by
    path, ``answers`` what to answer instead, by path: a response or what makes one of the request."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.url = f"{origin}/mcp"
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []
        self.issuer = origin
        self.documents: dict[str, dict[str, Any]] = {
            f"{RESOURCE}/mcp": {"resource": self.url, "authorization_servers": [origin]},
            SERVER: self.metadata(origin),
        }
        self.answers: dict[str, Response | Callable[[Request], Response | None]] = {}
        self.challenge = f'Bearer resource_metadata="{origin}{RESOURCE}/mcp"'
        self.with_iss = False
        self.lifetime: int | None = 3600
        self.refreshes = True
        #: Called after each token that was given.
        self.on_token: Callable[[], None] = lambda: None
        self.scopes_needed: dict[str, str] = {}
        self.codes: dict[str, dict[str, str]] = {}
        #: What each live access token may do, and each refresh token is good for.
        self.tokens: dict[str, str] = {}
        self.refresh: dict[str, str] = {}
        #: Every secret that was ever given out or sent.
        self.secrets: list[str] = []

    def metadata(self, issuer: str, **more: Any) -> dict[str, Any]:
        """An authorization server's document."""
        return {
            "issuer": issuer,
            "authorization_endpoint": f"{self.origin}/authorize",
            "token_endpoint": f"{self.origin}/token",
            "registration_endpoint": f"{self.origin}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            **more,
        }

    def paths(self, verb: str = "") -> list[str]:
        """The paths that were asked, in order."""
        return [path for each, path, _, _ in self.asked if not verb or each == verb]

    def forms(self, path: str = "/token") -> list[dict[str, str]]:
        """The forms that were sent to a path."""
        return [_form(body) for _, each, _, body in self.asked if each == path]

    def revoke(self) -> None:
        """No access token is good any more."""
        self.tokens.clear()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        body = await request.body()
        path = request.url.path
        self.asked.append((request.method, path, dict(request.headers), body))
        answer = self.answers.get(path)
        if callable(answer) and not isinstance(answer, Response):
            answer = answer(request)
        if answer is None:
            answer = self._answer(request, path, body)
        await answer(scope, receive, send)

    def _answer(self, request: Request, path: str, body: bytes) -> Response:
        if path in self.documents:
            return JSONResponse(self.documents[path])
        if path == "/authorize":
            return self._authorize(dict(request.query_params))
        if path == "/token":
            return self._token(request, _form(body))
        if path == "/register":
            asked = json.loads(body)
            return JSONResponse({**asked, "client_id": f"client-{secrets.token_hex(4)}"}, 201)
        if path == "/mcp":
            return self._mcp(request, body)
        return Response("not here", 404)

    def _authorize(self, query: dict[str, str]) -> Response:
        code = self._secret()
        self.codes[code] = query
        back = {"code": code, "state": query["state"]}
        if self.with_iss:
            back["iss"] = self.issuer
        return RedirectResponse(f"{query['redirect_uri']}?{urlencode(back)}", 302)

    def _token(self, request: Request, form: dict[str, str]) -> Response:
        self.secrets += [
            form[name] for name in ("code_verifier", "client_secret", "client_assertion") if name in form
        ]
        scope = form.get("scope", "")
        if form["grant_type"] == "authorization_code":
            asked = self.codes.pop(form["code"], None)
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            challenge = urlsafe_b64encode(digest).rstrip(b"=").decode()
            if (
                asked is None
                or asked["code_challenge"] != challenge
                or asked["redirect_uri"] != form["redirect_uri"]
            ):
                return JSONResponse({"error": "invalid_grant"}, 400)
            scope = asked.get("scope", "")
        elif form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self.refresh:
                return JSONResponse(
                    {"error": "invalid_grant", "error_description": "no such refresh token"}, 400
                )
            scope = self.refresh.pop(form["refresh_token"])
        elif form["grant_type"] == "client_credentials" and not (
            form.get("client_assertion") or form.get("client_secret") or basic(request)
        ):
            return JSONResponse({"error": "invalid_client"}, 401)
        access = self._secret()
        self.tokens[access] = scope
        answer: dict[str, Any] = {"access_token": access, "token_type": "Bearer"}
        if scope:
            answer["scope"] = scope
        if self.lifetime is not None:
            answer["expires_in"] = self.lifetime
        if self.refreshes and form["grant_type"] in ("authorization_code", "refresh_token"):
            answer["refresh_token"] = self._secret()
            self.refresh[answer["refresh_token"]] = scope
        self.on_token()
        return JSONResponse(answer)

    def _secret(self) -> str:
        self.secrets.append(secrets.token_urlsafe(24))
        return self.secrets[-1]

    def _mcp(self, request: Request, body: bytes) -> Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.tokens:
            headers = {"www-authenticate": self.challenge} if self.challenge else {}
            return JSONResponse({"error": "invalid_token"}, 401, headers)
        if request.method != "POST":
            return Response(status_code=405)
        asked = json.loads(body)
        method = asked["method"]
        needed = self.scopes_needed.get(method, "")
        if not set(needed.split()) <= set(self.tokens[token].split()):
            told = f'Bearer error="insufficient_scope", scope="{needed}"'
            return JSONResponse({"error": "insufficient_scope"}, 403, {"www-authenticate": told})
        if "id" not in asked:
            return Response(status_code=202)
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "authorizing", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": "said"}]},
        }
        if method not in results:
            error = {"code": -32601, "message": "no such method"}
            return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "error": error})
        return JSONResponse({"jsonrpc": "2.0", "id": asked["id"], "result": results[method]})


def basic(request: Request) -> tuple[str, str] | None:
    """Client and secret of a request, as RFC 6749, 2.3.1 has them."""
    header = request.headers.get("authorization", "")
    if not header.startswith("Basic "):
        return None
    user, _, secret = b64decode(header[6:]).decode().partition(":")
    return unquote_plus(user), unquote_plus(secret)


def _form(body: bytes) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(body.decode(), keep_blank_values=True).items()}


@asynccontextmanager
async def serve_authorizing() -> AsyncIterator[AuthSite]:
    """The site at a free port of 127.0.0.1."""
    port = await free_port()
    site = AuthSite(f"http://127.0.0.1:{port}")
    async with served_here(site, port):
        yield site


@asynccontextmanager
async def served_here(app: Any, port: int) -> AsyncIterator[None]:
    """An ASGI app in this process."""
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="error", lifespan="off")
    server = uvicorn.Server(config)
    async with anyio.create_task_group() as group:
        # ``serve`` would take the signals, which are the tests' own.
        group.start_soon(server._serve)
        while not server.started:
            await anyio.sleep(0.01)
        try:
            yield
        finally:
            server.should_exit = True
            server.force_exit = True
