"""TARGET on the command line: commands that take one or several, and their help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from workbench.cli.program import EXIT_STATUSES

if TYPE_CHECKING:
    from workbench.config import Settings, Target

TARGET_HELP = """\b
TARGET, one of:
  -- CMD ARGS…             a stdio server; everything after -- is its command line
  --stdio 'CMD ARGS'       the same as one word
  --http URL               a server over HTTP
  --sse URL                a server over the older HTTP with SSE
  --transport NAME=ADDRESS a server over a transport that another package brings
  --replay FILE            a recording as a mock server (FILE, FILE#n, or a name in the store)
  @NAME                    a server of a config file; mcp-workbench servers lists them
\b
Options of a target:
  --env NAME=VALUE         a variable for the server, merged over this environment
  --cwd DIR                the folder to start it in
  --name NAME              what to call the connection
  --header 'NAME: VALUE'   a header of every HTTP request; VALUE may hold ${VAR}
  --token-env VARIABLE     a token for the server, from a variable of this environment
  --grant GRANT            how tokens are got: code (somebody logs in) or client_credentials
  --client-id ID           a client that is registered at the authorization server already;
                           --client-secret-env VARIABLE or --client-key FILE (PEM) show that we
                           are it, --issuer URL names the server it is registered at
  --client-metadata URL    a client metadata document of yours, where servers read such
  --scope SCOPES           the scopes to ask for, instead of those the server names
  --callback-port PORT     the port a browser is sent back to
  --era ERA                legacy begins with a handshake, modern without one, auto finds out
  --protocol-version V     the revision to offer, any text
  --timeout S              seconds to wait for an answer; progress starts them anew
  --start-timeout S        seconds to wait for the handshake
  --max-timeout S          seconds a request may take however much progress it makes
  --shutdown-timeout S     seconds for each step of ending the server
  --capability NAME        declare a client capability (sampling.tools, or NAME=JSON);
                           --no-capability NAME leaves it out
  --client-info JSON       who we say we are
  --require NAME           fail unless the server has this capability
  --root DIR               a folder to tell the server as a root
  --answer METHOD=ANSWER   answer the server's requests by a rule; ANSWER is defaults, decline,
                           cancel, reject, text:WORDS (sampling) or a result as JSON. METHOD may
                           be narrowed: elicitation/create[tool=ask_*,message=*name*]
  --log-level LEVEL        ask the server for log messages from this level on
  --config FILE            where @NAME is looked up first
  --input ID=VALUE         what the config file asks for as ${input:ID}
  --yes                    start what a project's file asks for, this time"""


class TargetCommand(click.Command):
    """A command whose line ends with targets: they and their options are taken out of it first.

    What follows ``--`` belongs to the server and never reaches click.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        if "--help" in args[:end]:
            return super().parse_args(ctx, ["--help"])
        from workbench.cli.asking import take_targets_asking
        from workbench.config import load_settings

        settings = load_settings()
        targets, rest = take_targets_asking(args, settings)
        for target in targets:
            if target.transport not in ("stdio", "http", "sse"):
                from workbench.wire.transport import find_transport

                find_transport(target.transport)
        ctx.obj = TargetLine(targets, settings)
        return super().parse_args(ctx, rest)

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "TARGET"]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.epilog = f"{TARGET_HELP}\n\n{EXIT_STATUSES}"
        super().format_epilog(ctx, formatter)


class TargetLine:
    """The targets of one command line, and the user's settings."""

    def __init__(self, targets: list[Target], settings: Settings) -> None:
        self.targets = targets
        self.settings = settings

    def only(self) -> Target:
        """The one target a command needs. Raises ``UsageError``."""
        from workbench.errors import UsageError

        if not self.targets:
            raise UsageError("no TARGET was given; put -- and the server's command at the end of the line")
        if len(self.targets) > 1:
            raise UsageError("this command takes one TARGET; run it once for each server")
        return self.targets[0]


def target_line(ctx: click.Context) -> TargetLine:
    line: Any = ctx.obj
    assert isinstance(line, TargetLine)
    return line
