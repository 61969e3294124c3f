"""Our own list: kept and forgotten servers, in a file that people may write in too."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.config.here import Here
from tests.config.test_jsonc import commented
from workbench.config import Target, forget, keep_target, parse_line, parse_targets
from workbench.config.edits import with_member, without_member
from workbench.config.files import own_path
from workbench.config.jsonc import Document, Fault
from workbench.errors import UsageError


def only(line: str) -> Target:
    [target] = parse_line(line)
    return target


SAME = [
    "-- npx -y some-server --flag 'two words'",
    "--stdio 'srv' --env A=1 --env B= --cwd /tmp",
    "https://host/mcp --header 'X-Team: blue' --era modern",
    "--sse https://host/sse --timeout 5 --require tools",
    "https://host/mcp --client-id ours --issuer https://as --scope 'a b' --callback-port 8123",
    "--transport 'carrier=pigeon 7'",
    "--stdio srv --root /w --log-level debug --protocol-version 2024-11-05 --no-capability sampling",
    """--stdio srv --client-info '{"name":"me","version":"1"}'""",
    "--stdio 'sh -c \"echo ${HOME} ${NOT_SET_ANYWHERE} $X\"'",
]


@pytest.mark.parametrize("line", SAME)
def test_a_kept_target_comes_back_as_it_was(here: Here, line: str) -> None:
    target = only(line)
    keep_target("mine", target)
    back = only("@mine")
    differs = {"name": "mine", "origin": str(own_path())}
    assert back == target.model_copy(update=differs)
    assert not back.claim


def test_what_is_typed_goes_before_what_is_kept_of_authorization(here: Here) -> None:
    keep_target("mine", only("https://host/mcp --client-id ours --scope 'a b'"))
    oauth = only("@mine --scope c").oauth
    assert oauth is not None
    assert (oauth.client_id, oauth.scope) == ("ours", "c")


def test_a_clients_secret_is_not_kept(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIVEN", "secret-of-ours")
    with pytest.raises(UsageError, match="secret or key is not kept; leave it out"):
        keep_target("mine", only("https://host/mcp --client-id ours --client-secret-env GIVEN"))
    assert not own_path().exists()


def test_the_list_is_for_its_owner_only(here: Here) -> None:
    path = keep_target("mine", only("-- srv"))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == ["servers.json"]


def test_a_secret_that_came_from_a_variable_is_kept_as_the_variable(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "first-value-1")
    path = keep_target("mine", only("https://host/mcp --header 'Authorization: Bearer ${MY_TOKEN}'"))
    assert "first-value-1" not in path.read_text()
    monkeypatch.setenv("MY_TOKEN", "second-value-2")
    assert only("@mine").headers == {"Authorization": "Bearer second-value-2"}


def test_an_input_is_kept_as_the_input(here: Here) -> None:
    here.copy("vscode.json", ".vscode/mcp.json")
    words = [
        "--input",
        "api-key=geheim123",
        "--input",
        "team=red",
        "--input",
        "stage=dev",
        "--yes",
        "@remote",
    ]
    path = keep_target("mine", parse_targets(words)[0])
    assert "geheim123" not in path.read_text()
    assert only("--input api-key=other456 @mine").headers["X-Api-Key"] == "other456"


def test_what_people_wrote_into_the_list_survives(here: Here) -> None:
    text = """{
  // mine
  "theme": "x",
  "mcpServers": {
    "a": { "command": "old", "args": ["1"], "note": "mine", "disabled": true }, // first
    "b": { "command": "b" } /* last */
  },
  "more": [1, 2,],
}
"""
    own_path().parent.mkdir(parents=True)
    own_path().write_text(text)
    keep_target("a", only("-- new"))
    keep_target("c", only("https://host/mcp"))
    forget("b")
    now = own_path().read_text()
    assert Document(now).root.plain() == {
        "theme": "x",
        "mcpServers": {
            "a": {"command": "new", "note": "mine", "disabled": True},
            "c": {"type": "http", "url": "https://host/mcp"},
        },
        "more": [1, 2],
    }
    assert "// mine" in now
    assert "// first" in now
    assert "/* last */" in now


def test_a_list_that_is_broken_is_told_and_left_alone(here: Here) -> None:
    own_path().parent.mkdir(parents=True)
    own_path().write_text('{"mcpServers": {\n"a" 1}}')
    changes: list[Callable[[], object]] = [lambda: keep_target("b", only("-- x")), lambda: forget("a")]
    for change in changes:
        with pytest.raises(UsageError, match=r"servers\.json:2:5: a colon is missing .* nothing was written"):
            change()
    assert own_path().read_text() == '{"mcpServers": {\n"a" 1}}'
    own_path().write_text('{"mcpServers": []}')
    with pytest.raises(UsageError, match="mcpServers is not an object"):
        keep_target("b", only("-- x"))


def test_a_list_that_is_a_link_stays_one(here: Here) -> None:
    real = here.write("~/dotfiles/servers.json", "{}")
    own_path().parent.mkdir(parents=True)
    own_path().symlink_to(real)
    keep_target("a", only("-- x"))
    assert own_path().is_symlink()
    assert json.loads(real.read_text()) == {"mcpServers": {"a": {"command": "x"}}}


def test_what_is_not_on_the_list_cannot_be_forgotten(here: Here) -> None:
    here.write(".mcp.json", {"mcpServers": {"a": {"command": "x"}}})
    with pytest.raises(UsageError, match=r"has no server 'a' \(there: none\); only our own list is changed"):
        forget("a")
    assert not os.path.exists(own_path())


def test_a_name_must_be_one(here: Here) -> None:
    with pytest.raises(UsageError, match="the name is empty"):
        keep_target(" ", only("-- x"))


NAMES = st.text(max_size=4)


@given(commented(), st.lists(NAMES, min_size=1, max_size=3), st.integers())
def test_a_change_of_a_member_changes_nothing_else(
    case: tuple[str, Any], path: list[str], value: int
) -> None:
    text, before = case
    try:
        after = with_member(text, path, value)
    except Fault:
        place: object = before
        for name in path[:-1]:
            place = place.get(name, {}) if isinstance(place, dict) else None
        assert not isinstance(place, dict)
        return
    expected = Document(text).root.plain()
    holder = expected
    for name in path[:-1]:
        holder = holder.setdefault(name, {})
    holder[path[-1]] = value
    assert Document(after).root.plain() == expected
    del holder[path[-1]]
    assert Document(without_member(after, path)).root.plain() == expected


@given(commented())
def test_every_member_can_be_taken_out(case: tuple[str, Any]) -> None:
    text, value = case
    for name in value if isinstance(value, dict) else ():
        left = {other: item for other, item in value.items() if other != name}
        assert repr(Document(without_member(text, [name])).root.plain()) == repr(left)


def test_a_member_given_twice_is_taken_out_twice() -> None:
    assert Document(without_member('{"a": 1, "b": 2, "a": 3}', ["a"])).root.plain() == {"b": 2}
