"""Requests of the peer: answered at once by the policy, or open until somebody answers."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from workbench.core import jsonrpc
from workbench.core.actions import Action, PeerCancelled, PeerRequest, Remarked, Send
from workbench.core.inflight import keep
from workbench.core.jsonrpc import Message, dumps
from workbench.core.methods import has_capability
from workbench.core.peek import peek
from workbench.core.policy import REFUSALS, Policy
from workbench.core.question import Question, Reply
from workbench.core.received import GATES, ReceivedTask
from workbench.core.splice import with_meta
from workbench.core.tasks import RELATED_TASK

#: Requests of the peer that are kept open at once; the oldest beyond it are forgotten unanswered.
MAX_PEER_REQUESTS = 10_000

#: An error: code, message, JSON text of data or ``None``.
Error = tuple[int, str, str | None]


#: The answer to a request that cannot be made one more task.
_TOO_MANY = Reply("too many tasks", None, -32603, "There are too many tasks that nobody has answered yet")


class Open:
    """A request of the peer, the frame ``seq``, that waits for an answer. ``token`` is the JSON text
    of the token under which it wants progress, ``None`` if it wants none; ``progress`` is what was
    reported last."""

    __slots__ = ("progress", "question", "seq", "token")

    def __init__(self, question: Question, seq: int) -> None:
        self.question = question
        self.seq = seq
        self.token = _token(question.params)
        self.progress = -math.inf


class Asked:
    """What the peer asks. ``open`` holds the requests that wait for an answer by their id (JSON
    text), oldest first; ``offered`` are our capabilities. ``server`` gives what the server calls
    itself, and ``tools`` the names of the tools that run: all of them, or the one that the request
    with an id (JSON text) calls, or that was made a task of this id; ``within`` is that request's id
    where the transport tells it."""

    def __init__(
        self,
        policy: Policy,
        offered: Mapping[str, object],
        server: Callable[[], str] = str,
        tools: Callable[[str | None, str | None], Sequence[str]] = lambda _id, _task: (),
    ) -> None:
        self.policy = policy
        self.offered = offered
        self.within: str | None = None
        self.open: OrderedDict[str, Open] = OrderedDict()
        self._server = server
        self._tools = tools

    @property
    def methods(self) -> dict[str, str]:
        """The methods of the open requests, by id."""
        return {id: waiting.question.method for id, waiting in self.open.items()}

    def take(self, message: Message, seq: int) -> list[Action]:
        """Take a request: it is told, and answered if the policy has an answer."""
        id = message.id or "null"
        params = peek(message, "params")
        during = partial(self._tools, self.within, _task_of(params))
        question = Question(message.method or "", params, during, self._server())
        actions: list[Action] = []
        self.policy.tasks.release(id)
        if question.method in GATES and has_capability(self.offered, GATES[question.method]):
            return actions + self._asked_of_tasks(id, question, seq, message)
        reply, remarks = self.policy.decide(question, self.offered)
        keep(self.open, id, Open(question, seq), MAX_PEER_REQUESTS)
        actions.append(PeerRequest(id, question.method, question.params, seq, reply is None, message))
        actions += [Remarked(None, remark) for remark in remarks]
        if self._becomes_task(question, reply):
            task = self.policy.tasks.make(id, question.params)
            if task is None:
                return actions + self._replied(id, _TOO_MANY)
            actions.append(Send(jsonrpc.result(id, f'{{"task":{task.text()}}}'), "task", id))
        return actions if reply is None else actions + self._replied(id, reply)

    def _becomes_task(self, question: Question, reply: Reply | None) -> bool:
        """What is refused in itself becomes no task."""
        refused = reply is not None and reply.code in REFUSALS
        return not refused and self.policy.tasks.wanted(question.method, question.params, self.offered)

    def _asked_of_tasks(self, id: str, question: Question, seq: int, message: Message) -> list[Action]:
        """A request about the tasks the peer has made."""
        keep(self.open, id, Open(question, seq), MAX_PEER_REQUESTS)
        actions: list[Action] = [PeerRequest(id, question.method, question.params, seq, False, message)]
        reply, ended = self.policy.tasks.asked(id, question.method, question.params)
        if ended is not None:
            self.open.pop(ended.request, None)
            actions += [PeerCancelled(ended.request, None, seq), *self._told_result(ended)]
        return actions if reply is None else actions + self._replied(id, reply)

    def reconsider(self, id_text: str) -> list[Action]:
        """Ask the policy anew about a request that is open: a rule may have come that answers it."""
        waiting = self.open.get(id_text)
        if waiting is None:
            return []
        reply, _ = self.policy.decide(waiting.question, self.offered)
        return self._replied(id_text, reply) if reply is not None and reply.rule else []

    def _replied(self, id_text: str, reply: Reply) -> list[Action]:
        about = f"{'rule' if reply.rule else 'policy'} {reply.by}" if reply.by != "tasks" else "tasks"
        return self.answer(id_text, reply.result, _error(reply), about)

    def answer(self, id_text: str, result: str | None, error: Error | None, about: str) -> list[Action]:
        """Answer a request, once; nothing if it is not open. Where it was made a task, that ends."""
        waiting = self.open.pop(id_text, None)
        if waiting is None:
            return []
        if error is None:
            result = _related("{}" if result is None else result, waiting.question)
        task = self.policy.tasks.of_request(id_text)
        if task is None:
            return [Send(_answer(id_text, result, error), about, id_text)]
        code, message, data = error or (0, "", None)
        self.policy.tasks.end(task, Reply(about, result, code, message, data=data))
        told = jsonrpc.notification("notifications/tasks/status", task.text())
        return [*self._told_result(task), Send(told, about, id_text)]

    def _told_result(self, task: ReceivedTask) -> list[Action]:
        """Answer the requests that wait for the end of a task."""
        final = task.final()
        waiting, task.waiting = task.waiting, []
        if final is None:
            return []
        return [action for id in waiting for action in self._replied(id, final)]

    def report(self, id_text: str, progress: float, total: float | None, message: str | None) -> list[Action]:
        """Tell the peer how an open request comes on. Nothing if it did not ask for that, or if the
        progress has not grown."""
        waiting = self.open.get(id_text)
        if waiting is None or waiting.token is None or not progress > waiting.progress:
            return []
        waiting.progress = progress
        more = {"total": total, "message": message}
        told = {"progress": progress} | {key: value for key, value in more.items() if value is not None}
        task = self.policy.tasks.of_request(id_text)
        related = "" if task is None else f',"_meta":{{{dumps(RELATED_TASK)}:{{"taskId":{dumps(task.id)}}}}}'
        params = f'{{"progressToken":{waiting.token},{dumps(told)[1:-1]}{related}}}'
        return [Send(jsonrpc.notification("notifications/progress", params), "progress")]

    def cancelled(self, message: Message, seq: int) -> list[Action]:
        """Take a ``notifications/cancelled``: the peer wants no answer any more."""
        identity = peek(message, "params", "requestId")
        id = None if identity is None else jsonrpc.id_text(identity)
        # A request that was made a task has been answered already, and is cancelled by tasks/cancel.
        if id is None or self.policy.tasks.of_request(id) or self.open.pop(id, None) is None:
            return []
        self.policy.tasks.stop_waiting(id)
        reason = peek(message, "params", "reason")
        return [PeerCancelled(id, reason if isinstance(reason, str) else None, seq)]


def _error(reply: Reply) -> Error | None:
    return None if reply.result is not None else (reply.code, reply.message, reply.data)


def _related(result: str, question: Question) -> str:
    """The result of a request that belongs to a task of ours says so too ("Tasks", 2025-11-25)."""
    task = _meta(question.params, RELATED_TASK)
    return result if task is None else with_meta(result, {RELATED_TASK: dumps(task)}) or result


def _answer(id_text: str, result: str | None, error: Error | None) -> bytes:
    return jsonrpc.error(id_text, *error) if error else jsonrpc.result(id_text, result or "{}")


def _token(params: object) -> str | None:
    token = _meta(params, "progressToken")
    return None if token is None else jsonrpc.id_text(token)


def _task_of(params: object) -> str | None:
    """The task of ours that a request belongs to, if it says so."""
    related = _meta(params, RELATED_TASK)
    task = related.get("taskId") if isinstance(related, dict) else None
    return task if isinstance(task, str) else None


def _meta(params: object, key: str) -> Any:
    meta = params.get("_meta") if isinstance(params, dict) else None
    return meta.get(key) if isinstance(meta, dict) else None
