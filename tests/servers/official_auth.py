"""A server of the official SDK behind the SDK's own authorization server, on the port in ``PORT``.

Tokens live as long as ``LIFETIME`` says (seconds). Everybody who is asked agrees. ``SCOPE`` is what the server
requires of a token.
"""

from __future__ import annotations

import os
import secrets
import time
from typing import Any

from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

PORT = int(os.environ["PORT"])
ORIGIN = f"http://127.0.0.1:{PORT}"
SCOPE = os.environ.get("SCOPE", "user")


class Provider(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Keeps everything in memory."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = secrets.token_urlsafe(32)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(
        self,
        client: OAuthClientInformationFull,  # noqa: ARG002 - the protocol's signature
        authorization_code: str,
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._tokens(client.client_id, authorization_code.scopes, authorization_code.resource)

    async def load_refresh_token(
        self,
        client: OAuthClientInformationFull,  # noqa: ARG002 - the protocol's signature
        refresh_token: str,
    ) -> RefreshToken | None:
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        del self.refresh[refresh_token.token]
        return self._tokens(client.client_id, scopes, refresh_token.resource)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        """All tokens of the client go."""
        for held in (self.access, self.refresh):
            for each in [name for name, value in held.items() if value.client_id == token.client_id]:
                del held[each]

    def _tokens(self, client_id: str, scopes: list[str], resource: str | None) -> OAuthToken:
        lifetime = int(os.environ.get("LIFETIME", "3600"))
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        common: dict[str, Any] = {"client_id": client_id, "scopes": scopes, "resource": resource}
        self.access[access] = AccessToken(token=access, expires_at=int(time.time()) + lifetime, **common)
        self.refresh[refresh] = RefreshToken(token=refresh, **common)
        return OAuthToken(
            access_token=access, expires_in=lifetime, refresh_token=refresh, scope=" ".join(scopes) or None
        )


server = MCPServer(
    "guarded",
    auth_server_provider=Provider(),
    auth=AuthSettings(
        issuer_url=ORIGIN,  # type: ignore[arg-type]
        resource_server_url=f"{ORIGIN}/mcp",  # type: ignore[arg-type]
        validate_token_resource=True,
        required_scopes=[SCOPE],
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=[SCOPE, "other"]),
        revocation_options=RevocationOptions(enabled=True),
    ),
)


@server.tool()
def say() -> str:
    """Says something."""
    return "said"


if __name__ == "__main__":
    server.run("streamable-http", host="127.0.0.1", port=PORT)
