"""Sending what a form holds: to the connection it was filled in on, or to all side by side."""

from __future__ import annotations

from textual import on

from workbench.core.lifecycle import State
from workbench.tui.messages import Call, Said
from workbench.tui.screens.beside import Beside


class Sending(Beside):
    """One is the default; all is asked for, and said on the screen before anything is sent."""

    def do_send_to_all(self) -> None:
        self._send_to(True)

    def do_send_to_one(self) -> None:
        self._send_to(False)

    def _send_to(self, to_all: bool) -> None:
        if self.split is not None:
            self.split.to_all = to_all
            self.look()

    @on(Call)
    def _called(self, message: Call) -> None:
        message.stop()
        split = self.split
        if split is not None and split.to_all:
            split.send(message, self.desk.views)
            self.look()
            self.enter()
            return
        view = next((each for each in self.desk.views if each.number == message.connection), None)
        if view is None:
            return
        if view.state is not State.READY:
            words = view.state.value.replace("_", " ")
            self.post_message(Said(f"{view.name} is {words}, so nothing was sent; c connects again.", True))
            return
        self.desk.call(view.number, message.item.name, message.method, message.params)
        self.look()

    def do_cancel_all(self) -> None:
        """Cancel what runs of the call that went to all."""
        split = self.split
        if split is not None and split.together is not None:
            for run in split.together.running:
                self.desk.cancel(run)
