"""Bodies in the place of the pane, and what is copied and saved of what is in view."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.check.rule import Finding
from workbench.errors import WorkbenchError
from workbench.store.about import PROVENANCE
from workbench.tui.aside import aside
from workbench.tui.ask import Ask
from workbench.tui.broken import findings_of
from workbench.tui.copying import copied, save
from workbench.tui.detail import Detail
from workbench.tui.dock import Dock
from workbench.tui.heads import Heads, heads_of
from workbench.tui.messages import Body, Said
from workbench.tui.screens.part import Part


class Bodies(Part):
    """Showing a body whole; ``y`` and ``w``."""

    _wanted_frame = (0, True)

    def show_body(
        self,
        title: str,
        body: bytes,
        seq: int | None = None,
        *,
        focus: bool = True,
        heads: Heads | None = None,
        findings: Sequence[Finding] = (),
    ) -> None:
        """Show a body whole, in the place of the pane."""
        detail = self.query_one(Detail)
        if not self.has_class("detail"):
            self.before_detail = self.focused
            self.add_class("detail")
            self.look()
        detail.show(title, body, seq, heads, findings)
        if focus:
            detail.text.focus()
        self.hints()

    def judge_body(self) -> None:
        """Take over what has been found in the frame in view since it was opened."""
        detail = self.query_one(Detail)
        if self.has_class("detail") and detail.seq is not None:
            found = findings_of(self.desk.findings(detail.seq), None)
            if len(found) > len(detail.findings):
                detail.judge(found)

    def close_detail(self) -> None:
        if not self.has_class("detail"):
            return
        self.remove_class("detail")
        self.look()
        before = self.before_detail
        if before is not None and before.is_attached and before.display:
            before.focus()
        elif self.pane is not None:
            self.pane.start()
        self.hints()

    def open_frame(self, seq: int, *, focus: bool = True) -> None:
        """Fetch the body of a frame in a thread, then show it."""
        reader = self.desk.reader
        if reader is None:
            return
        self._wanted_frame = (seq, focus)

        def fetch() -> Body | Said:
            try:
                frame = reader.frame(seq)
                stream = reader.stream(frame.stream) if frame.stream else None
                found = findings_of(self.desk.findings(seq), next(iter(reader.rows([seq])), None))
                how = reader.provenance([seq]).get(seq)
            except WorkbenchError as error:
                return Said(str(error), True)
            what = [frame.kind.name.lower(), frame.method or "", frame.name or ""]
            title = f"#{seq}  {' '.join(word for word in what if word)}"
            title += f"  {PROVENANCE.get(how, how)}" if how else ""
            return Body(seq, title, frame.body, heads_of(frame, stream), found)

        aside(self, fetch)

    def on_body(self, message: Body) -> None:
        message.stop()
        seq, focus = self._wanted_frame
        if message.seq == seq:
            found = message.findings
            self.show_body(message.title, message.body, seq, focus=focus, heads=message.heads, findings=found)
            self.judge_body()  # more may have been found while the body was fetched

    def source(self) -> tuple[str, bytes] | None:
        """What ``y`` and ``w`` take: what is in view."""
        detail = self.query_one(Detail)
        if self.has_class("detail"):
            return detail.title, detail.text.source
        dock = self.query_one(Dock)
        if dock.has_focus_within:
            row = dock.frames.row
            return None if row is None else (f"frame {row.seq}", b"")
        return self.pane.source() if self.pane is not None else None

    def _body(self) -> bytes:
        found = self.source()
        row = self.frames.row
        if found is not None and not found[1] and row is not None and self.desk.reader is not None:
            return self.desk.reader.body(row.seq)
        return found[1] if found is not None else b""

    def do_copy(self) -> None:
        try:
            body = self._body()
        except WorkbenchError as error:
            self.say(str(error), bad=True)
        else:
            self.copy(body)

    def copy(self, body: bytes) -> None:
        """Put bytes on the terminal's clipboard."""
        sequence, sentence = copied(body)
        driver = self.app._driver
        if sequence and driver is not None:
            driver.write(sequence)
        self.say(sentence, bad=not sequence)

    def do_save(self) -> None:
        body = self._body()

        def answer(path: str) -> str:
            wrong = save(body, path)
            if not wrong:
                self.say(f"saved to {path}")
            return wrong

        self.query_one(Ask).ask("save to", answer, ghost="file name")
