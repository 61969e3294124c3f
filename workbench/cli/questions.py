"""Questions of a server on the terminal a command runs on: line by line, on stderr and stdin.

Only where both are a terminal and no rule has answered; a script is never asked anything. Ctrl-C
declines, the end of the input (ctrl-D) cancels.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import anyio.abc

from workbench.cli import output
from workbench.core.arguments import value
from workbench.core.elicitation import choices_of, form_asked, mode_of, value_doubt
from workbench.core.field import Choice, Field, FieldKind
from workbench.core.forms import FormModel
from workbench.core.jsonrpc import dumps
from workbench.core.links import link_of
from workbench.core.printable import printable
from workbench.core.question import Question
from workbench.core.rules import USER_REJECTED
from workbench.core.sampling import written

if TYPE_CHECKING:
    from workbench.core.actions import PeerRequest
    from workbench.session import Session
    from workbench.wire.connection import Connection

#: Choices of an enum that are shown.
MAX_CHOICES = 50

DECLINED = '{"action":"decline"}'
CANCELLED = '{"action":"cancel"}'

_YES_NO = {"y": "true", "yes": "true", "true": "true", "n": "false", "no": "false", "false": "false"}


class EndOfInput(Exception):
    """Nothing more can be typed."""


def on_a_terminal() -> bool:
    """Whether there is a person who sees a question and can answer it."""
    try:
        return sys.stdin.isatty() and sys.stderr.isatty()
    except (AttributeError, ValueError):
        return False


class Typed:
    """The lines a person types, without blocking anybody else."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""

    async def line(self, prompt: str) -> str:
        """The next line, after a prompt. Raises ``EndOfInput``."""
        sys.stderr.write(printable(prompt))
        sys.stderr.flush()
        while b"\n" not in self._rest:
            await anyio.wait_readable(self._descriptor)
            piece = os.read(self._descriptor, 65536)
            if not piece:
                sys.stderr.write("\n")
                raise EndOfInput
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")


async def attend(session: Session, connection: Connection) -> None:
    """Ask the person for each request that comes into the inbox, one after the other, for good."""
    typed = Typed(sys.stdin.fileno())
    news = [anyio.Event()]
    stop = session.listen(lambda _: news[0].set())
    try:
        while True:
            news[0] = anyio.Event()
            connection = connection.successor or connection
            asked = next(iter(connection.inbox.values()), None)
            if asked is None:
                await news[0].wait()
            else:
                await _ask(connection, asked, typed)
    finally:
        stop()


async def _ask(connection: Connection, asked: PeerRequest, typed: Typed) -> None:
    """Ask about one request, and answer it, unless the server takes it back meanwhile."""
    answer: str | None = None if asked.method == "sampling/createMessage" else DECLINED
    async with anyio.create_task_group() as group, _interrupts(group.cancel_scope.cancel):
        group.start_soon(_when_gone, connection, asked.id, group.cancel_scope)
        try:
            answer = await _answer(connection, asked, typed)
        except EndOfInput:
            answer = CANCELLED if asked.method == "elicitation/create" else None
        group.cancel_scope.cancel()
    if asked.id not in connection.inbox:
        output.note(f"mcp-workbench: the server has taken {asked.method} back")
    elif answer is None:
        connection.answer(asked.id, error=(USER_REJECTED, "The user rejected the sampling request", None))
    else:
        connection.answer(asked.id, answer)


async def _answer(connection: Connection, asked: PeerRequest, typed: Typed) -> str:
    params = asked.params
    says = Question(asked.method, params).message
    output.note(f"mcp-workbench: {connection.name} sends {asked.method}: {says}".rstrip(": "))
    if asked.method == "sampling/createMessage":
        return written(await typed.line("  what the model says (ctrl-C declines): "))
    if mode_of(params) == "url":
        return await _consent(params, typed)
    return f'{{"action":"accept","content":{await _content(form_asked(params), typed)}}}'


async def _consent(params: Any, typed: Typed) -> str:
    """Consent to open a URL; whoever consents opens it."""
    link = link_of(params)
    if link is None:
        output.note("  It names no URL.")
        return DECLINED
    output.note(f"  {link.url}\n  host: {link.host or 'none'}  {link.warning}".rstrip())
    line = await typed.line("  Will you open it yourself? [y/N] ")
    return '{"action":"accept"}' if _YES_NO.get(line.strip().lower()) == "true" else DECLINED


async def _content(form: FormModel, typed: Typed) -> str:
    """The content of a form (JSON text), field by field."""
    if form.reason:
        return (await typed.line(f"  {form.reason} Content (a JSON object): ")).strip() or "{}"
    parts = []
    for field in form.fields:
        text = await _field(field, typed)
        if text is not None:
            parts.append(f"{dumps(field.name)}:{text}")
    return f"{{{','.join(parts)}}}"


async def _field(field: Field, typed: Typed) -> str | None:
    """The value of one field (JSON text), ``None`` to leave it out; asked again until it fits."""
    choices = choices_of(field) or field.choices
    for number, choice in enumerate(choices[:MAX_CHOICES], 1):
        output.note(f"    {number}  {choice.title}")
    while True:
        line = (await typed.line(_prompt(field))).strip()
        if not line:
            if field.default is not None or not field.required:
                return field.default
            output.note(f"    {field.name} is required")
            continue
        text = _value(field, choices, line)
        doubt = value_doubt(field, text)
        if not doubt:
            return text
        output.note(f"    {field.name} {doubt}")


def _prompt(field: Field) -> str:
    words = [field.word, "required" if field.required else "optional"]
    if choices_of(field):
        words.append("several with commas")
    if field.default is not None:
        words.append(f"default {field.default}")
    about = f" {field.description}" if field.description else ""
    return f"  {field.title or field.name} ({', '.join(words)}){about}: "


def _value(field: Field, choices: tuple[Choice, ...], line: str) -> str:
    if choices_of(field):
        return f"[{','.join(_choice(choices, part.strip()) for part in line.split(',') if part.strip())}]"
    if choices:
        return _choice(choices, line)
    if field.kind is FieldKind.STRING:
        return dumps("" if line == '""' else value(line).text)
    return _YES_NO.get(line.lower(), line) if field.kind is FieldKind.BOOLEAN else line


def _choice(choices: tuple[Choice, ...], line: str) -> str:
    """A choice by what it is called or worth, else by its number."""
    for choice in choices:
        if line in (choice.title, choice.text, choice.text.strip('"')):
            return choice.text
    if line.isdecimal() and 1 <= int(line) <= len(choices):
        return choices[int(line) - 1].text
    return dumps(line)


async def _when_gone(connection: Connection, id: str, scope: anyio.CancelScope) -> None:
    """End the question when nobody waits for its answer any more."""
    while id in connection.inbox:
        await anyio.sleep(0.05)
    scope.cancel()


@asynccontextmanager
async def _interrupts(stop: Callable[[], object]) -> AsyncIterator[None]:
    """Ctrl-C stops the question and nothing else; afterwards it means what it meant before."""
    before = signal.getsignal(signal.SIGINT)

    async def watch(*, task_status: anyio.abc.TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(signal.SIGINT) as signals:
            task_status.started()
            async for _ in signals:
                sys.stderr.write("\n")
                stop()

    try:
        async with anyio.create_task_group() as group:
            await group.start(watch)
            yield
            group.cancel_scope.cancel()
    finally:
        signal.signal(signal.SIGINT, before)
