"""Never answers initialize, and says on stderr that it is on its way."""

from tests.servers.minimal import Params, log, serve


def initialize(_id: object, _params: Params) -> None:
    log("downloading 1 of 3")
    log("downloading 2 of 3")


if __name__ == "__main__":
    serve({"initialize": initialize})
