"""Says whatever its tool is told to, byte for byte, and then answers; with ``only`` it does not answer.

In the text, ``@ID@`` stands for the id of the call. A character from U+DC80 on stands for the byte it
escapes, so that a test can name bytes that are no text.
"""

from tests.servers.minimal import Params, result, send, serve, text


def call(id: int, params: Params) -> None:
    arguments = params["arguments"]
    raw = arguments["text"].replace("@ID@", str(id)).encode("utf-8", "surrogateescape")
    send(raw)
    if not arguments.get("only"):
        result(id, text("still here"))


if __name__ == "__main__":
    serve({"tools/call": call})
