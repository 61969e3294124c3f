"""A login from the first 401 to the answer, and what becomes of it."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from tests.servers.authorizing import OPENID, RESOURCE, SERVER
from tests.wire.oauth.stage import staged, steps
from workbench.check.recorded import Recorded
from workbench.cli.sessions.verifying import checked_lines
from workbench.core.jsonrpc import dumps
from workbench.keep import check
from workbench.store.reader import Reader
from workbench.wire.connection import Connection

pytestmark = pytest.mark.anyio


async def says(connection: Connection) -> str:
    outcome = await connection.request("tools/call", dumps({"name": "say", "arguments": {}}))
    return outcome.how if outcome.how == "result" else f"{outcome.how}: {outcome.sentence}"


async def test_a_server_that_asks_for_a_token_gets_one(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        connection = stage.connect()
        await connection.ready()
        assert await says(connection) == "result"
    site, asked = stage.site, stage.browser.asked()
    assert len(stage.browser.visits) == 1
    assert asked["code_challenge_method"] == "S256"
    assert asked["resource"] == site.url
    assert asked["redirect_uri"] == stage.browser.redirect
    form = site.forms()[0]
    assert (form["grant_type"], form["resource"]) == ("authorization_code", site.url)
    assert len(form["code_verifier"]) >= 43
    bearers = [headers.get("authorization", "") for verb, path, headers, _ in site.asked if path == "/mcp"]
    assert bearers[0] == ""
    assert all(each.startswith("Bearer ") for each in bearers[1:])
    assert len(bearers) > 3
    assert all("token" not in path for path in site.paths("GET"))
    told = [(step["step"], step["ok"]) for step in steps(stage.path)]
    assert told == [
        ("challenge", True),
        ("protected resource metadata", True),
        ("resource", True),
        ("authorization server metadata", True),
        ("issuer", True),
        ("registration", True),
        ("authorization", True),
        ("redirect", True),
        ("token", True),
    ]


async def test_a_header_of_the_users_own_switches_it_off(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        told = await stage.fails(headers={"authorization": "Bearer mine-1234567890"})
    assert "status 401" in told
    assert stage.site.paths() == ["/mcp"]
    assert stage.browser.visits == []


async def test_requests_that_are_refused_at_the_same_time_ask_once(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        connection = stage.connect()
        await connection.ready()
        stage.site.revoke()
        stage.site.refresh.clear()
        outcomes: list[str] = []

        async def one() -> None:
            outcomes.append(await says(connection))

        async with anyio.create_task_group() as group:
            for _ in range(5):
                group.start_soon(one)
    assert outcomes == ["result"] * 5
    assert len(stage.browser.visits) == 2


async def test_a_token_that_is_refused_is_made_anew_without_asking_anybody(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        connection = stage.connect()
        await connection.ready()
        for _ in range(3):
            stage.site.revoke()
            assert await says(connection) == "result"
    assert len(stage.browser.visits) == 1
    forms = stage.site.forms()
    assert [form["grant_type"] for form in forms] == ["authorization_code", *["refresh_token"] * 3]
    assert len({form["refresh_token"] for form in forms[1:]}) == 3  # it rotates
    assert all(form["resource"] == stage.site.url for form in forms)


async def test_where_refreshing_is_refused_a_person_is_asked_again(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        connection = stage.connect()
        await connection.ready()
        stage.site.revoke()
        stage.site.refresh.clear()
        assert await says(connection) == "result"
    assert len(stage.browser.visits) == 2
    assert stage.site.paths("POST").count("/register") == 1


async def test_more_scopes_are_asked_for_with_those_of_before(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        stage.site.challenge += ', scope="read"'
        stage.site.scopes_needed["tools/call"] = "write"
        connection = stage.connect()
        await connection.ready()
        assert await says(connection) == "result"
    assert stage.browser.asked(0)["scope"] == "read"
    assert stage.browser.asked(1)["scope"] == "read write"
    assert len(stage.browser.visits) == 2


async def test_scopes_that_are_not_granted_are_not_asked_for_for_ever(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        stage.site.scopes_needed["tools/call"] = "admin"
        connection = stage.connect()
        await connection.ready()
        stage.site.on_token = lambda: stage.site.tokens.update(dict.fromkeys(stage.site.tokens, ""))
        told = await says(connection)
    assert "'admin', which were asked for" in told
    assert len(stage.browser.visits) == 2


async def test_a_server_that_refuses_every_token_is_not_asked_for_ever(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        stage.site.refreshes = False
        stage.site.on_token = stage.site.revoke
        told = await stage.fails()
    assert "refuses each of the 3 tokens" in told
    assert len(stage.browser.visits) == 3


async def test_a_403_that_asks_for_no_scope_is_shown_as_it_is(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        connection = stage.connect()
        await connection.ready()
        from starlette.responses import JSONResponse

        stage.site.answers["/mcp"] = JSONResponse({"error": "not for you"}, 403)
        told = await says(connection)
        stage.site.answers.clear()
    assert "not for you" in told
    assert len(stage.browser.visits) == 1


async def test_without_anybody_to_ask_it_is_said_how_to_log_in(tmp_path: Path) -> None:
    async with staged(tmp_path, browser=False) as stage:
        assert "status 401" in await stage.fails()
    assert stage.site.paths() == ["/mcp"]


async def test_a_login_that_is_kept_is_used_and_renewed_by_other_sessions(tmp_path: Path) -> None:
    async with staged(tmp_path, keeps=True) as stage:
        await stage.connect().ready()
        async with staged(tmp_path, browser=False, keeps=True, site=stage.site) as later:
            await later.connect().ready()
            assert stage.site.paths().count("/register") == 1
            stage.site.revoke()
            await later.connect().ready()
            assert [form["grant_type"] for form in stage.site.forms()] == [
                "authorization_code",
                "refresh_token",
            ]
            stage.site.revoke()
            stage.site.refresh.clear()
            told = await later.fails()
            assert "the login has ended" in told
            assert f"mcp-workbench login --http {stage.site.url}" in told
    assert len(stage.browser.visits) == 1


@pytest.mark.parametrize("auth", ["client_secret_basic", "client_secret_post"])
async def test_a_client_that_was_registered_beforehand_shows_its_secret(tmp_path: Path, auth: str) -> None:
    oauth = {"client_id": "ours:1", "client_secret": "a secret/with=signs"}
    async with staged(tmp_path) as stage:
        stage.site.documents[SERVER]["token_endpoint_auth_methods_supported"] = [auth]
        await stage.connect(oauth=oauth).ready()
    assert "/register" not in stage.site.paths()
    assert stage.browser.asked()["client_id"] == "ours:1"
    form = stage.site.forms()[0]
    if auth == "client_secret_post":
        assert (form["client_id"], form["client_secret"]) == ("ours:1", "a secret/with=signs")
    else:
        from base64 import b64decode

        sent = next(headers["authorization"] for _, path, headers, _ in stage.site.asked if path == "/token")
        assert b64decode(sent[6:]) == b"ours%3A1:a+secret%2Fwith%3Dsigns"
        assert "client_secret" not in form


async def test_a_client_of_one_issuer_is_never_sent_to_another(tmp_path: Path) -> None:
    oauth = {"client_id": "ours", "client_secret": "secret-of-the-first", "issuer": "https://first.example"}
    async with staged(tmp_path) as stage:
        told = await stage.fails(oauth=oauth)
    assert "is registered at https://first.example" in told
    assert stage.browser.visits == []
    assert stage.site.paths("POST") == ["/mcp"]


async def test_another_authorization_server_gets_a_client_of_its_own(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        connection = stage.connect()
        await connection.ready()
        site = stage.site
        other = f"{site.origin}/other"
        site.documents[f"{RESOURCE}/mcp"]["authorization_servers"] = [other]
        site.documents[f"{SERVER}/other"] = site.metadata(other)
        site.revoke()
        site.refresh.clear()
        assert await says(connection) == "result"
    first, second = (stage.browser.asked(place)["client_id"] for place in (0, 1))
    assert first != second
    assert site.paths().count("/register") == 2


async def test_a_document_of_our_own_is_a_client_where_such_are_read(tmp_path: Path) -> None:
    document = "https://ours.example/client.json"
    async with staged(tmp_path) as stage:
        await stage.connect(oauth={"client_metadata": document}).ready()
        stage.site.documents[SERVER]["client_id_metadata_document_supported"] = True
        await stage.connect(oauth={"client_metadata": document}).ready()
    assert stage.browser.asked(0)["client_id"].startswith("client-")
    assert stage.browser.asked(1)["client_id"] == document
    assert stage.site.paths().count("/register") == 1


async def test_the_client_says_of_itself_what_it_is(tmp_path: Path) -> None:
    import json

    async with staged(tmp_path) as stage:
        await stage.connect().ready()
    asked = json.loads(next(body for _, path, _, body in stage.site.asked if path == "/register"))
    assert asked["application_type"] == "native"
    assert "refresh_token" in asked["grant_types"]
    assert asked["token_endpoint_auth_method"] == "none"
    assert asked["redirect_uris"] == [stage.browser.redirect]


@pytest.mark.parametrize("listed", [True, False])
async def test_offline_access_is_asked_for_only_where_it_is_offered(tmp_path: Path, listed: bool) -> None:
    async with staged(tmp_path) as stage:
        stage.site.documents[f"{RESOURCE}/mcp"]["scopes_supported"] = ["a", "b"]
        if listed:
            stage.site.documents[SERVER]["scopes_supported"] = ["a", "offline_access"]
        await stage.connect().ready()
    assert stage.browser.asked()["scope"] == ("a b offline_access" if listed else "a b")


async def test_a_client_may_get_a_token_by_itself(tmp_path: Path) -> None:
    oauth = {"grant": "client_credentials", "client_id": "robot", "client_secret": "secret-of-a-robot"}
    async with staged(tmp_path, browser=False) as stage:
        stage.site.documents[f"{RESOURCE}/mcp"]["scopes_supported"] = ["work"]
        connection = stage.connect(oauth=oauth)
        await connection.ready()
        stage.site.revoke()
        assert await says(connection) == "result"
    forms = stage.site.forms()
    assert [(form["grant_type"], form["resource"], form["scope"]) for form in forms] == [
        ("client_credentials", stage.site.url, "work")
    ] * 2


async def test_a_client_may_show_who_it_is_with_a_key(tmp_path: Path) -> None:
    import jwt
    from cryptography.hazmat.primitives.asymmetric import ec, rsa
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    for key, algorithm in (
        (ec.generate_private_key(ec.SECP256R1()), "ES256"),
        (rsa.generate_private_key(65537, 2048), "RS256"),
    ):
        text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        oauth = {"grant": "client_credentials", "client_id": "robot", "private_key": text}
        async with staged(tmp_path, browser=False) as stage:
            await stage.connect(oauth=oauth).ready()
        form = stage.site.forms()[0]
        assert form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        claims = jwt.decode(
            form["client_assertion"], key.public_key(), [algorithm], audience=stage.site.issuer
        )
        assert (claims["iss"], claims["sub"]) == ("robot", "robot")
        assert 0 < claims["exp"] - claims["iat"] <= 300


async def test_a_key_that_is_none_is_told_without_it(tmp_path: Path) -> None:
    oauth = {"grant": "client_credentials", "client_id": "robot", "private_key": "no key at all 123"}
    async with staged(tmp_path, browser=False) as stage:
        told = await stage.fails(oauth=oauth)
    assert "The private key cannot be used to sign" in told
    assert "no key at all" not in told


async def test_openid_metadata_does_as_well(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        stage.site.documents[OPENID] = stage.site.documents.pop(SERVER)
        await stage.connect().ready()
    assert [path for path in stage.site.paths() if "well-known" in path] == [
        f"{RESOURCE}/mcp",
        SERVER,
        OPENID,
    ]


async def test_what_belongs_to_authorization_is_no_message_and_breaks_no_rule(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        stage.site.scopes_needed["tools/call"] = "write"
        connection = stage.connect()
        await connection.ready()
        assert await says(connection) == "result"
        assert connection.view.state == connection.state == "ready"
        labels = [step.label for step in connection.view.steps]
        assert [label for label in labels if label != "auth"][:3] == ["initialize", "result", "initialized"]
        assert "auth" in labels
        assert connection.findings == ()
        assert connection.view.errors == 0
    with Reader.open(str(stage.path)) as reader:
        assert found_in(reader) == []
        (row,) = reader.connections()
        calls = [frame for frame in reader.frames() if frame.method == "tools/call"]
        assert len(calls) == 2  # once, and its answer, although it was sent twice
    assert row.closed_how == "closed"
    assert "replays 100 %" in " ".join(checked_lines(check(str(stage.path))))


def found_in(reader: Reader) -> list[str]:
    """The rules that a recording breaks."""
    found: list[str] = []
    checks = Recorded(lambda _connection, finding: found.append(finding.rule.id))
    for stream in reader.streams():
        checks.head(stream)
    for frame in reader.frames():
        checks.take(frame)
    checks.finish()
    return found
