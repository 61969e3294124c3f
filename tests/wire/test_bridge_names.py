"""Ids and tokens of several clients on one wire: each gets its own answers, and no byte else changes."""

from __future__ import annotations

import json

import pytest

from tests.wire.raw import modern
from workbench.core.jsonrpc import decode
from workbench.wire.bridge_names import SUBSCRIPTION, Names, replaced


def ask(
    names: Names, stream: int, identity: object = 1, token: object = None, method: str = "tools/call"
) -> bytes:
    meta = {} if token is None else {"progressToken": token}
    body = json.dumps(modern(method, identity, _meta=meta)).encode()
    return names.asked(body, decode(body), stream)


def tell(names: Names, **message: object) -> tuple[dict[str, object], int]:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    told, stream = names.told(body, decode(body))
    return json.loads(told), stream


def test_what_collides_with_nothing_goes_on_byte_for_byte() -> None:
    names = Names()
    body = b'{ "jsonrpc":"2.0", "id":1.0, "method":"x", "params":{"n":1e2, "_meta":{"progressToken":1}} }'
    assert names.asked(body, decode(body), 5) is body
    back = b'{"jsonrpc":"2.0","id":1.0,"result":{"n":1.0, "n":2}}'
    assert names.told(back, decode(back)) == (back, 5)
    assert not names.open


def test_equal_ids_and_tokens_under_way_at_once_are_told_apart_and_come_back_as_they_were() -> None:
    names = Names()
    first, second = (json.loads(ask(names, stream, 1, 1)) for stream in (10, 20))
    assert first["id"] == 1
    assert second["id"] != 1
    other = second["params"]["_meta"]["progressToken"]
    assert other != first["params"]["_meta"]["progressToken"]
    told, stream = tell(
        names, method="notifications/progress", params={"progressToken": other, "progress": 1}
    )
    assert (told["params"], stream) == ({"progressToken": 1, "progress": 1}, 20)
    told, stream = tell(names, method="notifications/progress", params={"progressToken": 1, "progress": 1})
    assert (told["params"], stream) == ({"progressToken": 1, "progress": 1}, 10)
    told, stream = tell(names, id=second["id"], result={})
    assert (told["id"], stream) == (1, 20)
    told, stream = tell(names, id=1, result={})
    assert (told["id"], stream) == (1, 10)
    # Both are free again.
    assert json.loads(ask(names, 30, 1, 1))["id"] == 1


def test_the_type_of_an_id_tells_requests_apart() -> None:
    names = Names()
    assert json.loads(ask(names, 1, 7))["id"] == 7
    assert json.loads(ask(names, 2, "7"))["id"] == "7"
    assert tell(names, id="7", result={})[1] == 2
    assert tell(names, id=7, result={})[1] == 1


def test_what_a_subscription_brings_comes_on_its_stream_under_its_own_id() -> None:
    names = Names()
    ask(names, 1, 3, method="subscriptions/listen")
    renamed = json.loads(ask(names, 2, 3, method="subscriptions/listen"))["id"]
    for identity, stream in ((3, 1), (renamed, 2)):
        params = {"_meta": {SUBSCRIPTION: identity}}
        told, where = tell(names, method="notifications/tools/list_changed", params=params)
        assert (told["params"], where) == ({"_meta": {SUBSCRIPTION: 3}}, stream)
    told, where = tell(names, id=renamed, result={"_meta": {SUBSCRIPTION: renamed}})
    assert (told["id"], told["result"], where) == (3, {"_meta": {SUBSCRIPTION: 3}}, 2)


@pytest.mark.parametrize(
    ("method", "stream"),
    [
        ("sampling/createMessage", 2),
        ("notifications/message", 2),
        ("notifications/tools/list_changed", 0),
        ("notifications/resources/updated", 0),
    ],
)
def test_what_names_no_request_belongs_to_the_newest_one_or_to_the_clients_own_stream(
    method: str, stream: int
) -> None:
    names = Names()
    assert tell(names, method=method)[1] == 0
    ask(names, 1, 1)
    ask(names, 2, 2)
    assert tell(names, method=method)[1] == stream


def test_a_stream_that_is_left_names_what_need_not_be_answered() -> None:
    names = Names()
    ask(names, 1, "a")
    ask(names, 2, "b")
    assert names.left(1) == ['"a"']
    assert list(names.open) == ['"b"']


@pytest.mark.parametrize("body", [b"\xff", b"[]", b"{", b'{"id":1}', b'{"params":null}'])
def test_a_body_without_the_place_stays_as_it_is(body: bytes) -> None:
    assert replaced(body, ("params", "_meta"), "1") is body
