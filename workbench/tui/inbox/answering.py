"""How each kind of request is answered: the form, what is sent of it, and the other answers there are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from workbench.core.elicitation import defaults, form_asked, mode_of
from workbench.core.field import Field, FieldKind
from workbench.core.forms import FormModel
from workbench.core.jsonrpc import dumps, loads
from workbench.core.jsontext import lookup, members
from workbench.core.rules import USER_REJECTED, result_faults
from workbench.core.sampling import WRITTEN
from workbench.tui.desk import Inquiry
from workbench.tui.widgets.form import Check, Form, Kept, Read, Sent

ELICITATION, SAMPLING, ROOTS = "elicitation/create", "sampling/createMessage", "roots/list"

#: What the kinds are called in a row.
NOUNS = {ELICITATION: "elicitation", SAMPLING: "sampling", ROOTS: "roots"}

_DECLINE, _CANCEL = '{"action":"decline"}', '{"action":"cancel"}'


class Given(NamedTuple):
    """An answer: the JSON text of a result, or an error's code and message. ``how`` is what is said
    when it is given, ``word`` what its key says."""

    how: str
    word: str
    result: str | None = None
    error: tuple[int, str] | None = None


@dataclass(frozen=True)
class Answering:
    """The ways to answer one request. ``begun`` are the form's arguments at first, ``decline`` and
    ``cancel`` what goes out without it."""

    model: FormModel
    accepted: str
    decline: Given
    cancel: Given | None = None
    begun: str | None = None
    sent: Sent | None = None
    read: Read | None = None
    check: Check | None = None

    def show(self, form: Form, kept: Kept | None) -> None:
        """Show its form, as it was left if it was."""
        form.set_form(self.model, self.begun, sent=self.sent, read=self.read, check=self.check, kept=kept)


def noun_of(inquiry: Inquiry) -> str:
    return NOUNS.get(inquiry.method, inquiry.method)


def is_url(inquiry: Inquiry) -> bool:
    """Whether a URL is to be opened, and nothing filled in."""
    return inquiry.method == ELICITATION and mode_of(inquiry.params) == "url"


def answering_of(inquiry: Inquiry) -> Answering:
    """How a request is answered."""
    check = partial(result_faults, inquiry.method, inquiry.params)
    if inquiry.method == ELICITATION:
        return _elicited(inquiry, check)
    refused = Given(
        "rejected", "reject", None, (USER_REJECTED, f"The user rejected the {noun_of(inquiry)} request")
    )
    if inquiry.method == SAMPLING:
        return Answering(_SAMPLING, "answered", refused, sent=_sampled, read=_fields_of, check=check)
    reason = "The result is written as JSON."
    begun = inquiry.roots if inquiry.method == ROOTS else None
    return Answering(FormModel(reason=reason), "answered", refused, begun=begun, check=check)


def _elicited(inquiry: Inquiry, check: Check) -> Answering:
    decline, cancel = Given("declined", "decline", _DECLINE), Given("cancelled", "cancel", _CANCEL)
    if is_url(inquiry):
        consent = '{"action":"accept"}'
        return Answering(FormModel(), "accepted", decline, cancel, sent=lambda _: consent, check=check)
    model = form_asked(inquiry.params)
    begun = None if model.reason else defaults(inquiry.params)[0]
    return Answering(model, "accepted", decline, cancel, begun, sent=_accepted, read=_content_of, check=check)


def _accepted(content: str) -> str:
    return f'{{"action":"accept","content":{content}}}'


def _content_of(result: str) -> str | None:
    """The content of a result that accepts, if it is nothing else."""
    parts = members(result)
    if parts is None or [part.key for part in parts] != ["action", "content"]:
        return None
    return lookup(result, "/content") if lookup(result, "/action") == '"accept"' else None


_SAMPLING = FormModel(
    (
        Field(
            "text",
            FieldKind.STRING,
            "string",
            required=True,
            description="What the model would have answered; e writes the whole result as JSON",
        ),
        Field("model", FieldKind.STRING, "string", default=dumps(WRITTEN)),
        Field("stopReason", FieldKind.STRING, "string", default='"endTurn"'),
    )
)


def _sampled(text: str) -> str:
    """The result of the form's fields."""
    try:
        fields = loads(text)
    except (ValueError, RecursionError):
        return text
    return dumps(
        {
            "role": "assistant",
            "content": {"type": "text", "text": fields.get("text", "")},
            "model": fields.get("model", WRITTEN),
            "stopReason": fields.get("stopReason", "endTurn"),
        }
    )


def _fields_of(result: str) -> str | None:
    """The fields that make a result, if they can."""
    try:
        value = loads(result)
        fields = {
            "text": value["content"]["text"],
            "model": value["model"],
            "stopReason": value["stopReason"],
        }
    except (ValueError, RecursionError, TypeError, KeyError):
        return None
    text = dumps(fields)
    return text if loads(_sampled(text)) == value else None
