"""Rules that answer a server's requests in a user's place.

A rule names a method, and may look at what the request says, at the tool that
runs and at the server's own name. Its answer is checked against the request
before it goes out; a rule that does not fit is passed over, with a remark.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from typing import Any

from workbench.core import elicitation, sampling
from workbench.core.jsonrpc import dumps, loads
from workbench.core.jsontext import problem
from workbench.core.question import Question, Reply

#: Characters of a request's words that a pattern looks at.
MAX_MATCHED = 10_000

#: Answers that are words: what each does is in ``Rule``.
WORDS = ("defaults", "decline", "cancel", "reject")

#: What begins an answer that is a text, for sampling.
TEXT = "text:"

#: The methods a rule can answer, and their short names.
METHODS = {
    "elicitation": "elicitation/create",
    "sampling": "sampling/createMessage",
    "roots": "roots/list",
}

#: The error code of a request the user refuses ("Sampling", all handshake revisions).
USER_REJECTED = -1

_FILTERS = ("tool", "message", "server", "name")
_SPELLED = re.compile(r"(?P<method>[^=\[\]]+)(?:\[(?P<filters>.*?)\])?=(?P<answer>.*)", re.DOTALL)


@dataclass(frozen=True)
class Rule:
    """What to answer to which requests of a server.

    ``answer`` is the JSON text of a result, ``text:…`` (what a model says; sampling), ``defaults``
    (elicitation by form: accept with the defaults of its schema), ``decline``, ``cancel`` or
    ``reject`` (an error -1; declining or cancelling sampling is the same). ``message``, ``tool``
    and ``server`` are shell patterns for what the request says, for a tool that runs and for the
    server's own name; an empty one is not looked at. ``name`` is what the rule is called.

    Raises ``ValueError`` with the end of a sentence for a rule that could answer nothing.
    """

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 - read by pydantic, not by us

    method: str
    answer: str
    message: str = ""
    tool: str = ""
    server: str = ""
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "method", METHODS.get(self.method, self.method))
        fault = _fault(self.method, self.answer)
        if fault:
            raise ValueError(fault)

    @property
    def label(self) -> str:
        """What the rule is called where it is told: its name, or what it does."""
        short = self.answer if len(self.answer) <= 40 else f"{self.answer[:39]}…"
        return self.name or f"{self.method}={short}"

    def meant_for(self, question: Question) -> bool:
        """Whether the rule is about this request."""
        return (
            question.method == self.method
            and (not self.server or _like(question.server, self.server))
            and (not self.message or _like(question.message, self.message))
            and (not self.tool or any(_like(tool, self.tool) for tool in question.during()))
        )

    def reply(self, question: Question) -> tuple[Reply, list[str]]:
        """The answer, and what is wrong with it for this request (sentences without full stops)."""
        if self.answer == "reject" or (self.answer in WORDS and self.method != "elicitation/create"):
            text = f"The user rejected the {_NOUNS[self.method]} request"
            return Reply(self.label, None, USER_REJECTED, text, rule=True), []
        if self.answer == "defaults":
            return self._with_defaults(question.params)
        result = self._result()
        return Reply(self.label, result, rule=True), result_faults(self.method, question.params, result)

    def _with_defaults(self, params: Any) -> tuple[Reply, list[str]]:
        if elicitation.mode_of(params) != "form":
            return Reply(self.label, rule=True), ["a URL has no defaults"]
        content, faults = elicitation.defaults(params)
        return Reply(self.label, f'{{"action":"accept","content":{content}}}', rule=True), faults

    def _result(self) -> str:
        if self.answer.startswith(TEXT):
            return sampling.written(self.answer.removeprefix(TEXT))
        return dumps({"action": self.answer}) if self.answer in WORDS else self.answer


_NOUNS = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}


def result_faults(method: str, params: Any, result: str) -> list[str]:
    """What is wrong with a result (JSON text) as the answer to a request; sentences without full
    stops. ``params`` are the request's, parsed."""
    wrong = problem(result)
    if wrong is not None:
        return [f"the result is not JSON: {wrong.why}"]
    if method == "elicitation/create":
        return elicitation.result_faults(params, result)
    if method == "sampling/createMessage":
        return sampling.result_faults(params, loads(result))
    return _roots_faults(loads(result)) if method == "roots/list" else []


def rule_from(text: str) -> Rule:
    """The rule that a user spells ``METHOD=ANSWER`` or ``METHOD[tool=…,message=…,server=…]=ANSWER``.

    Raises ``ValueError`` with the end of a sentence.
    """
    found = _SPELLED.fullmatch(text)
    if found is None:
        raise ValueError(f"{text[:60]!r} is not METHOD=ANSWER; write for example elicitation/create=defaults")
    filters: dict[str, str] = {}
    for each in (found["filters"] or "").split(",") if found["filters"] else ():
        key, equals, pattern = each.partition("=")
        if key.strip() not in _FILTERS or not equals:
            raise ValueError(f"{each[:60]!r} is no filter; use {', '.join(_FILTERS)}, as in [tool=ask_*]")
        filters[key.strip()] = pattern
    return Rule(method=found["method"].strip(), answer=found["answer"], **filters)


def rule_like(question: Question, result: str | None, **filters: str) -> Rule:
    """The rule that always answers so: with this result (JSON text), or by refusing (``None``).

    ``filters`` narrow it (``tool``, ``message``, ``server``) and give it a ``name``.
    """
    return Rule(method=question.method, answer="reject" if result is None else result, **filters)


def _fault(method: str, answer: str) -> str:
    if method not in METHODS.values():
        return f"{method[:60]!r} is no request that can be answered; use {', '.join(METHODS.values())}"
    if answer in WORDS:
        if answer == "defaults" and method != "elicitation/create":
            return f"'defaults' is an answer to elicitation/create only, not to {method}"
        return ""
    if answer.startswith(TEXT):
        return "" if method == "sampling/createMessage" else f"{TEXT}… is an answer to sampling only"
    wrong = problem(answer)
    if wrong is not None or not isinstance(loads(answer), dict):
        words = ", ".join(WORDS)
        return f"{answer[:60]!r} is no answer; use {words}, {TEXT}… (sampling) or a result as a JSON object"
    return ""


def _roots_faults(result: Any) -> list[str]:
    roots = result.get("roots") if isinstance(result, dict) else None
    if not isinstance(roots, list):
        return ["the result has no array of roots"]
    good = all(isinstance(root, dict) and str(root.get("uri")).startswith("file://") for root in roots)
    return [] if good else ["a root is an object with a file:// uri"]


def _like(text: str, pattern: str) -> bool:
    return fnmatch.fnmatchcase(text[:MAX_MATCHED].lower(), pattern.lower())
