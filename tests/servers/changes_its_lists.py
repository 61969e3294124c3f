"""Says in a burst that its tools have changed; each listing names one tool more. Pages of two."""

from tests.servers.minimal import Params, notify, result, serve, text

listed = 0


def tools(id: object, params: Params) -> None:
    global listed
    page = int(params.get("cursor", 0))
    if page == 0:
        listed += 1
    names = [f"tool-{number}" for number in range(1 + listed)]
    some = [{"name": name, "inputSchema": {"type": "object"}} for name in names[page : page + 2]]
    more = {"nextCursor": str(page + 2)} if page + 2 < len(names) else {}
    result(id, {"tools": some} | more)


def call(id: object, _params: Params) -> None:
    for _ in range(50):
        notify("notifications/tools/list_changed")
    result(id, text("changed"))


if __name__ == "__main__":
    serve({"tools/list": tools, "tools/call": call}, {"tools": {"listChanged": True}})
