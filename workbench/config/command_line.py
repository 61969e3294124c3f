"""A target, and a request to it, as the command line that does the same; secrets stand in it as variables."""

from __future__ import annotations

import re
import shlex

from workbench.config.oauth import OAuth
from workbench.config.secrets import secrets_of, shown_command, shown_environment, shown_headers, shown_url
from workbench.config.targets import Target, Timeouts
from workbench.config.urls import MASK
from workbench.core.credentials import is_secret_name
from workbench.core.jsonrpc import dumps
from workbench.core.methods import LATEST_HANDSHAKE


def request_line(target: Target, method: str, params: str) -> str:
    """``mcp-workbench request …`` for a request, one line for a shell; ``params`` is JSON text, empty for
    none. No secret that the target was given stands in it: a header reads it from a variable that bears its
    name, a variable of the server's environment is left to what the server inherits, and elsewhere its
    place is masked."""
    params = _without_secrets(target, params)
    words = ["mcp-workbench", "request", method, *([params] if params else []), *target_words(target)]
    return shlex.join(words)


def target_words(target: Target) -> list[str]:
    """The arguments that make the target, last a command line."""
    if target.recording is not None:
        return ["--replay", target.recording]
    words: list[str] = []
    for name, value in shown_environment(target).items():
        # The command line takes what stands there for the value: nothing is put in for a variable.
        if target.env[name] is not None and MASK not in value:
            words += ["--env", f"{name}={value}"]
    if target.cwd is not None:
        words += ["--cwd", target.cwd]
    for name, value in shown_headers(target).items():
        words += ["--header", f"{name}: {_put(value, name)}"]
    words += _oauth_words(target.oauth) if target.oauth is not None else []
    if target.era != "auto":
        words += ["--era", target.era]
    if target.offer != LATEST_HANDSHAKE:
        words += ["--protocol-version", target.offer]
    if target.timeouts.request != Timeouts().request:
        words += ["--timeout", f"{target.timeouts.request:g}"]
    for root in target.roots:
        words += ["--root", root.uri]
    if target.log_level is not None:
        words += ["--log-level", target.log_level]
    if target.transport == "stdio":
        return [*words, "--", *shown_command(target)]
    if target.transport in ("http", "sse"):
        return [*words, f"--{target.transport}", shown_url(target)]
    return [*words, "--transport", f"{target.transport}={target.url}"]


def _oauth_words(oauth: OAuth) -> list[str]:
    """What is given of authorization; a key's file is not known any more, so its name is made up."""
    given = {
        "--grant": oauth.grant if oauth.grant != "code" else "",
        "--client-id": oauth.client_id,
        "--client-secret-env": "CLIENT_SECRET" if oauth.client_secret else "",
        "--client-key": "client-key.pem" if oauth.private_key else "",
        "--client-metadata": oauth.client_metadata,
        "--issuer": oauth.issuer,
        "--scope": oauth.scope,
        "--callback-port": str(oauth.port or ""),
    }
    return [word for flag, value in given.items() if value for word in (flag, value)]


def _put(value: str, name: str) -> str:
    """What is masked in a value, as a variable."""
    variable = re.sub(r"\W", "_", name, flags=re.ASCII).upper()
    return value.replace(MASK, f"${{{variable}}}")


def _without_secrets(target: Target, text: str) -> str:
    """JSON text with the target's own secrets masked, as they are and as a JSON string spells them."""
    known = [value for name, value in secrets_of(target).items() if is_secret_name(name) and len(value) >= 4]
    for value in sorted(known, key=len, reverse=True):
        text = text.replace(dumps(value)[1:-1], MASK).replace(value, MASK)
    return text
