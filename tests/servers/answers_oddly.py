"""Answers in ways the protocol does not have; which one is the text argument of its tool."""

from tests.servers.minimal import Params, result, send, serve, text


def call(id: int, params: Params) -> None:
    how = params["arguments"]["text"]
    if how == "both":
        send({"jsonrpc": "2.0", "id": id, "result": {}, "error": {"code": 1, "message": "x"}})
    elif how == "neither":
        send({"jsonrpc": "2.0", "id": id})
        result(id, text("then right"))
    elif how == "text id":
        result(str(id), text("wrong"))
        result(id, text("right"))
    elif how == "unknown id":
        result(9999, text("wrong"))
        result(id, text("right"))
    elif how == "twice":
        result(id, text("first"))
        result(id, text("second"))
    elif how == "null result":
        result(id, None)
    elif how == "error text":
        send({"jsonrpc": "2.0", "id": id, "error": "no object"})
    elif how == "crlf":
        send(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}\r\n' % id)
    elif how == "two in a line":
        send(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}{"jsonrpc":"2.0","method":"x"}\n' % id)
    elif how == "surrogate":
        send(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"\\ud83d"}]}}\n' % id)
    elif how == "invalid utf-8":
        send(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"\xc3\x28"}]}}\n' % id)
    elif how == "no line end":
        send(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}' % id)
        raise SystemExit(0)


if __name__ == "__main__":
    serve({"tools/call": call})
