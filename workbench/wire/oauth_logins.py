"""How the connections of a session come by tokens: what is kept, and who can ask a person.

Light, because every connection over HTTP has one: what does the work is loaded when it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.config.place import settings_path

if TYPE_CHECKING:
    from workbench.config import Target
    from workbench.wire.http_clients import HttpClients
    from workbench.wire.http_library import httpx
    from workbench.wire.oauth import Authorization
    from workbench.wire.oauth_flow import Browser
    from workbench.wire.tap import Tap


class Logins:
    """``browser`` asks a person, ``None`` where nobody can be asked. ``keeps`` tells whether tokens are read
    from, and written to, what the user keeps; else they live as long as the connection. ``looks`` walks the
    documents as far as they lead also where nobody can be asked, to say what is wrong with them.
    """

    def __init__(self, browser: Browser | None = None, *, keeps: bool = True, looks: bool = False) -> None:
        self.browser = browser
        self.keeps = keeps
        self.looks = looks

    def for_connection(
        self, target: Target, url: httpx.URL, tap: Tap, clients: HttpClients
    ) -> Authorization | None:
        """What authorizes a connection, ``None`` where nothing would: an ``Authorization`` header of the
        user's own, or nobody to ask and nothing kept."""
        if any(name.lower() == "authorization" for name in target.headers) or url.userinfo:
            return None
        given = target.oauth is not None and target.oauth.grant != "code"
        if self.browser is None and not given and not self.looks and not (self.keeps and are_kept()):
            return None
        from workbench.wire.oauth import Authorization

        url = url.copy_with(username=None, password=None)
        return Authorization(target, url, tap, clients, self)


def are_kept(environ: Mapping[str, str] | None = None) -> bool:
    """Whether there are any logins."""
    return settings_path(environ).with_name("logins.json").exists()
