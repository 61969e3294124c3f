"""``login``, ``logout`` and ``logins``: the tokens for servers that ask for authorization."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from workbench.cli import output
from workbench.cli.live import json_option, record_option
from workbench.cli.targets import TargetCommand, target_line
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.config import Target


@click.command(cls=TargetCommand)
@click.option(
    "--wait",
    "wait",
    type=click.FloatRange(1, 86_400),
    default=300,
    show_default=True,
    metavar="S",
    help="Seconds to wait for somebody to log in.",
)
@click.option("--again", is_flag=True, help="Ask even if there is a login that holds.")
@click.option("--open", "opens", is_flag=True, help="Open the URL in a browser of this machine.")
@record_option
@click.pass_context
def login(ctx: click.Context, wait: float, again: bool, opens: bool, record: str | None) -> int:
    """Log in to a server that asks for authorization, and keep its tokens.

    The URL to open is shown whole. The browser may run anywhere: it is sent back to a port of this
    machine, which an ssh -L reaches from another one, or the URL that it was sent to is pasted here.
    Commands and the screen use the tokens from then on, and renew them.
    """
    target = _over_http(target_line(ctx).only())
    if any(name.lower() == "authorization" for name in target.headers):
        raise UsageError("an Authorization header of your own switches logins off; leave it out")
    if target.oauth is not None and target.oauth.grant != "code":
        raise UsageError("this grant needs nobody to log in; use the server without login")
    if again:
        from workbench.wire.oauth_storage import Storage

        Storage().forget(_server(target))
    return _run(target, wait, opens, record)


@click.command(cls=TargetCommand)
@click.pass_context
def logout(ctx: click.Context) -> int:
    """Forget the tokens for a server.

    The server is not told: a token that somebody else has is good until it expires.
    """
    from workbench.wire.oauth_storage import Storage

    server = _server(_over_http(target_line(ctx).only()))
    gone = Storage().forget(server)
    for each in gone:
        output.note(f"logged out of {server}, where {each.issuer} had given the tokens")
    if not gone:
        output.note(f"there is no login for {server}; mcp-workbench logins lists them")
    return 0


@click.command()
@json_option
def logins(as_json: bool) -> int:
    """The logins that are kept: for which server, from whom, until when. No token is shown."""
    from workbench.wire.oauth_storage import Storage

    storage = Storage()
    held = storage.logins()
    if as_json:
        documents = [
            {
                "server": each.server,
                "issuer": each.issuer,
                "resource": each.resource,
                "client_id": each.client.client_id,
                "scopes": list(each.tokens.scopes),
                "expires": each.tokens.expires or None,
                "since": each.since,
                "in_keyring": each.hidden,
            }
            for each in held
        ]
        output.json_document({"file": str(storage.path), "logins": documents})
        return 0
    if not held:
        output.note("There are no logins; mcp-workbench login URL makes one.")
        return 0
    rows = [
        (
            each.server,
            each.issuer,
            " ".join(each.tokens.scopes) or "none named",
            until(each.tokens.expires),
            "keyring" if each.hidden else "file",
        )
        for each in held
    ]
    output.table(("server", "issuer", "scopes", "token", "kept in"), rows)
    return 0


def until(expires: float) -> str:
    """How long a token holds, in words; it may be renewed then."""
    import time

    if not expires:
        return "no end named"
    left = expires - time.time()
    if left <= 0:
        return "expired"
    return f"{left / 60:.0f} min left" if left < 7200 else f"{left / 3600:.0f} h left"


def _over_http(target: Target) -> Target:
    if target.transport not in ("http", "sse"):
        raise UsageError("only servers over HTTP have logins; give --http URL")
    return target


def _server(target: Target) -> str:
    from workbench.wire.oauth_discovery import canonical_url

    return canonical_url(target.url)


def _run(target: Target, wait: float, opens: bool, record: str | None) -> int:
    import os

    import anyio

    from workbench.cli.login_browser import TerminalBrowser

    if record and os.path.exists(record):
        raise UsageError(f"{record} exists already; name a file that does not, or remove it")
    browser = TerminalBrowser(wait, target.oauth.port if target.oauth is not None else 0, opens)
    # The server's first answer comes when somebody has logged in.
    longer = {"start": wait + 60, "request": wait + 60, "maximum": wait + 600}
    patient = target.timeouts.model_copy(update=longer)
    # Finding out the era goes by how long the server takes to answer, and here a person does.
    era = "legacy" if target.era == "auto" else target.era
    asking = target.model_copy(update={"timeouts": patient, "era": era})
    return anyio.run(_login, asking, browser, record)


async def _login(target: Target, browser: object, record: str | None) -> int:
    from workbench.cli.login_browser import TerminalBrowser
    from workbench.core.lifecycle import State
    from workbench.errors import ConnectionFailed
    from workbench.session import Session
    from workbench.wire.oauth_logins import Logins
    from workbench.wire.oauth_storage import Storage

    assert isinstance(browser, TerminalBrowser)
    server = _server(target)
    async with Session.open(
        record=bool(record), path=record, origin="command", logins=Logins(browser)
    ) as session:
        connection = session.connect(target, listing=False)
        try:
            await connection.ready()
        except ConnectionFailed:
            # Who answers has let us in, also where it is of the other era.
            if connection.state is not State.REFUSED:
                raise
    held = Storage().find(server)
    if held is None:
        output.note(f"{server} asks for no authorization; there is nothing to log in to")
    elif not browser.asked:
        output.note(f"there is a login for {server} that holds; --again makes another one")
    else:
        scopes = " ".join(held.tokens.scopes) or "none named"
        output.note(f"logged in to {server} at {held.issuer}; scopes: {scopes}; {until(held.tokens.expires)}")
    return 0
