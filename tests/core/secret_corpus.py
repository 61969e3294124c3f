"""Secrets to plant, and what looks like secrets and is none. Nobody's: all are made up here."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from typing import NamedTuple
from urllib.parse import quote, quote_plus

from workbench.core.frame import Channel
from workbench.core.shapes import SHAPES, tokens

#: Given for the target, as variables or arguments.
GIVEN = {
    "SERVICE_TOKEN": "pä55/w\"o+rd\\x9's & <sons>",
    "DB_PASSWORD": "correct horse battery",
    "PIN_SECRET": "8675309867",
    "API_KEY": "Zk93ndQ7bXw2",
}


class Planted(NamedTuple):
    """A body to record, and the bytes of which none may be left."""

    what: str
    body: bytes
    secret: bytes
    channel: Channel = Channel.STDIO


def _answer(text: str) -> bytes:
    result = {"content": [{"type": "text", "text": text}]}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": result}).encode()


def _escaped(text: str) -> str:
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


def _by_shape() -> list[Planted]:
    found = []
    for number, shape in enumerate(SHAPES):
        [hit, *_] = sorted(tokens(shape.example.encode()), key=lambda hit: hit.start - hit.end)
        secret = shape.example.encode()[hit.start : hit.end]
        what = f"{number} {shape.name}"
        found += [
            Planted(f"{what} in an answer", _answer(f"first\n{shape.example}"), secret),
            Planted(f"{what} on stderr", f"\x1b[31m{shape.example}\x1b[0m".encode(), secret, Channel.STDERR),
        ]
    return found


def _spelled() -> list[Planted]:
    found = []
    for name, secret in GIVEN.items():
        raw = secret.encode()
        spellings = {
            "json": json.dumps(secret)[1:-1],
            "json utf-8": json.dumps(secret, ensure_ascii=False)[1:-1],
            "json in json": json.dumps(json.dumps(secret))[1:-1],
            "every letter escaped": _escaped(secret).replace("\\u0022", '\\"').replace("\\u005c", "\\\\"),
            "as Go writes": json.dumps(secret)[1:-1].replace("<", "\\u003c").replace("&", "\\u0026"),
            "percent": quote(secret, safe=""),
            "percent and slashes": quote(secret),
            "percent and plus": quote_plus(secret),
            "base64": base64.b64encode(raw).decode(),
            "base64 for URLs": base64.urlsafe_b64encode(raw).decode().rstrip("="),
            "basic": base64.b64encode(b"ann:" + raw).decode(),
            "base64 after two": base64.b64encode(b"{}" + raw + b"{}").decode(),
        }
        for how, spelled in spellings.items():
            body = f'{{"jsonrpc":"2.0","id":1,"result":{{"structuredContent":{{"x":"a {spelled} b"}}}}}}'.encode()
            found.append(Planted(f"{name} as {how}", body, spelled.encode()))
        found.append(Planted(f"{name} on stderr", f"starting with {secret}!".encode(), raw, Channel.STDERR))
    return found


_NAMED = [
    ({"password": "hunter2222"}, "hunter2222"),
    ({"password": "correcthorsebatterystaple"}, "correcthorsebatterystaple"),
    ({"client_secret": "0aB9-kk3j2"}, "0aB9-kk3j2"),
    ({"apiKey": "k3yk3yk3y"}, "k3yk3yk3y"),
    ({"x-api-key": "k4yk4yk4y"}, "k4yk4yk4y"),
    ({"access_token": "opaque0123456789"}, "opaque0123456789"),
    ({"refreshToken": "0pAque-refresh-token"}, "0pAque-refresh-token"),
    ({"AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI/K7MDENG/bPxRfiCY"}, "wJalrXUtnFEMI/K7MDENG/bPxRfiCY"),
    ({"passphrase": "four words and more"}, "four words and more"),
    ({"deep": [{"db": {"dbPassword": "p0stgres!pw"}}]}, "p0stgres!pw"),
]
_TEXTS = [
    ("DB_PASSWORD=swordfish1 in the file", "swordfish1"),
    ("export OPENAI_API_KEY='nonstandard-1234'", "nonstandard-1234"),
    ("password: s3cretpw9", "s3cretpw9"),
    ("X-Api-Key: 99bottlesofbeer", "99bottlesofbeer"),
    ("Authorization: Token 1234567890abcdef", "1234567890abcdef"),
    ("see https://api.example/v1?api_key=abc123def456&q=x", "abc123def456"),
    ("see https://api.example/v1?access_token=abc123def457#x", "abc123def457"),
    ("CLIENT_SECRET=abcdefghij", "abcdefghij"),
    ("--password=4everyoung", "4everyoung"),
    ("session_key = 'q1w2e3r4t5'", "q1w2e3r4t5"),
]


def planted() -> list[Planted]:
    """All that is planted in frames."""
    found = _by_shape() + _spelled()
    for value, secret in _NAMED:
        for how in ("arguments", "structuredContent"):
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "params": {how: value}}).encode()
            found.append(Planted(f"{value} in {how}", body, secret.encode()))
        found.append(Planted(f"{value} in JSON in JSON", _answer(json.dumps(value)), secret.encode()))
    for text, secret in _TEXTS:
        found.append(Planted(f"{text} in an answer", _answer(text), secret.encode()))
        found.append(Planted(f"{text} on stderr", text.encode(), secret.encode(), Channel.STDERR))
    return found


def _ids(count: int) -> list[str]:
    return [str(uuid.UUID(hashlib.md5(bytes((number,))).hexdigest())) for number in range(count)]


def look_alikes() -> list[bytes]:
    """Bodies in which nothing may be touched."""
    texts = [
        *_ids(15),
        *(hashlib.sha256(text.encode()).hexdigest() for text in "abcdefghij"),
        *(hashlib.sha1(text.encode()).hexdigest() for text in "abcdefghij"),
        *("sha512-" + base64.b64encode(hashlib.sha512(text.encode()).digest()).decode() for text in "abcde"),
        *(base64.b64encode(hashlib.sha256(bytes((n,))).digest() * 60).decode() for n in range(10)),
        *("1.2.3", "v10.20.30-rc.1+build.20240101", "2025-11-25", "2024-05-01T12:30:45.123456Z"),
        *("ann@example.org", "first.last+tag@sub.example.co.uk", "mailto:bob@example.com?subject=x"),
        *(
            "https://example.org:8080/a/b?page=2&sort=key",
            "https://user@host.example/path",
            "git@github.com:a/b.git",
        ),
        *(
            "file:///home/ann/token/secret.txt",
            "urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            "192.168.10.255",
        ),
        *(
            "task-force-alpha-bravo-charlie-delta",
            "sk-learn-pipeline-with-a-long-name",
            "pypi-server-with-npm_config",
        ),
        *(
            "the bearer of this letter is entitled",
            "Basic understanding of authorization",
            "Bearer of bad news",
        ),
        *(
            "a token is passed: see the manual",
            "password: required",
            "The password is too short",
            "secret: optional",
        ),
        *(
            "keyboard=qwerty",
            "tokenizer: cl100k_base_v2",
            "monkey=banana12345",
            "key=value",
            "hotkey: ctrl+shift+p",
        ),
        *(
            "AKIA is the prefix of keys",
            "ghp_ begins tokens",
            "xoxb- too",
            "glpat-",
            "eyJ",
            "SG.",
            "hf_transfer",
        ),
        *("pneumonoultramicroscopicsilicovolcanoconiosis", "Donaudampfschifffahrtsgesellschaftskapitaen"),
        *("antidisestablishmentarianism_and_more_underscores_here", "SCREAMING_SNAKE_CASE_CONSTANT_NAME_2"),
        *("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk", "#ff00aa"),
        *(
            "-----BEGIN PUBLIC KEY-----MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKC",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5",
        ),
        *(
            "token=${API_TOKEN}",
            "API_KEY=<your-api-key-1>",
            "password={{ db_password_1 }}",
            "TOKEN=env:MY_TOKEN_1",
        ),
        *("password=********", "api_key: xxxxxxxxxxxx", "max_tokens=1234567890", "num_tokens: 4096tokens"),
    ]
    values: list[object] = [
        {"progressToken": "tok-1-abcdef0123456789"},
        {"nextPageToken": "CAUQAA0123456789abcdef"},
        {"next_page_token": "eyJwYWdlIjoyfQ0123456789"},
        {"continuationToken": "a0123456789bcdef01234"},
        {"token_type": "bearer-or-other-2"},
        {"tokens": ["alpha0000001", "beta00000002"]},
        {"maxTokens": 123456789},
        {"password": {"type": "string", "minLength": 8}},
        {"required": ["password", "api_key", "access_token"]},
        {"password": "Your password, 8 letters or more"},
        {"token": "word"},
        {"secret": "required"},
        {"secretName": "my-secret-name-1234567"},
        {"publicKey": "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A"},
        {"primary_key": "order_id_2024_01"},
        {"foreignKey": "customer-1234567"},
        {"key": "abc1234567890"},
        {"keyboard": "layout-de-12345"},
        {"passwordHint": "the name of your 1st pet"},
        {"hasPassword": "yes-since-2020"},
        {"author": "Ann Example 1234"},
        {"commit": hashlib.sha1(b"x").hexdigest()},
        {"etag": 'W/"0815-abcdef0123456789"'},
        {"password": 12345678},
    ]
    return [_answer(text) for text in texts] + [
        json.dumps({"jsonrpc": "2.0", "id": 1, "params": {"arguments": value}}).encode() for value in values
    ]
