"""What servers and authorization servers do otherwise than they should, each by itself: the login comes about
all the same, or it is said what is wrong and nothing is sent on."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from tests.servers.authorizing import OPENID, RESOURCE, SERVER, AuthSite
from tests.wire.oauth.stage import staged, steps
from workbench.core.frame import Channel
from workbench.errors import ConnectionFailed
from workbench.store.reader import Reader

pytestmark = pytest.mark.anyio

PRM = f"{RESOURCE}/mcp"


def wrong_steps(path: Path) -> list[str]:
    return [step["step"] for step in steps(path) if not step["ok"]]


# What comes about


def slash_at_the_resource(site: AuthSite) -> None:
    site.documents[PRM]["resource"] = f"{site.url}/"


def the_origin_is_the_resource(site: AuthSite) -> None:
    site.documents[PRM]["resource"] = site.origin


def the_origin_with_a_slash_is_the_resource(site: AuthSite) -> None:
    site.documents[PRM]["resource"] = f"{site.origin}/"


def capitals_in_the_resource(site: AuthSite) -> None:
    site.documents[PRM]["resource"] = site.url.replace("http://", "HTTP://")


def metadata_only_at_the_root(site: AuthSite) -> None:
    site.documents[RESOURCE] = site.documents.pop(PRM)
    site.challenge = "Bearer"


def metadata_only_at_the_path(site: AuthSite) -> None:
    site.challenge = 'Bearer error="invalid_token"'


def metadata_elsewhere_than_told(site: AuthSite) -> None:
    site.challenge = f'Bearer resource_metadata="{site.origin}/nowhere"'


def no_challenge(site: AuthSite) -> None:
    site.challenge = ""


def several_challenges(site: AuthSite) -> None:
    site.challenge = f'Basic realm="a, b", Negotiate abc==, Bearer resource_metadata="{site.origin}{PRM}"'


def openid_below_the_path(site: AuthSite) -> None:
    issuer = f"{site.origin}/tenant"
    site.documents[PRM]["authorization_servers"] = [issuer]
    del site.documents[SERVER]
    site.documents[f"/tenant{OPENID}"] = site.metadata(issuer)


def a_path_whose_metadata_is_at_the_origin(site: AuthSite) -> None:
    issuer = f"{site.origin}/tenant"
    site.documents[PRM]["authorization_servers"] = [issuer]
    site.documents[SERVER] = site.metadata(issuer)


def slash_at_the_issuer(site: AuthSite) -> None:
    site.documents[PRM]["authorization_servers"] = [f"{site.origin}/"]


def nothing_of_the_resource(site: AuthSite) -> None:
    del site.documents[PRM]
    site.challenge = "Bearer"


def no_metadata_at_all(site: AuthSite) -> None:
    site.documents.clear()
    site.challenge = "Bearer"


def no_authorization_servers(site: AuthSite) -> None:
    del site.documents[PRM]["authorization_servers"]


def the_first_server_is_gone(site: AuthSite) -> None:
    site.documents[PRM]["authorization_servers"] = ["http://127.0.0.1:1", site.origin]


def registration_answers_200(site: AuthSite) -> None:
    site.answers["/register"] = JSONResponse({"client_id": "only-this"}, 200)


def registration_gives_a_secret_unasked(site: AuthSite) -> None:
    site.documents[SERVER]["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    site.answers["/register"] = JSONResponse({"client_id": "ours", "client_secret": "s3cr3t-of-ours"}, 201)


def lower_case_bearer_and_no_expiry(site: AuthSite) -> None:
    site.lifetime = None
    real = site._token

    def token(request: Request, form: dict[str, str]) -> Response:
        import json

        answer = json.loads(bytes(real(request, form).body))
        return JSONResponse({**answer, "token_type": "bearer", "expires_in": "soon"})

    site._token = token  # type: ignore[method-assign]


def answers_401_with_a_page(site: AuthSite) -> None:
    def page(request: Request) -> Response | None:
        if request.headers.get("authorization"):
            return None
        return HTMLResponse("<title>Log in</title>", 401, {"www-authenticate": site.challenge})

    site.answers["/mcp"] = page


def answers_401_as_the_error_of_the_request(site: AuthSite) -> None:
    def error(request: Request) -> Response | None:
        if request.headers.get("authorization"):
            return None
        body = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32001, "message": "Unauthorized"}}
        return JSONResponse(body, 401, {"www-authenticate": site.challenge})

    site.answers["/mcp"] = error


def metadata_is_redirected(site: AuthSite) -> None:
    site.documents["/moved"] = site.documents.pop(SERVER)
    site.answers[SERVER] = RedirectResponse("/moved", 307)


@pytest.mark.parametrize(
    ("deviates", "wrong"),
    [
        (slash_at_the_resource, []),
        (the_origin_is_the_resource, []),
        (the_origin_with_a_slash_is_the_resource, []),
        (capitals_in_the_resource, []),
        (metadata_only_at_the_root, ["protected resource metadata"]),
        (metadata_only_at_the_path, []),
        (metadata_elsewhere_than_told, ["protected resource metadata"]),
        (no_challenge, ["challenge"]),
        (several_challenges, []),
        (openid_below_the_path, ["authorization server metadata"] * 2),
        (
            a_path_whose_metadata_is_at_the_origin,
            ["authorization server metadata"] * 4 + ["place of the metadata"],
        ),
        (slash_at_the_issuer, ["issuer"]),
        (nothing_of_the_resource, ["protected resource metadata"] * 2),
        (no_metadata_at_all, ["protected resource metadata"] * 2 + ["authorization server metadata"] * 3),
        (no_authorization_servers, ["authorization servers"]),
        (the_first_server_is_gone, ["authorization server metadata"] * 2),
        (registration_answers_200, []),
        (registration_gives_a_secret_unasked, []),
        (lower_case_bearer_and_no_expiry, []),
        (answers_401_with_a_page, []),
        (answers_401_as_the_error_of_the_request, []),
        (metadata_is_redirected, []),
    ],
)
async def test_a_login_comes_about_and_what_is_odd_is_told(
    tmp_path: Path, deviates: object, wrong: list[str]
) -> None:
    async with staged(tmp_path) as stage:
        deviates(stage.site)  # type: ignore[operator]
        await stage.connect().ready()
    assert wrong_steps(stage.path) == wrong
    form = stage.site.forms()[0]
    assert form["resource"] == stage.browser.asked()["resource"]


# What does not


def another_server_is_the_resource(site: AuthSite) -> None:
    site.documents[PRM]["resource"] = "https://other.example/mcp"


def another_path_is_the_resource(site: AuthSite) -> None:
    site.documents[PRM]["resource"] = f"{site.url}-2"


def no_resource(site: AuthSite) -> None:
    site.documents[PRM]["resource"] = None


def another_issuer(site: AuthSite) -> None:
    site.documents[SERVER]["issuer"] = "https://attacker.example"


def no_pkce(site: AuthSite) -> None:
    del site.documents[SERVER]["code_challenge_methods_supported"]


def only_plain_pkce(site: AuthSite) -> None:
    site.documents[SERVER]["code_challenge_methods_supported"] = ["plain"]


def no_registration(site: AuthSite) -> None:
    del site.documents[SERVER]["registration_endpoint"]


def registration_refused(site: AuthSite) -> None:
    body = {"error": "invalid_client_metadata", "error_description": "not \x1b]52;c;eA==\x07 you"}
    site.answers["/register"] = JSONResponse(body, 400)


def a_page_for_a_token(site: AuthSite) -> None:
    site.answers["/token"] = HTMLResponse("<title>Log in</title>")


def a_token_of_another_kind(site: AuthSite) -> None:
    site.answers["/token"] = JSONResponse({"access_token": "abc", "token_type": "DPoP"})


def a_token_that_is_a_header(site: AuthSite) -> None:
    site.answers["/token"] = JSONResponse({"access_token": "a\r\nHost: x", "token_type": "Bearer"})


def an_endpoint_without_tls(site: AuthSite) -> None:
    site.documents[SERVER]["token_endpoint"] = "http://elsewhere.example/token"


def an_endpoint_that_is_a_file(site: AuthSite) -> None:
    site.documents[SERVER]["authorization_endpoint"] = "file:///etc/passwd"


def servers_that_are_none(site: AuthSite) -> None:
    site.documents[PRM]["authorization_servers"] = ["javascript:alert(1)", 7, ""]


def no_metadata_of_the_server(site: AuthSite) -> None:
    del site.documents[SERVER]


@pytest.mark.parametrize(
    ("deviates", "told", "sent"),
    [
        (another_server_is_the_resource, "is for 'https://other.example/mcp', which this server is not", []),
        (another_path_is_the_resource, "which this server is not", []),
        (no_resource, "is for 'None', which this server is not", []),
        (another_issuer, "is of another one, 'https://attacker.example'", []),
        (no_pkce, "does not say that it knows PKCE with S256", []),
        (only_plain_pkce, "does not say that it knows PKCE with S256", []),
        (no_registration, "lets no client register itself", []),
        (registration_refused, "'invalid_client_metadata', 'not ␛]52;c;eA==␇ you'", ["/register"]),
        (a_page_for_a_token, "gave no token: it answered status 200 with text/html", ["/register", "/token"]),
        (a_token_of_another_kind, "it is of the type 'DPoP'", ["/register", "/token"]),
        (a_token_that_is_a_header, "none that a header can hold", ["/register", "/token"]),
        (an_endpoint_without_tls, "is asked without TLS", ["/register"]),
        (an_endpoint_that_is_a_file, "is no URL that can be asked", ["/register"]),
        (servers_that_are_none, "is no URL that can be asked", []),
        (no_metadata_of_the_server, "has no metadata in any of the places", []),
    ],
)
async def test_a_login_that_cannot_be_trusted_is_none(
    tmp_path: Path, deviates: object, told: str, sent: list[str]
) -> None:
    async with staged(tmp_path) as stage:
        deviates(stage.site)  # type: ignore[operator]
        said = await stage.fails()
    assert told in said
    assert [path for path in stage.site.paths("POST") if path != "/mcp"] == sent
    assert wrong_steps(stage.path)[-1] == "login"


# What is found


@pytest.mark.parametrize(
    ("deviates", "found"),
    [
        (no_challenge, "auth-no-challenge"),
        (another_server_is_the_resource, "auth-resource-mismatch"),
        (no_authorization_servers, "auth-no-servers"),
        (another_issuer, "auth-issuer-mismatch"),
        (slash_at_the_issuer, "auth-issuer-mismatch"),
        (a_path_whose_metadata_is_at_the_origin, "auth-metadata-place"),
        (no_pkce, "auth-no-pkce"),
        (nothing_of_the_resource, ""),
        (metadata_only_at_the_root, ""),
    ],
)
async def test_what_breaks_a_rule_is_a_finding_at_the_answer_that_breaks_it(
    tmp_path: Path, deviates: object, found: str
) -> None:
    async with staged(tmp_path) as stage:
        deviates(stage.site)  # type: ignore[operator]
        connection = stage.connect()
        with suppress(ConnectionFailed):
            await connection.ready()
        assert [finding.rule.id for finding in connection.findings] == ([found] if found else [])
        at = [finding.seq for finding in connection.findings]
    with Reader.open(str(stage.path)) as reader:
        assert all(reader.frame(seq).channel is Channel.AUTH for seq in at)


# What a browser brings back


def with_parameters(url: str, **changed: str | None) -> str:
    query = {**dict(parse_qsl(urlsplit(url).query)), **changed}
    return f"{url.partition('?')[0]}?{urlencode({name: value for name, value in query.items() if value is not None})}"


@pytest.mark.parametrize(
    ("advertised", "iss", "good"),
    [
        (True, "", True),
        (False, "", True),
        (False, None, True),
        (True, None, False),
        (True, "https://attacker.example", False),
        (False, "https://attacker.example", False),
        (True, "/", False),
    ],
)
async def test_who_sent_it_is_looked_at_as_it_stands(
    tmp_path: Path, advertised: bool, iss: str | None, good: bool
) -> None:
    async with staged(tmp_path) as stage:
        stage.site.documents[SERVER]["authorization_response_iss_parameter_supported"] = advertised
        value = iss if iss is None or "." in iss else stage.site.origin + iss
        stage.browser.changes = lambda url: with_parameters(url, iss=value)
        if good:
            await stage.connect().ready()
        else:
            assert "is not of the authorization server" in await stage.fails()
    assert ("/token" in stage.site.paths()) is good


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"state": "another"}, "belongs to no login of ours"),
        ({"state": None}, "belongs to no login of ours"),
        ({"code": None}, "sent no code back"),
        (
            {"code": None, "error": "access_denied", "error_description": "no, \u202e!"},
            "'access_denied', 'no, \\\\u202e!'",
        ),
        (
            {"error": "x", "error_description": "Call 555", "iss": "https://attacker.example"},
            "is not of the authorization",
        ),
    ],
)
async def test_what_is_wrong_with_it_is_told(
    tmp_path: Path, changed: dict[str, str | None], told: str
) -> None:
    async with staged(tmp_path) as stage:
        stage.browser.changes = lambda url: with_parameters(url, **changed)
        said = await stage.fails()
    assert told in said
    assert "555" not in said
    assert "/token" not in stage.site.paths()


async def test_an_issuer_with_a_slash_more_is_another_one_in_the_stateless_era(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        slash_at_the_issuer(stage.site)
        assert "is of another one" in await stage.fails(era="modern")
    assert stage.browser.visits == []
