"""What a target says of authorization: who we are to its authorization server, and how tokens are got.

Without any of it a token is asked for with a person's consent (``code``), with a client that is
registered when it is needed. Source: "Authorization", 2025-11-25 and 2026-07-28, and the extensions
"OAuth Client Credentials" and "Enterprise-Managed Authorization".
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class OAuth(BaseModel):
    """``grant`` is how tokens are got: ``code`` asks a person in a browser; ``client_credentials`` takes the
    client's secret or private key; ``assertion`` hands in a JWT that somebody else has signed; and
    ``enterprise`` has the identity provider make that JWT of a token of its own.

    ``client_id`` names a client that was registered beforehand, and ``issuer`` the one authorization server
    it was registered at. ``client_metadata`` is the URL of a client metadata document of ours.
    ``private_key`` is a key in PEM, ``algorithm`` what it signs with (empty: what its kind suggests).
    ``scope`` wins over what the server asks for. ``port`` is the one a browser is
    sent back to, 0 for any that is free.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    grant: Literal["code", "client_credentials", "assertion", "enterprise"] = "code"
    client_id: str = ""
    client_secret: str = Field(default="", repr=False)
    issuer: str = ""
    client_metadata: str = ""
    private_key: str = Field(default="", repr=False)
    algorithm: str = ""
    scope: str = ""
    port: int = Field(default=0, ge=0, le=65535)
    assertion: str = Field(default="", repr=False)
    idp_token_endpoint: str = ""
    idp_client_id: str = ""
    idp_token: str = Field(default="", repr=False)

    @property
    def secrets(self) -> dict[str, str]:
        """The values in it that are nobody's business, by name."""
        named = {
            "client-secret": self.client_secret,
            "private-key": self.private_key,
            "assertion": self.assertion,
            "idp-token": self.idp_token,
        }
        return {name: value for name, value in named.items() if value}
