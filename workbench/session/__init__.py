"""Connections, a recorder and a reader put together: what screen, commands and tests share."""

from workbench.session.announcing import Change
from workbench.session.live import Session
from workbench.session.thread import SessionThread

__all__ = ["Change", "Session", "SessionThread"]
