"""A target written as the command line that makes it again, without its secrets."""

from __future__ import annotations

import shlex

import pytest

from workbench.config import parse_targets
from workbench.config.command_line import request_line, target_words

ENVIRONMENT = {
    "AUTHORIZATION": "Bearer tok-0123456789abcdef",
    "API_TOKEN": "s3cret-s3cret",
    "X_API_KEY": "key-key-key",
}


@pytest.mark.parametrize(
    "words",
    [
        ["--", "python", "-m", "workbench.demo"],
        ["--", "npx", "-y", "a server", "it's", "$HOME"],
        ["--cwd", "/tmp", "--env", "A=b c", "--", "server"],
        ["--era", "legacy", "--protocol-version", "2024-11-05", "--http", "http://127.0.0.1:1/mcp"],
        ["--grant", "client_credentials", "--client-id", "x", "--scope", "a b", "--http", "https://h/mcp"],
        ["--issuer", "https://as", "--client-id", "x", "--callback-port", "8123", "--http", "https://h/mcp"],
        ["--header", "X-Plain: yes", "--sse", "http://127.0.0.1:1/sse"],
        ["--timeout", "5", "--root", "file:///tmp", "--log-level", "error", "--", "server"],
        ["--replay", "sessions/weather.jsonl"],
    ],
)
def test_the_words_make_the_same_target_again(words: list[str]) -> None:
    (target,) = parse_targets(words, None)
    made = target_words(target)
    (again,) = parse_targets(made, None)
    assert again == target
    line = shlex.split(request_line(target, "tools/call", '{"name":"a b"}'))
    assert line == ["mcp-workbench", "request", "tools/call", '{"name":"a b"}', *made]


def test_a_secret_is_read_from_a_variable_and_stands_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    words = [
        "--header",
        f"Authorization: {ENVIRONMENT['AUTHORIZATION']}",
        "--header",
        "X-Api-Key: key-key-key",
    ]
    (target,) = parse_targets([*words, "--http", "http://127.0.0.1:1/mcp"], None)
    made = target_words(target)
    assert made[:4] == [
        "--header",
        "Authorization: Bearer ${AUTHORIZATION}",
        "--header",
        "X-Api-Key: ${X_API_KEY}",
    ]
    (target,) = parse_targets(
        ["--env", "API_TOKEN=s3cret-s3cret", "--", "server", "--token", "s3cret-s3cret"], None
    )
    line = request_line(target, "ping", '{"as":"s3cret-s3cret"}')
    assert "API_TOKEN" not in line  # the server inherits it; ${…} in --env would be the value itself
    assert not any(value.split()[-1] in line for value in ENVIRONMENT.values())


def test_a_clients_secret_is_read_from_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLIENT_SECRET", "correcthorsebattery")
    words = ["--client-id", "ours", "--client-secret-env", "CLIENT_SECRET", "--http", "https://h/mcp"]
    (target,) = parse_targets(words, None)
    assert target_words(target) == words
    assert "correcthorsebattery" not in request_line(target, "ping", "")
