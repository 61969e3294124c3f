"""Reports progress as often as its argument says, each time when the client has written a line.

``silent`` never answers until the client cancels, and answers then, too late.
"""

from tests.servers.minimal import Params, messages, notify, result, serve, text


def call(id: object, params: Params) -> None:
    wanted = params["arguments"]["text"]
    if wanted == "silent":
        for message in messages():
            if message.get("method") == "notifications/cancelled":
                break
        result(id, text("too late"))
        return
    token = params["_meta"]["progressToken"]
    for step in range(int(wanted)):
        notify("notifications/progress", {"progressToken": token, "progress": step + 1, "message": f"{step}"})
    for _ in range(int(params["arguments"].get("steps", 0))):
        next(messages())
        notify("notifications/progress", {"progressToken": token, "progress": 100})
    result(id, text("done"))


if __name__ == "__main__":
    serve({"tools/call": call})
