"""Editing a recording: what changes, what is marked, and that all else stays as it is to the byte."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples import many
from tests.replay.build import Live, Tape, call, note, progress, request, result, text
from tests.replay.serving import saved
from workbench.core.frame import Direction
from workbench.edit import Asked, answered, apply, by_hand, edit_of, put, text_of
from workbench.errors import RecordingError, UsageError
from workbench.keep import check
from workbench.replay.matching import KEPT_IGNORE
from workbench.store.copying import copy, export
from workbench.store.formats.editing import Added, Edit, edited
from workbench.store.reader import Reader


def tape() -> Tape:
    told = Tape().hello().c(call(2, "slow", token="p")).s(progress("p", 1)).s(text(2, "one"))
    told.c(call(3, "quick", n=1)).s(text(3, "two")).s(note("notifications/tools/list_changed"))
    return told.event(event="stdin_closed").event(event="exited", code=0)


@pytest.fixture(params=["a.db", "a.jsonl"])
def recording(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The same recording in both forms."""
    path = saved(tape(), tmp_path / "made.db")
    place = tmp_path / str(request.param)
    copy(str(path), str(place))
    return place


def changed(path: Path, target: str | None = None, **asked: Any) -> list[tuple[str, Any, str]]:
    """Edit, and tell the frames afterwards: direction, what is in them, how they came to be."""
    with Reader.open(str(path)) as reader:
        edit = edit_of(reader, Asked(**asked))
    apply(str(path), edit, target)
    with Reader.open(target or str(path)) as reader:
        how = reader.provenance()
        return [
            (frame.direction.name, json.loads(frame.body), how.get(frame.seq, ""))
            for frame in reader.frames()
        ]


def test_another_answer_is_marked_and_replays(recording: Path) -> None:
    before = changed(recording, str(recording) + ".same.db")
    told = changed(
        recording, answers=[(4, '{"content":[]}')], sets=[(8, "/result/content/0/text", '"three"')]
    )
    assert [each for each in told if each[2]] == [
        ("TO_CLIENT", result(2, content=[]), "edited"),
        ("TO_CLIENT", text(3, "three"), "edited"),
    ]
    assert [each for at, each in enumerate(told) if at not in (5, 7)] == [
        each for at, each in enumerate(before) if at not in (5, 7)
    ]
    (verdict,) = check(str(recording))
    assert verdict.verdict.whole


def test_an_answer_may_become_an_error_and_back(recording: Path) -> None:
    told = changed(recording, errors=[(7, '{"code":-32000,"message":"no","data":[1]}')])
    assert told[7][1]["error"] == {"code": -32000, "message": "no", "data": [1]}
    told = changed(recording, answers=[(8, '{"content":[1]}')])
    assert told[7] == ("TO_CLIENT", result(3, content=[1]), "edited")


def test_a_place_may_be_set_in_an_answer_that_is_given_with_it(recording: Path) -> None:
    told = changed(recording, errors=[(7, '{"code":1,"message":"no"}')], sets=[(8, "/error/data", "[1]")])
    assert told[7][1]["error"] == {"code": 1, "message": "no", "data": [1]}


def test_an_exchange_goes_with_its_progress_and_marks_move_along(recording: Path) -> None:
    changed(recording, sets=[(8, "/result/content/0/text", '"later"')])
    told = changed(recording, drops=[5])
    assert len(told) == len(tape().frames) - 3
    assert told[4] == ("TO_CLIENT", text(3, "later"), "edited")
    assert not any("progress" in json.dumps(each[1]) for each in told)


def test_an_exchange_made_by_hand_comes_before_the_end_under_an_id_of_its_own(recording: Path) -> None:
    told = changed(
        recording,
        adds=[
            ("tools/call", '{"name":"new","arguments":{}}', '{"content":[]}', False),
            ("tools/call", '{"name":"bad"}', '{"code":-32001,"message":"bad"}', True),
        ],
    )
    made = [each for each in told if each[2] == "hand"]
    assert [each[1].get("id") for each in made] == [4, 4, 5, 5]
    assert made[3][1]["error"]["code"] == -32001
    assert told[-1][1] == {"event": "exited", "code": 0}
    with Reader.open(str(recording)) as reader:
        live = Live.__new__(Live)
        fresh = Tape()
        fresh.frames = list(reader.frames())
    live = Live(fresh)
    live.hello()
    assert live.say(call("x", "new")) == [result("x", content=[])]


def test_it_may_come_after_a_frame_that_is_named(recording: Path) -> None:
    told = changed(recording, adds=[("tools/list", "{}", '{"tools":[]}', False)], after=3)
    assert [each[2] for each in told[:5]] == ["", "", "", "hand", "hand"]


def test_a_new_file_leaves_the_old_one_as_it_is(recording: Path, tmp_path: Path) -> None:
    before = recording.read_bytes()
    target = tmp_path / "new.jsonl"
    told = changed(recording, str(target), drops=[7])
    assert len(told) == len(tape().frames) - 2
    assert recording.read_bytes() == before


def test_rules_are_kept_and_kept_no_more(recording: Path) -> None:
    rules = [(KEPT_IGNORE, "tools/call=/arguments/n"), (KEPT_IGNORE, "/_meta/x")]
    changed(recording, rules=rules)
    with Reader.open(str(recording)) as reader:
        assert reader.rules() == rules
    changed(recording, rules=[(KEPT_IGNORE, "/b")], forgotten=frozenset(rules[:1]))
    with Reader.open(str(recording)) as reader:
        assert reader.rules() == [rules[1], (KEPT_IGNORE, "/b")]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"sets": [(99, "/result", "1")]}, "no frame 99; the session has"),
        ({"sets": [(6, "/result/nothing/here", "1")]}, "nothing at /result/nothing/here"),
        ({"sets": [(6, "result", "1")]}, "no JSON pointer"),
        ({"sets": [(6, "/result", "one")]}, "is no JSON"),
        ({"answers": [(3, "{}")]}, "no request that was answered"),
        ({"errors": [(7, "[]")]}, "an error is an object"),
        ({"drops": [7], "answers": [(7, "{}")]}, "changed and dropped"),
        ({"drops": [200]}, "no frame 200"),
        ({"adds": [("m", "[]", "{}", False)]}, "params are a JSON object"),
        ({"adds": [("m", "{}", "{}", False)], "after": 77}, "no frame 77"),
    ],
)
def test_what_cannot_be_is_told_and_changes_nothing(
    recording: Path, asked: dict[str, Any], said: str
) -> None:
    before = recording.read_bytes()
    with pytest.raises((UsageError, RecordingError), match=said):
        changed(recording, **asked)
    assert recording.read_bytes() == before
    assert sorted(os.listdir(recording.parent)) == sorted({"made.db", recording.name})


def test_one_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    path = saved(tape(), tmp_path / "a.db")
    Path(f"{path}-wal").write_bytes(b"x")
    with pytest.raises(RecordingError, match="edit a copy"):
        apply(str(path), Edit(dropped=frozenset((7, 8))))


def test_a_second_session_of_a_file_is_edited_alone(tmp_path: Path) -> None:
    one, both = tmp_path / "one.jsonl", tmp_path / "both.jsonl"
    copy(str(saved(tape(), tmp_path / "a.db")), str(one))
    lines = one.read_text().splitlines(keepends=True)
    both.write_text(
        "".join([*lines, *lines[1:]])
        .replace('{"session":1', '{"session":2')
        .replace('{"session":2', '{"session":1', 1)
    )
    apply(str(both), Edit(session=2, dropped=frozenset((7, 8))))
    with Reader.open(str(both), session=1) as first, Reader.open(str(both), session=2) as second:
        assert (first.height(), second.height()) == (len(tape().frames), len(tape().frames) - 2)


# By hand, in an editor


def test_what_a_person_changes_adds_and_drops_is_known_as_such(recording: Path) -> None:
    before = text_of(str(recording))
    lines = before.decode().splitlines(keepends=True)
    at = {
        number: next(i for i, line in enumerate(lines) if line.startswith(f'{{"frame":{number},'))
        for number in (5, 8)
    }
    lines[at[8]] = lines[at[8]].replace("two", "second")
    made = [call(50, "new"), text(50, "new")]
    for way, body in zip(("to_client", "to_server"), reversed(made), strict=True):
        lines.insert(at[8] + 1, json.dumps({"frame": None, "direction": way, "json": body}) + "\n")
    del lines[at[5]]
    by_hand(str(recording), "".join(lines).encode(), before)
    with Reader.open(str(recording)) as reader:
        assert reader.height() == len(tape().frames) + 1
        assert reader.provenance() == {7: "edited", 8: "hand", 9: "hand"}
        assert json.loads(reader.body(8)) == made[0]


def test_another_spelling_of_a_line_is_no_change(recording: Path) -> None:
    before = text_of(str(recording))
    spaced = before.replace(b'"direction":', b' "direction" : ')
    by_hand(str(recording), spaced, before)
    with Reader.open(str(recording)) as reader:
        assert reader.provenance() == {}


@pytest.mark.parametrize(
    "bad", [b"nonsense\n", b'{"frame":4,"direction":"sideways","json":{}}\n', b'{"frame":\n']
)
def test_what_cannot_be_read_takes_nobodys_place(recording: Path, bad: bytes) -> None:
    before, whole = text_of(str(recording)), recording.read_bytes()
    with pytest.raises(RecordingError):
        by_hand(str(recording), before + bad, before)
    assert recording.read_bytes() == whole


# Bodies


@pytest.mark.parametrize(
    ("body", "pointer", "value", "expected"),
    [
        (b'{"a": [1, {"b" : "x"} ]}', "/a/1/b", "2.50", b'{"a": [1, {"b" : 2.50} ]}'),
        (b'{"a":{}}', "/a/b~1c", "[]", b'{"a":{"b/c":[]}}'),
        (b'{"a":{"z":1 } }', "/a/y", "null", b'{"a":{"z":1 ,"y":null} }'),
    ],
)
def test_only_the_place_that_is_named_changes(body: bytes, pointer: str, value: str, expected: bytes) -> None:
    assert put(body, pointer, value) == expected


def test_an_answer_keeps_its_id_as_it_was() -> None:
    body = b'{"result":{"a":1},"jsonrpc":"2.0","id":"x\\u0041"}'
    assert answered(body, "result", "{}") == b'{"result":{},"jsonrpc":"2.0","id":"x\\u0041"}'
    assert json.loads(answered(body, "error", '{"code":1,"message":"m"}'))["id"] == "xA"


@settings(max_examples=many(200))
@given(
    st.sets(st.integers(1, 11)),
    st.lists(st.integers(0, 11), max_size=4),
    st.dictionaries(st.integers(1, 11), st.integers(0, 9), max_size=4),
)
def test_any_edit_gives_the_frames_that_it_says(
    drops: set[int], after: list[int], bodies: dict[int, int]
) -> None:
    frames = tape().frames
    lines = [
        json.dumps(
            {"frame": frame.seq, "connection": 1, "direction": frame.direction.name.lower(), "text": "x"}
        ).encode()
        + b"\n"
        for frame in frames
    ]
    lines.insert(0, b'{"mark":7,"text":"here"}\n')
    edit = Edit(
        1,
        {seq: str(value).encode() for seq, value in bodies.items() if seq <= len(frames)},
        frozenset(seq for seq in drops if seq <= len(frames)),
        [Added(seq, 1, Direction.TO_SERVER, b"0") for seq in after if seq <= len(frames)],
    )
    told = [json.loads(line) for line in edited(lines, edit)]
    seqs = [line["frame"] for line in told if "frame" in line]
    gone = edit.dropped - edit.bodies.keys()
    assert seqs == list(range(1, len(frames) - len(gone) + len(edit.added) + 1))
    marks = [line["mark"] for line in told if "mark" in line]
    added = sum(each.after < 7 for each in edit.added)
    assert marks == ([] if 7 in gone else [7 + added - len([seq for seq in gone if seq < 7])])
    provenance = {line["provenance"]: line["how"] for line in told if "provenance" in line}
    assert sorted(provenance.values()) == sorted(["edited"] * len(edit.bodies) + ["hand"] * len(edit.added))


def test_a_mock_needs_no_more_than_its_messages(tmp_path: Path) -> None:
    path = tmp_path / "hand.jsonl"
    asked = [request(1, "initialize"), request(2, "tools/call", name="t", arguments={})]
    answers = [
        result(1, protocolVersion="2025-11-25", capabilities={}, serverInfo={"name": "x", "version": "1"}),
        text(2, "hi"),
    ]
    lines = [
        json.dumps({"frame": None, "direction": way, "json": body})
        for pair in zip(asked, answers, strict=True)
        for way, body in zip(("to_server", "to_client"), pair, strict=True)
    ]
    path.write_text("\n".join(lines))
    fresh = Tape()
    with Reader.open(str(path)) as reader:
        fresh.frames = list(reader.frames())
    live = Live(fresh)
    live.hello()
    assert live.say(call(9, "t")) == [text(9, "hi")]
    out = tmp_path / "again.jsonl"
    with out.open("w") as file:
        export(str(path), file)
    assert '"frame":4' in out.read_text()
