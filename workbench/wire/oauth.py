"""The authorization of one connection: which token its requests carry, and how another one is got.

A refused request asks (``answered``), and is sent again when there is another token. Requests refused at the
same time ask once: whoever comes later finds that the token has changed. How often it is tried is
bounded, so that a server that is never content is not asked for ever.

Source: "Authorization", 2025-03-26 to 2026-07-28.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import anyio

from workbench.config import Target
from workbench.config.oauth import OAuth
from workbench.errors import UsageError
from workbench.wire.http_clients import HttpClients
from workbench.wire.http_library import httpx
from workbench.wire.oauth_challenge import Challenge, bearer
from workbench.wire.oauth_discovery import AuthorizationServer, Resource, canonical, resource_of, server_of
from workbench.wire.oauth_exchange import WHOSE, AuthorizationFailed, Exchanges, place, shown
from workbench.wire.oauth_flow import authorize
from workbench.wire.oauth_logins import Logins
from workbench.wire.oauth_registration import Client, document_client, given_client, register, still_good
from workbench.wire.oauth_storage import Login, Storage
from workbench.wire.oauth_tokens import Grants, Tokens
from workbench.wire.tap import Tap

#: How often in a row tokens are asked for without the server being content with one.
MOST_IN_VAIN = 3

#: What of a challenge is told.
_TOLD = ("error", "scope", "resource_metadata")


class Authorization:
    """``header`` is what requests carry now, empty for nothing."""

    def __init__(
        self, target: Target, url: httpx.URL, tap: Tap, clients: HttpClients, logins: Logins
    ) -> None:
        self._oauth = target.oauth or OAuth()
        # Where the era is only being found out, the server may be one of before 2026-07-28.
        self._strict = target.era == "modern"
        self._server = canonical(url)
        self._exchanges = Exchanges(clients, url, tap)
        self._logins = logins
        # What a client gets by itself it can get again.
        self._storage = Storage() if logins.keeps and self._oauth.grant == "code" else None
        self._clients: dict[str, Client] = {}
        self._lock = anyio.Lock()
        self._login: Login | None = None
        self._in_vain = 0
        self._refreshed = False
        #: What has been asked for, which a server may grant less of without saying so.
        self._asked: tuple[str, ...] = ()
        if self._storage is not None:
            self._login = self._storage.find(self._server)
            self._asked = self._login.tokens.scopes if self._login is not None else ()

    @property
    def header(self) -> str:
        return f"Bearer {self._login.tokens.access}" if self._login and self._login.tokens.access else ""

    def accepted(self, used: str) -> None:
        """A request that carried this header was not refused."""
        if used and used == self.header:
            self._in_vain = 0
            self._refreshed = False

    def concerns(self, status: int, headers: Sequence[str]) -> bool:
        """Whether a refusal is for want of another token: every 401 is, and a 403 that wants more scopes.
        Some servers say 403 of a token that has expired."""
        if status == 401 or _wants_more(bearer(headers)):
            return True
        return self._login is not None and self._login.tokens.expired

    async def answered(self, status: int, headers: Sequence[str], used: str, version: str) -> None:
        """Get another token after such a refusal. ``headers`` are the values of ``WWW-Authenticate``,
        ``used`` is the header that the request carried, ``version`` the revision that is spoken.

        Raises ``AuthorizationFailed`` where there is no use in sending the request again.
        """
        async with self._lock:
            if used != self.header:
                return
            challenge = bearer(headers)
            self._exchanges.version = version
            self._tell_challenge(status, headers, challenge)
            more = _wants_more(challenge)
            if not more and await self._refresh():
                return
            if self._oauth.grant == "code" and self._logins.browser is None:
                if self._logins.looks:
                    await self._look(challenge)
                ended = ", and the login has ended" if used else ""
                why = f"{place(self._server)} asks for authorization{ended}."
                raise AuthorizationFailed(why, f"Log in: mcp-workbench login --http {self._server}")
            if self._in_vain >= MOST_IN_VAIN:
                why = (
                    f"{place(self._server)} refuses each of the {self._in_vain} tokens it was given in a row."
                )
                raise AuthorizationFailed(why, WHOSE)
            self._in_vain += 1
            try:
                await self._obtain(challenge, more=more, strict=self._strict)
            except AuthorizationFailed as failure:
                self._exchanges.step("login", False, failure.why, expected="a token")
                raise

    def _tell_challenge(self, status: int, headers: Sequence[str], challenge: Challenge | None) -> None:
        # A server may repeat the token in it, so only what says where to go on is told.
        told = [f"{name}={challenge.get(name)[:200]}" for name in _TOLD if challenge and challenge.get(name)]
        came = " ".join([challenge.scheme.title(), *told]) if challenge else "no challenge for Bearer"
        came = came if headers else "no WWW-Authenticate"
        self._exchanges.step(
            "challenge", challenge is not None, f"status {status}, {came}", expected="a challenge for Bearer"
        )

    # Another token

    async def _refresh(self) -> bool:
        """Ask for another token with the refresh token, once for each that was accepted."""
        login = self._login
        if self._adopt():
            return True
        if login is None or not login.tokens.refresh or self._refreshed:
            return False
        self._refreshed = True
        server = AuthorizationServer(login.issuer, {"token_endpoint": login.token_endpoint})
        grants = Grants(self._exchanges, server, login.client, self._oauth, login.resource)
        try:
            tokens = await grants.by_refresh(login.tokens)
        except AuthorizationFailed:
            # It is told as a step. Another connection may have used the refresh token in the meantime.
            return self._adopt()
        self._take(login._replace(tokens=tokens))
        return True

    def _adopt(self) -> bool:
        """Take the tokens that another connection has got since, if there are such."""
        kept = self._storage.find(self._server) if self._storage is not None and self._login else None
        if kept is None or self._login is None or kept.tokens.access == self._login.tokens.access:
            return False
        self._login = kept
        return True

    async def _obtain(self, challenge: Challenge | None, *, more: bool, strict: bool) -> None:
        named = challenge.get("resource_metadata") if challenge is not None else ""
        resource = await resource_of(self._exchanges, named)
        held = self._oauth.issuer or self._issuer_of_client()
        server = await server_of(
            self._exchanges, resource, self._login.issuer if self._login else held, strict
        )
        if self._login is not None and self._login.issuer != server.issuer:
            self._exchanges.step(
                "authorization server", False, f"now {server.issuer}", expected=self._login.issuer
            )
        asked = challenge.get("scope").split() if challenge is not None else []
        scopes = self._scopes(asked, resource.scopes, server, more=more)
        if more and self._login is not None and set(scopes) <= set(self._asked):
            named = " ".join(asked) or "(none named)"
            why = f"{place(self._server)} wants the scopes {shown(named)}, which were asked for."
            raise AuthorizationFailed(why, "Whoever grants them has not; ask for them there, or use less.")
        if self._oauth.grant == "code":
            login = await self._by_browser(server, resource, scopes, held)
        else:
            login = await self._by_itself(server, resource.name, scopes, held)
        self._asked = scopes
        self._take(login)

    async def _look(self, challenge: Challenge | None) -> None:
        """Walk the documents without asking anybody. Raises ``AuthorizationFailed`` for what is wrong."""
        named = challenge.get("resource_metadata") if challenge is not None else ""
        resource = await resource_of(self._exchanges, named)
        server = await server_of(self._exchanges, resource, "", self._strict)
        if server.document:
            self._check_pkce(server)

    def _scopes(
        self, asked: Sequence[str], offered: Sequence[str] | None, server: AuthorizationServer, *, more: bool
    ) -> tuple[str, ...]:
        """The scopes to ask for ("Scope Selection Strategy", 2025-11-25): what is given, else what the
        challenge names, else all that the resource has; with those of before, where more was wanted."""
        wanted = self._oauth.scope.split() or list(asked) or list(offered or ())
        if more:
            # Some servers say that scopes are missing, and not which.
            wanted = [*self._asked, *wanted, *(asked or offered or ())]
        supported = server.names("scopes_supported") or ()
        if self._oauth.grant == "code":
            if "offline_access" in supported and not self._oauth.scope:
                wanted = [*wanted, "offline_access"]
            elif "offline_access" not in supported and server.document:
                wanted = [each for each in wanted if each != "offline_access"]
        return tuple(dict.fromkeys(wanted))

    async def _by_itself(
        self, server: AuthorizationServer, resource: str, scopes: Sequence[str], held: str
    ) -> Login:
        oauth = self._oauth
        client = given_client(oauth, server, held) or Client("")
        grants = Grants(self._exchanges, server, client, oauth, resource)
        if oauth.grant == "client_credentials":
            tokens = await grants.by_client(scopes)
        elif oauth.grant == "assertion":
            tokens = await grants.by_assertion(oauth.assertion, scopes)
        else:
            tokens = await grants.enterprise(scopes)
        return self._login_of(server, resource, client, tokens)

    async def _by_browser(
        self, server: AuthorizationServer, resource: Resource, scopes: Sequence[str], held: str
    ) -> Login:
        if server.document:
            self._check_pkce(server)
        browser = self._logins.browser
        assert browser is not None
        client = given_client(self._oauth, server, held) or document_client(self._oauth, server)
        client = client or self._known(server.issuer)
        async with browser.begin(client.redirects if client is not None else ()) as visit:
            if client is None or not client.does_for(visit.redirect, scopes):
                known = client.scopes if client is not None else ()
                may_ask = tuple(dict.fromkeys([*scopes, *known, *(resource.scopes or ())]))
                client = await register(self._exchanges, server, visit.redirect, may_ask)
                self._clients[server.issuer] = client
                if self._storage is not None:
                    self._storage.keep_registration(server.issuer, client)
            returned = await authorize(self._exchanges, server, client, visit, resource.name, scopes)
        grants = Grants(self._exchanges, server, client, self._oauth, resource.name)
        tokens = await grants.by_code(returned.code, returned.verifier, returned.redirect, scopes)
        return self._login_of(server, resource.name, client, tokens)

    def _issuer_of_client(self) -> str:
        """The issuer at which the client that was registered beforehand has been used, empty for none."""
        if self._login is None or self._login.client.client_id != self._oauth.client_id:
            return ""
        return self._login.issuer

    def _known(self, issuer: str) -> Client | None:
        """The client that was registered there, now or another time."""
        kept = self._storage.registration(issuer) if self._storage is not None else None
        return still_good(self._clients.get(issuer) or kept)

    def _check_pkce(self, server: AuthorizationServer) -> None:
        methods = server.names("code_challenge_methods_supported")
        if methods is not None and "S256" in methods:
            return
        came = "none named" if methods is None else (" ".join(methods)[:100] or "none")
        self._exchanges.step("PKCE", False, came, expected="code_challenge_methods_supported with S256")
        why = f"The authorization server {place(server.issuer)} does not say that it knows PKCE with S256."
        raise AuthorizationFailed(why, f"Without it a code that is read on the way could be used. {WHOSE}")

    def _login_of(self, server: AuthorizationServer, resource: str, client: Client, tokens: Tokens) -> Login:
        endpoint = server.endpoint("token")
        return Login(self._server, server.issuer, resource, endpoint, client, tokens, time.time())

    def _take(self, login: Login) -> None:
        self._login = login
        if self._storage is not None:
            try:
                self._storage.keep(login)
            except UsageError as error:
                self._exchanges.step("keeping the tokens", False, str(error))


def _wants_more(challenge: Challenge | None) -> bool:
    return challenge is not None and challenge.get("error") == "insufficient_scope"
