"""What ``WWW-Authenticate`` says, in the ways it is written."""

from __future__ import annotations

import pytest

from workbench.wire.oauth_challenge import bearer, challenges


@pytest.mark.parametrize(
    ("headers", "parameters"),
    [
        (['Bearer realm="x", scope="a b"'], {"realm": "x", "scope": "a b"}),
        (
            ['Basic realm="old", Bearer resource_metadata="https://h/x?a=1,2"'],
            {"resource_metadata": "https://h/x?a=1,2"},
        ),
        (['Bearer scope="a", Basic realm="b"'], {"scope": "a"}),
        (["Negotiate YWJj==, bearer error=invalid_token"], {"error": "invalid_token"}),
        (["Basic realm=x", "Bearer scope=read"], {"scope": "read"}),
        (
            ["Bearer resource_metadata=https://h/.well-known/x"],
            {"resource_metadata": "https://h/.well-known/x"},
        ),
        (
            ['Bearer error_description="say \\"please\\", twice", scope="s"'],
            {"error_description": 'say "please", twice', "scope": "s"},
        ),
        (["Bearer"], {}),
        (["Bearer, Basic"], {}),
        (["Bearer", 'Bearer scope="more"'], {"scope": "more"}),
        (
            ['BEARER Scope = "a" ,, error= "insufficient_scope"'],
            {"scope": "a", "error": "insufficient_scope"},
        ),
    ],
)
def test_the_challenge_for_a_bearer_token_is_found(headers: list[str], parameters: dict[str, str]) -> None:
    found = bearer(headers)
    assert found is not None
    assert found.parameters == parameters


@pytest.mark.parametrize("headers", [[], [""], ["Basic realm=x"], ['realm="Bearer"'], [", ,"], ['"Bearer"']])
def test_there_may_be_none(headers: list[str]) -> None:
    assert bearer(headers) is None


def test_what_cannot_be_read_ends_the_value_and_no_more() -> None:
    found = challenges(['Bearer scope="a" \x00 error="b"', "Digest nonce=1"])
    assert [(each.scheme, each.parameters) for each in found] == [
        ("bearer", {"scope": "a"}),
        ("digest", {"nonce": "1"}),
    ]
