"""Targets with an address: URLs, headers, names, and what of them is nobody's business."""

from __future__ import annotations

import base64
import re

import pytest

from workbench.config import Target, display, parse_line, parse_targets, secrets_of, shown_headers
from workbench.core.redact import looks_secret
from workbench.errors import UsageError


def only(line: str) -> Target:
    [target] = parse_line(line)
    return target


KINDS = [
    ("--http https://host/mcp", ("http", "https://host/mcp")),
    ("https://host/mcp", ("http", "https://host/mcp")),
    ("http://10.0.0.1:8080/mcp", ("http", "http://10.0.0.1:8080/mcp")),
    ("--sse=http://host/sse", ("sse", "http://host/sse")),
    ("--transport http=https://host/mcp?a=b", ("http", "https://host/mcp?a=b")),
    ("--transport carrier=pigeon 7", ("carrier", "pigeon 7")),
    ("--transport carrier=#x", ("carrier", "#x")),
]


@pytest.mark.parametrize(("line", "expected"), KINDS)
def test_an_address_is_a_target(line: str, expected: tuple[str, str]) -> None:
    words = line.split(" ", 1) if line.startswith("--transport") else line.split(" ")
    words = words if words[0].startswith("--") else ["--http", *words]
    [target] = parse_targets(words)
    assert (target.transport, target.url) == expected
    assert target.era == "auto"


def test_a_transport_of_stdio_is_a_command() -> None:
    [target] = parse_targets(["--transport", "stdio=srv --x 1"])
    assert (target.transport, target.command, target.args) == ("stdio", "srv", ("--x", "1"))


def test_options_follow_an_address() -> None:
    target = only("https://host/mcp --header 'X-Team: blue' --era modern --name one --timeout 3")
    assert (target.headers, target.era, target.name) == ({"X-Team": "blue"}, "modern", "one")


def test_a_header_may_hold_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "t0p-secret-value")
    target = only("https://host/mcp --header 'Authorization: Bearer ${MY_TOKEN}' --header 'X-A: ${NONE:-d}'")
    assert target.headers == {"Authorization": "Bearer t0p-secret-value", "X-A": "d"}


def test_a_header_for_all_reaches_those_that_have_an_address_and_gives_way_to_a_targets_own() -> None:
    words = [
        "--header",
        "X-Team: blue",
        "--header",
        "X-B: 1",
        "--http",
        "http://a/",
        "--header",
        "x-team: red",
    ]
    first, second, third = parse_targets([*words, "--sse", "http://b/", "--", "srv"])
    assert first.headers == {"x-team": "red", "X-B": "1"}
    assert second.headers == {"X-Team": "blue", "X-B": "1"}
    assert third.headers == {}


MISTAKES = [
    ("--http host/mcp", "--http: 'host/mcp' has no scheme; write https://host/mcp"),
    ("--http localhost:3000/mcp", "'localhost:3000/mcp' has no scheme; write http://localhost:3000/mcp"),
    ("--http //127.0.0.2", "has no scheme; write http://127.0.0.2"),
    ("--sse [::1]:80", "has no scheme; write http://[::1]:80"),
    ("--http localhost.example", "has no scheme; write https://localhost.example"),
    ("--http 'https://host/a b'", "has a blank in it; write %20"),
    ("--http https://host/mcp#top", "has a fragment"),
    ("--sse ftp://host/x", "is neither http:// nor https://"),
    ("--http https://", "names no host"),
    ("--http https://host:99999/mcp", "is no URL"),
    ("--http https://[::1/mcp", "is no URL"),
    ("--http ''", "the URL is empty"),
    ("--http", "--http needs a value"),
    ("--transport carrier", "'carrier' is not NAME=ADDRESS"),
    ("--transport =x", "is not NAME=ADDRESS"),
    ("--http https://host/ --env A=1", "--env is for commands"),
    ("--http https://host/ --cwd /x", "--cwd is for commands"),
    ("--http https://host/ --header Bearer", "the value is not NAME: VALUE"),
    ("--http https://host/ --header 'A b: c'", "'A b' is no name of a header"),
    ("--http https://host/ --header 'A: ä'", "holds 'ä', which no header can carry"),
    ("--http https://host/ --header 'A: ${NOT_SET_ANYWHERE}'", "the variable NOT_SET_ANYWHERE is not set"),
    ("--stdio srv --header 'A: b'", "--header is for HTTP targets"),
    ("--header 'A: b' -- srv", "--header is for HTTP targets"),
]


@pytest.mark.parametrize(("line", "sentence"), MISTAKES)
def test_a_mistake_is_one_sentence_that_names_it(line: str, sentence: str) -> None:
    with pytest.raises(UsageError) as failure:
        parse_line(line)
    assert sentence in str(failure.value)
    assert "\n" not in str(failure.value)


def test_a_mistake_in_a_url_or_header_shows_no_credential() -> None:
    for line in ("--http 'https://u:hunter22@host/a b'", "--http https://h --header 'Bearer hunter22'"):
        with pytest.raises(UsageError) as failure:
            parse_line(line)
        assert "hunter22" not in str(failure.value)


NAMES = [
    ("https://mcp.example.com/mcp", "example"),
    ("https://api.githubcopilot.com/mcp/", "githubcopilot"),
    ("https://docs.mcp.cloudflare.com/sse", "docs-cloudflare"),
    ("https://mcp.example.co.uk", "example"),
    ("https://gateway.corp/v1/weather/mcp", "weather"),
    ("https://server.smithery.ai/@smithery-ai/server-git/mcp", "git"),
    ("http://localhost:3000/mcp", "localhost-3000"),
    ("http://127.0.0.1:8931/mcp", "localhost-8931"),
    ("http://[::1]:80/", "localhost-80"),
    ("http://10.0.0.5:8080/mcp", "10.0.0.5-8080"),
    ("http://intranet/mcp", "intranet"),
    ("https://mcp.zapier.com/api/mcp/s/NjY0ODk2abcdEFGH1234/mcp", "zapier"),
    ("https://user:hunter22@mcp.example.com/mcp?token=abcdefghijk", "example"),
    ("https://mcp.example.com/token/abc/mcp", "example"),
    ("https://mcp.com/", "mcp.com"),
]


@pytest.mark.parametrize(("url", "name"), NAMES)
def test_an_address_has_a_name_that_holds_no_credential(url: str, name: str) -> None:
    assert only(url.replace("'", "")).name == name


SHOWN = [
    ("https://host/mcp?a=1", "https://host/mcp?a=1"),
    ("https://u:hunter22@host/mcp", "https://u:***@host/mcp"),
    ("https://host/mcp?api_key=hunter22&x=1", "https://host/mcp?api_key=***&x=1"),
    ("https://host/mcp?x=1&access_token=hunter22", "https://host/mcp?x=1&access_token=***"),
    ("https://host/ghp_" + "a1B2" * 9 + "/mcp", "https://host/***/mcp"),
    ("--sse https://u:hunter22@host/sse", "--sse https://u:***@host/sse"),
]


@pytest.mark.parametrize(("line", "shown"), SHOWN)
def test_an_address_is_shown_without_its_secrets(line: str, shown: str) -> None:
    assert display(only(line)) == shown


def test_headers_are_shown_without_their_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_SECRET", "hunter22-plain")
    words = ["--http", "https://host/"]
    for header in (
        "Authorization: Bearer hunter22",
        "X-Api-Key: hunter22",
        "X-MyKey: hunter22",
        "Cookie: sid=hunter22; theme=hunter33",
        "X-Team: blue",
        "X-Odd: ${TEAM_SECRET}",
    ):
        words += ["--header", header]
    [target] = parse_targets(words)
    assert shown_headers(target) == {
        "Authorization": "Bearer ***",
        "X-Api-Key": "***",
        "X-MyKey": "***",
        "Cookie": "sid=***; theme=***",
        "X-Team": "blue",
        "X-Odd": "***",
    }


def test_the_recorder_is_told_every_secret_under_a_name_it_takes_for_one() -> None:
    words = ["--http", "https://me:hunter22pw@host/?sig=hunter22%2Fsig", "--header", "X-MyKey: hunter22key"]
    [target] = parse_targets([*words, "--header", "Authorization: Bearer hunter22bearer"])
    found = secrets_of(target)
    basic = base64.b64encode(b"me:hunter22pw").decode()
    wanted = {"hunter22pw", "hunter22/sig", "hunter22%2Fsig", "hunter22key", "hunter22bearer", basic}
    assert wanted <= set(found.values())
    assert all(looks_secret(name, value) for name, value in found.items())


def test_a_target_does_not_repeat_its_secrets_where_it_is_printed() -> None:
    assert "secrets" not in repr(only("https://host/"))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("https://host/mcp --token-env NOT_SET_HERE", "--token-env: the variable 'NOT_SET_HERE' is not set"),
        ("https://host/mcp --client-secret-env NOT_SET_HERE", "is not set, or empty; put the secret into it"),
        ("https://host/mcp --client-key /no/such", "'/no/such' cannot be read: No such file"),
        ("https://host/mcp --client-metadata nothing", "has no scheme; write https://nothing"),
        ("https://host/mcp --grant password", "'password' is no grant; use one of code, client_credentials"),
        ("https://host/mcp --callback-port 70000", "'70000' is no port"),
        ("https://host/mcp --client-id ''", "the value is empty"),
        ("--stdio srv --client-id x", "options of authorization are for HTTP targets"),
    ],
)
def test_options_of_authorization_that_cannot_be_are_told(line: str, told: str) -> None:
    with pytest.raises(UsageError, match=re.escape(told)):
        parse_line(line)


def test_secrets_of_authorization_are_known_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIVEN", "correcthorsebattery")
    [target] = parse_line("https://host/mcp --client-id ours --client-secret-env GIVEN")
    assert "correcthorsebattery" in secrets_of(target).values()
    assert "correcthorsebattery" not in repr(target) + display(target)
    [target] = parse_line("https://host/mcp --token-env GIVEN")
    assert target.headers == {"Authorization": "Bearer correcthorsebattery"}
    assert "correcthorsebattery" in secrets_of(target).values()
