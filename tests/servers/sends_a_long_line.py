"""Answers a call with one line that holds as many bytes of text as the argument says."""

from tests.servers.minimal import Params, result, serve, text


def call(id: object, params: Params) -> None:
    result(id, text("x" * int(params["arguments"]["text"])))


if __name__ == "__main__":
    serve({"tools/call": call})
