"""Secrets leave no trace in what a run writes, nor in a copy that is made without them later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.core.secret_corpus import GIVEN, planted
from workbench.config.redaction import own_redactor
from workbench.core.frame import Channel, Direction, Stream, Unit
from workbench.core.redact import Redactor
from workbench.errors import UsageError
from workbench.store.copying import export
from workbench.store.reader import Reader
from workbench.store.recorder import Recorder
from workbench.store.redact import redact

SESSION_ID = "5b1d0f2e-sess-4f7a9c"
COOKIE = "c00k1e-Value-998877"
#: Known only by the name it stands under, and that only after it was used.
LATE = "q1w2e3r4t5y6u7i8o9"


def record(path: Path, *, hide: bool) -> None:
    """Record all planted secrets: in frames, in pieces of a pipe, in events, heads and the target."""
    recorder = Recorder(str(path), redact=hide)
    secret = GIVEN["API_KEY"]
    number = recorder.connect("x", "http", f"srv --api-key {secret} https://u:passw0rd9@h/", secrets=GIVEN)

    def put(body: bytes, channel: Channel, **more: object) -> None:
        recorder.put(Unit(number, Direction.TO_CLIENT, channel, body, 1, 1, **more))  # type: ignore[arg-type]

    url = f"https://h/mcp?api_key={secret}&sid={SESSION_ID}"
    heads = (("Authorization", f"Bearer {GIVEN['DB_PASSWORD']}"), ("Mcp-Session-Id", SESSION_ID))
    recorder.stream(Stream(1, number, "POST", url, heads, 1, 200, (("Set-Cookie", f"sid={COOKIE}; Path=/"),)))
    for each in planted():
        put(each.body, each.channel)
        # The same as an event of a stream, and over a pipe that is read byte by byte.
        put(
            each.body,
            Channel.SSE,
            stream=1,
            event=json.dumps({"id": secret, "name": "message"}),
        )
        if b"\n" not in each.body:
            for at in range(len(each.body)):
                put(each.body[at : at + 1], Channel.STDERR, whole=False)
            put(b"\n", Channel.STDERR, whole=False)
    put(
        json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"session": SESSION_ID, "c": COOKIE}}).encode(),
        Channel.HTTP,
    )
    recorder.close()


def traces(path: Path) -> list[str]:
    held = b"\n".join(file.read_bytes() for file in path.parent.iterdir() if file.name.startswith(path.name))
    secrets = {each.secret for each in planted()}
    secrets |= {text.encode() for text in (*GIVEN.values(), SESSION_ID, COOKIE, "passw0rd9")}
    # As a recording's own text has them, too.
    spelled = secrets | {json.dumps(secret.decode())[1:-1].encode() for secret in secrets}
    return sorted(secret.decode() for secret in spelled if secret in held)


def test_no_planted_secret_is_in_any_file_that_a_recorder_wrote(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    record(path, hide=True)
    text = tmp_path / "b.jsonl"
    with text.open("w", encoding="utf-8") as out:
        export(str(path), out)
    assert traces(path) == []
    assert traces(text) == []


def test_a_copy_has_none_either_and_another_copy_of_it_is_the_same(tmp_path: Path) -> None:
    path, copy, text = tmp_path / "a.db", tmp_path / "copy.db", tmp_path / "text.jsonl"
    record(path, hide=False)
    assert len(traces(path)) > 100

    def knowing() -> Redactor:
        redactor = Redactor()
        for name, value in GIVEN.items():
            redactor.add_secret(name, value)
        return redactor

    before = path.read_bytes()
    done = redact(str(path), knowing(), str(copy))
    assert path.read_bytes() == before
    assert traces(copy) == []
    assert sorted(file.name for file in tmp_path.iterdir()) == ["a.db", "copy.db"]
    assert {place.what for place in done.places} == {"connection", "stream", "frame"}
    again = redact(str(copy), knowing(), str(text))
    assert again.places == ()
    with (tmp_path / "export.jsonl").open("w", encoding="utf-8") as out:
        export(str(copy), out)
    assert (tmp_path / "export.jsonl").read_text() == text.read_text()


def _late(path: Path) -> None:
    recorder = Recorder(str(path), redact=False)
    number = recorder.connect("x", "stdio", "srv")
    bodies = [
        (
            Direction.TO_SERVER,
            {"id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {"n": LATE}}},
        ),
        (Direction.TO_CLIENT, {"id": 1, "result": {"structuredContent": {"a": [1, {"access_token": LATE}]}}}),
    ]
    for way, body in bodies:
        recorder.put(Unit(number, way, Channel.STDIO, json.dumps({"jsonrpc": "2.0", **body}).encode(), 1, 1))
    recorder.close()


def test_what_is_known_late_is_taken_out_before_too_under_one_number_with_its_places(tmp_path: Path) -> None:
    path, copy = tmp_path / "a.db", tmp_path / "copy.jsonl"
    _late(path)
    done = redact(str(path), Redactor(), str(copy))
    hidden = "<redacted:1 member access_token>"
    assert [(place.number, place.pointer, place.placeholder) for place in done.places] == [
        (1, "/params/arguments/n", hidden),
        (2, "/result/structuredContent/a/1/access_token", hidden),
    ]
    with Reader.open(str(path)) as one, Reader.open(str(copy)) as two:
        frames = list(zip(one.frames(), two.frames(), strict=True))
    for was, now in frames:
        [span] = now.spans
        end = span.offset + span.wire
        assert now.body == was.body[: span.offset] + hidden.encode() + was.body[end:]
        assert now.size == len(was.body)


def test_new_placeholders_stand_beside_old_ones_with_numbers_of_their_own(tmp_path: Path) -> None:
    path, copy = tmp_path / "a.jsonl", tmp_path / "copy.jsonl"
    old = "<redacted:4 env TOKEN>"
    body = json.dumps({"a": old, "b": "x ACME-1234 y", "c": old}, separators=(",", ":"))
    spans = [[body.index(old), len(old), 9], [body.rindex(old), len(old), 9]]
    size = len(body) - 2 * (len(old) - 9)
    path.write_text(
        f'{{"frame":1,"direction":"to_client","size":{size},"spans":{json.dumps(spans)},"json":{body}}}\n'
    )
    redactor = Redactor()
    redactor.add_pattern("ACME-[0-9]+")
    redact(str(path), redactor, str(copy))
    with Reader.open(str(copy)) as reader:
        [frame] = reader.frames()
    assert json.loads(frame.body) == {"a": old, "b": "x <redacted:5 pattern> y", "c": old}
    shown = [frame.body[span.offset : span.offset + span.length].decode() for span in frame.spans]
    assert shown == [old, "<redacted:5 pattern>", old]
    assert [span.wire for span in frame.spans] == [9, 9, 9]
    assert frame.size == size


def test_values_and_patterns_of_the_settings_are_looked_for_in_every_recording(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[redaction]\nvalues = ["env:COMPANY", "plain words"]\npatterns = ["ACME-([0-9]+)"]\n')
    environ = {"MCP_WORKBENCH_CONFIG": str(config), "COMPANY": "of all of us"}
    out, _ = own_redactor(environ).redact(b'{"x":"of all of us, plain words, ACME-1234"}')
    told = '{"x":"<redacted:1 value COMPANY>, <redacted:2 value settings>, ACME-<redacted:3 pattern>"}'
    assert out.decode() == told


@pytest.mark.parametrize("table", ['values = "x"', 'patterns = ["("]', 'values = ["short"]', "other = []"])
def test_a_table_that_cannot_be_is_named(table: str, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f"[redaction]\n{table}\n")
    with pytest.raises(UsageError, match="redaction"):
        own_redactor({"MCP_WORKBENCH_CONFIG": str(config)})
