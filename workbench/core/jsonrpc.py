"""What a body means: JSON-RPC messages, found without ever raising.

``decode`` classifies by the *presence* of keys, never by truthiness and never
through a typed model, because a debugger must show what is there: ``id: 0``,
``id: ""`` and ``result: {}`` are legal, ``id: null`` is a defect that is still a
request, a body with both ``result`` and ``error`` is an error with a defect
(protocol envelope, all revisions). Whatever cannot be read is ``INVALID``; it is
still a frame.

Bodies up to ``INLINE_BYTES`` are read with the standard library, which takes
what most peers take (NaN, lone surrogates) so that it can be shown. One call on
a larger body would stop every thread of the process, so its envelope is read by
msgspec, which skips over the members without building them (0.9 ms a megabyte);
msgspec is imported when the first such body comes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from workbench.core.frame import Kind

#: Bodies above this size are never parsed whole in a thread that others wait for.
INLINE_BYTES = 256 * 1024

#: More messages than this in one frame are not listed one by one (the body is kept).
MAX_MESSAGES = 10_000


class Number(float):
    """A JSON number with a fraction or exponent that remembers how it was written.

    It compares and calculates as a float; ``text`` is its spelling (``1.0``, ``1e400``, ``-0.0``).
    Integers that Python has no int for are of this kind too: ``-0``, and those of very many digits.
    """

    text: str

    def __new__(cls, text: str) -> Number:
        number = super().__new__(cls, text)
        number.text = text
        return number

    def __reduce__(self) -> tuple[type[Number], tuple[str]]:
        return Number, (self.text,)


class Message(NamedTuple):
    """One JSON-RPC message of a frame.

    ``id`` is the JSON text of the id, ``None`` when the key is absent. ``members`` holds the
    parsed top-level members; for a body above ``INLINE_BYTES`` it is empty and ``raw`` holds
    each member's JSON text instead. ``defects`` are short words, see ``DEFECTS``. ``text`` is the
    message as it was written, for a small body that holds nothing else.
    """

    kind: Kind
    method: str | None = None
    id: str | None = None
    members: dict[str, Any] = {}  # noqa: RUF012 - never written to
    raw: dict[str, bytes] = {}  # noqa: RUF012 - never written to
    defects: tuple[str, ...] = ()
    text: str = ""

    def value(self, member: str) -> Any:
        """The parsed value of a top-level member, ``None`` if absent or unreadable.

        For a large body this parses the member's text now: call it where nobody waits.
        """
        if member in self.members:
            return self.members[member]
        text = self.raw.get(member)
        if text is None:
            return None
        try:
            return loads(text)
        except (ValueError, RecursionError):
            return None


class Decoded(NamedTuple):
    """What a body holds: its kind and its messages (none for an invalid body, several for a batch)."""

    kind: Kind
    messages: tuple[Message, ...] = ()
    defects: tuple[str, ...] = ()


#: Every defect ``decode`` reports, and what it says.
DEFECTS = {
    "not-json": "the body is not JSON",
    "not-an-object": "the body is JSON, but neither an object nor an array",
    "empty": "the body is empty",
    "empty-batch": "the batch holds no message",
    "several": "the line holds several JSON values",
    "too-deep": "the body is nested too deeply to be read",
    "too-many": "the frame holds more messages than are listed",
    "no-message": "the object has none of method, result and error",
    "bom": "the body begins with a byte order mark",
    "invalid-utf8": "the body is not valid UTF-8",
    "non-finite": "the body holds NaN or Infinity, which JSON does not have",
    "id-null": "the id is null",
    "id-type": "the id is neither a string nor an integer",
    "no-jsonrpc": 'the member jsonrpc is not "2.0"',
    "method-type": "the method is not a string",
    "result-and-error": "the answer has both a result and an error",
    "no-id": "the answer has no id",
    "error-shape": "the error is not an object with an integer code and a string message",
    "result-type": "the result is not an object",
    "params-type": "params is neither absent nor an object",
}


def loads(text: bytes | str) -> Any:
    """Parse JSON, keeping how numbers with a fraction were written (``Number``).

    Raises ``ValueError`` or ``RecursionError``. Big integers are exact; NaN and Infinity are read.
    """
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogateescape")
    if _has_minus_zero(text):
        return _PATIENT_LOADER.decode(text)
    try:
        return _LOADER.decode(text)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return _PATIENT_LOADER.decode(text)


def _raw_decode(text: str, start: int) -> tuple[Any, int]:
    if _has_minus_zero(text):
        return _PATIENT_LOADER.raw_decode(text, start)
    try:
        return _LOADER.raw_decode(text, start)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return _PATIENT_LOADER.raw_decode(text, start)


#: Python reads no integer of more than 4,300 digits; longer ones stay text.
_MAX_DIGITS = 4_000


def _integer(text: str) -> int | Number:
    return int(text) if len(text) <= _MAX_DIGITS and text != "-0" else Number(text)


def _has_minus_zero(text: str) -> bool:
    """Whether the integer ``-0``, which Python's own has not, may be in it (or stand in a string)."""
    return "-0" in text and _MINUS_ZERO.search(text) is not None


_MINUS_ZERO = re.compile(r"-0(?:[ \t\n\r,\]}]|\Z)")


_LOADER = json.JSONDecoder(parse_float=Number)
# Calls back for every integer, which takes three times as long: only where the other one gave up.
_PATIENT_LOADER = json.JSONDecoder(parse_float=Number, parse_int=_integer)
_BLANK = re.compile(r"[ \t\n\r]*")
_BLANKS = frozenset(" \t\n\r")


def decode(body: bytes) -> Decoded:
    """Say what a body holds. Never raises."""
    if len(body) > INLINE_BYTES:
        return _decode_large(body)
    return _decode_whole(body)


def _decode_whole(body: bytes) -> Decoded:
    defects: list[str] = []
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError:
        text = body.decode("utf-8", "surrogateescape")
        defects.append("invalid-utf8")
    if text.startswith("\ufeff"):
        text = text[1:]
        defects.append("bom")
    start = _end_of_blank(text, 0)
    if start == len(text):
        return Decoded(Kind.INVALID, (), ("empty", *defects))
    try:
        value, end = _raw_decode(text, start)
        end = _end_of_blank(text, end)
        if end < len(text):
            return _several(text, value, end, defects)
    except RecursionError:
        return Decoded(Kind.INVALID, (), ("too-deep", *defects))
    except ValueError:
        return Decoded(Kind.INVALID, (), ("not-json", *defects))
    if ("NaN" in text or "Infinity" in text) and _has_non_finite(value):
        defects.append("non-finite")
    return _of_value(value, text, defects)


def _end_of_blank(text: str, start: int) -> int:
    # Nearly always there is none, and a search costs as much as reading the envelope.
    if text[start : start + 1] not in _BLANKS:
        return start
    found = _BLANK.match(text, start)
    return found.end() if found else start


def _several(text: str, first: Any, end: int, defects: list[str]) -> Decoded:
    values = [first]
    while end < len(text) and len(values) < MAX_MESSAGES:
        try:
            value, end = _raw_decode(text, end)
        except ValueError:
            return Decoded(Kind.INVALID, (), ("not-json", *defects))
        values.append(value)
        end = _end_of_blank(text, end)
    if not all(isinstance(value, dict) for value in values):
        return Decoded(Kind.INVALID, (), ("not-json", *defects))
    messages = tuple(_message(value) for value in values)
    return Decoded(Kind.INVALID, messages, ("several", *defects))


def _of_value(value: Any, text: str, defects: list[str]) -> Decoded:
    if isinstance(value, list):
        if not value:
            return Decoded(Kind.INVALID, (), ("empty-batch", *defects))
        if len(value) > MAX_MESSAGES:
            defects.append("too-many")
        messages = tuple(
            _message(item) if isinstance(item, dict) else Message(Kind.INVALID, defects=("not-an-object",))
            for item in value[:MAX_MESSAGES]
        )
        return Decoded(Kind.BATCH, messages, tuple(defects))
    if not isinstance(value, dict):
        return Decoded(Kind.INVALID, (), ("not-an-object", *defects))
    message = _message(value, text)
    if message.kind is Kind.INVALID:
        return Decoded(Kind.INVALID, (), (*message.defects, *defects))
    return Decoded(message.kind, (message,), (*message.defects, *defects))


def _message(value: dict[str, Any], text: str = "") -> Message:
    defects: list[str] = []
    kind = _classify(value, defects)
    identity = id_text(value["id"]) if "id" in value else None
    method = value.get("method")
    if value.get("jsonrpc") != "2.0":
        defects.append("no-jsonrpc")
    if identity is not None:
        if value["id"] is None:
            defects.append("id-null")
        elif not isinstance(value["id"], str) and not _is_integer(value["id"]):
            defects.append("id-type")
    if kind is Kind.ERROR:
        _check_error(value["error"], defects)
    if kind is Kind.RESULT and not isinstance(value["result"], dict):
        defects.append("result-type")
    if kind in (Kind.RESULT, Kind.ERROR) and identity is None:
        defects.append("no-id")
    if "params" in value and not isinstance(value["params"], dict):
        defects.append("params-type")
    name = method if isinstance(method, str) else None
    return Message(kind, name, identity, value, {}, tuple(defects), text)


def _classify(members: Any, defects: list[str]) -> Kind:
    """The kind of an object with these keys (protocol envelope: presence decides)."""
    if "method" in members:
        method = members["method"]
        if not isinstance(method, str) and not (isinstance(method, bytes) and method[:1] == b'"'):
            defects.append("method-type")
        return Kind.REQUEST if "id" in members else Kind.NOTIFICATION
    if "error" in members:
        if "result" in members:
            defects.append("result-and-error")
        return Kind.ERROR
    if "result" in members:
        return Kind.RESULT
    defects.append("no-message")
    return Kind.INVALID


def _check_error(error: Any, defects: list[str]) -> None:
    if not (
        isinstance(error, dict) and _is_integer(error.get("code")) and isinstance(error.get("message"), str)
    ):
        defects.append("error-shape")


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _has_non_finite(value: Any) -> bool:
    return any(isinstance(leaf, float) and not isinstance(leaf, Number) for leaf in leaves(value))


def leaves(value: Any) -> Iterator[Any]:
    """Everything in a value that is no object and no array, without recursion."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)
        else:
            yield item


def id_text(value: Any) -> str:
    """The JSON text of an id, as frames and recordings hold it (``1``, ``"1"`` and ``1.0`` differ)."""
    if isinstance(value, Number):
        return value.text
    if type(value) is int:
        return str(value)
    try:
        return _ID_WRITER.encode(value)
    except RecursionError:
        return "null"  # an array or object too deep to be written: no id that anybody could answer


_ID_WRITER = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"))

#: Integers below it are what nearly every peer numbers with, and are written without the encoder.
_PLAIN = 1 << 63

_KEYS = ("jsonrpc", "id", "method", "params", "result", "error")
_large_decoder: Any = None


def _decode_large(body: bytes) -> Decoded:
    global _large_decoder
    if _large_decoder is None:
        _large_decoder = _make_large_decoder()
    try:
        envelope = _large_decoder.decode(body)
    except (ValueError, RecursionError):
        # A batch, several values in a line, or what strict JSON refuses: rare at this size, and
        # the whole reader is the one that knows what to say.
        return _decode_whole(body)
    raw: dict[str, bytes] = {}
    for key in _KEYS:
        text = bytes(getattr(envelope, key))
        if text:
            raw[key] = text
    defects: list[str] = []
    kind = _classify(raw, defects)
    if kind is Kind.INVALID:
        return Decoded(Kind.INVALID, (), tuple(defects))
    try:
        small: dict[str, Any] = {key: loads(raw[key]) for key in ("id", "method", "jsonrpc") if key in raw}
        if len(raw.get("error", b"")) and len(raw["error"]) <= INLINE_BYTES:
            small["error"] = loads(raw["error"])
            _check_error(small["error"], defects)
    except (ValueError, RecursionError):
        return Decoded(Kind.INVALID, (), ("too-deep",))
    identity = id_text(small["id"]) if "id" in small else None
    if small.get("jsonrpc") != "2.0":
        defects.append("no-jsonrpc")
    if "id" in small:
        if small["id"] is None:
            defects.append("id-null")
        elif not isinstance(small["id"], str) and not _is_integer(small["id"]):
            defects.append("id-type")
    elif kind in (Kind.RESULT, Kind.ERROR):
        defects.append("no-id")
    for key, defect in (("result", "result-type"), ("params", "params-type")):
        if key in raw and raw[key][:1] != b"{":
            defects.append(defect)
    method = small.get("method")
    message = Message(kind, method if isinstance(method, str) else None, identity, small, raw, tuple(defects))
    return Decoded(kind, (message,), message.defects)


def _make_large_decoder() -> Any:
    import msgspec

    envelope = msgspec.defstruct(
        "Envelope", [(key, msgspec.Raw, msgspec.field(default=msgspec.Raw())) for key in _KEYS]
    )
    return msgspec.json.Decoder(envelope)


def dumps(value: Any) -> str:
    """Compact JSON text of a value; ``Number`` keeps its spelling, text stays unescaped UTF-8.

    A lone surrogate is written as its ``\\u`` escape, because no UTF-8 writer can carry it.
    """
    if _has_number(value):
        text = _dumps_exact(value)
    else:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if _SURROGATE.search(text):
        text = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    return text


_SURROGATE = re.compile("[\ud800-\udfff]")


def _has_number(value: Any) -> bool:
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            stack.extend(item.values())
        elif isinstance(item, (list, tuple)):
            stack.extend(item)
        elif isinstance(item, Number):
            return True
    return False


def _dumps_exact(value: Any) -> str:
    if isinstance(value, Number):
        return value.text
    if isinstance(value, dict):
        inner = ",".join(
            f"{json.dumps(key, ensure_ascii=False)}:{_dumps_exact(item)}" for key, item in value.items()
        )
        return f"{{{inner}}}"
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_dumps_exact, value))}]"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def request(identity: str, method: str, params: str | None = None) -> bytes:
    """A request body. ``identity`` and ``params`` are JSON text, put in as they are."""
    tail = "" if params is None else f',"params":{params}'
    return _encoded(f'{{"jsonrpc":"2.0","id":{identity},"method":{dumps(method)}{tail}}}')


def notification(method: str, params: str | None = None) -> bytes:
    """A notification body. ``params`` is JSON text, put in as it is."""
    tail = "" if params is None else f',"params":{params}'
    return _encoded(f'{{"jsonrpc":"2.0","method":{dumps(method)}{tail}}}')


def result(identity: str, value: str) -> bytes:
    """A result body. ``identity`` and ``value`` are JSON text, put in as they are."""
    return _encoded(f'{{"jsonrpc":"2.0","id":{identity},"result":{value}}}')


def error(identity: str | None, code: int, message: str, data: str | None = None) -> bytes:
    """An error body; ``identity`` and ``data`` are JSON text. An unknown id is written as null."""
    tail = "" if data is None else f',"data":{data}'
    inner = f'{{"code":{code},"message":{dumps(message)}{tail}}}'
    return _encoded(f'{{"jsonrpc":"2.0","id":{identity or "null"},"error":{inner}}}')


def _encoded(text: str) -> bytes:
    """UTF-8, where surrogates that stand for stray bytes become those bytes again and others,
    which no UTF-8 has, become their JSON escape."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        escaped = _NO_BYTE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
        return escaped.encode("utf-8", "surrogateescape")


_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
