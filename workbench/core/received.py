"""Tasks that the peer makes of its requests to us: we run them, and it asks how they go.

Source: "Tasks", 2025-11-25 (experimental). A request with ``task`` is answered at once with a
task; whoever answers the request ends the task, and ``tasks/result`` waits for that.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from workbench.core.jsonrpc import dumps
from workbench.core.methods import has_capability
from workbench.core.peek import number
from workbench.core.question import Reply
from workbench.core.splice import with_meta
from workbench.core.tasks import RELATED_TASK, TERMINAL

#: Tasks that are kept at once. Beyond it the oldest ended one is forgotten, and if none has ended
#: no further task is made.
MAX_TASKS = 1_000

#: The longest a task is kept on the peer's word, in seconds: a day.
MOST_TTL = 86_400.0

#: How often we ask to be polled, in milliseconds. A person does not answer faster.
POLL_INTERVAL = 1_000

#: Tasks of one page of ``tasks/list``.
PAGE = 50

_INVALID_PARAMS = -32602
_INTERNAL_ERROR = -32603

#: What the peer may ask about its tasks, and the capability of ours that it needs.
GATES = {
    "tasks/get": "tasks",
    "tasks/result": "tasks",
    "tasks/list": "tasks.list",
    "tasks/cancel": "tasks.cancel",
}

#: Requests that can be made a task, and the capability for that.
MAKES = {
    "sampling/createMessage": "tasks.requests.sampling.createMessage",
    "elicitation/create": "tasks.requests.elicitation.create",
}


class ReceivedTask:
    """A task of the peer's. ``request`` is the id (JSON text) of the request that made it, ``reply``
    its answer once there is one, ``waiting`` the ids of the ``tasks/result`` that wait for it."""

    def __init__(self, id: str, request: str, ttl: float | None, now: float) -> None:
        self.id = id
        self.request = request
        self.ttl = ttl
        self.created = self.updated = now
        self.status = "working"
        self.message = "It waits for an answer."
        self.reply: Reply | None = None
        self.waiting: list[str] = []

    def text(self) -> str:
        """The task as the peer is told it (JSON text)."""
        return dumps(
            {
                "taskId": self.id,
                "status": self.status,
                "statusMessage": self.message,
                "createdAt": _iso(self.created),
                "lastUpdatedAt": _iso(self.updated),
                "ttl": None if self.ttl is None else round(self.ttl * 1000),
                "pollInterval": POLL_INTERVAL,
            }
        )

    def final(self) -> Reply | None:
        """What a ``tasks/result`` is answered with, ``None`` while there is nothing yet: exactly the
        request's own answer, and which task it belongs to."""
        if self.reply is None or self.reply.result is None:
            return self.reply
        related = {RELATED_TASK: dumps({"taskId": self.id})}
        return self.reply._replace(by="tasks", result=with_meta(self.reply.result, related), rule=False)

    def end(self, status: str, message: str, reply: Reply, now: float) -> None:
        self.status, self.message, self.reply, self.updated = status, message, reply, now


class ReceivedTasks:
    """The tasks by their id. ``wall`` gives seconds since 1970, ``new_id`` an id that no other task
    of ours has."""

    def __init__(self, wall: Callable[[], float] = float, new_id: Callable[[], str] = str) -> None:
        self._wall = wall
        self._new_id = new_id
        self._made = 0
        self._tasks: OrderedDict[str, ReceivedTask] = OrderedDict()
        self._by_request: dict[str, ReceivedTask] = {}

    def wanted(self, method: str, params: Any, offered: Mapping[str, Any]) -> bool:
        """Whether a request is to become a task. Without the capability ``task`` is not looked at."""
        gate = MAKES.get(method)
        asks = isinstance(params, dict) and isinstance(params.get("task"), dict)
        return asks and gate is not None and has_capability(offered, gate)

    def make(self, request: str, params: dict[str, Any]) -> ReceivedTask | None:
        """A task of this request; ``None`` if there are too many that nobody has answered."""
        self._forget_old()
        if len(self._tasks) >= MAX_TASKS and not self._forget_one():
            return None
        self._made += 1
        milliseconds = number(params["task"].get("ttl"))
        ttl = None if milliseconds is None else min(max(milliseconds / 1000, 0.0), MOST_TTL)
        task = ReceivedTask(f"{self._new_id()}-{self._made}".lstrip("-"), request, ttl, self._wall())
        self._tasks[task.id] = self._by_request[request] = task
        return task

    def of_request(self, request: str) -> ReceivedTask | None:
        """The task that this request (id as JSON text) was made, until it has ended."""
        return self._by_request.get(request)

    def release(self, request: str) -> None:
        """This id is a new request's from now on."""
        self._by_request.pop(request, None)

    def end(self, task: ReceivedTask, reply: Reply) -> None:
        """The request has its answer."""
        self.release(task.request)
        failed = reply.result is None
        words = reply.message if failed else "It was answered."
        task.end("failed" if failed else "completed", words, reply, self._wall())

    def asked(self, id_text: str, method: str, params: Any) -> tuple[Reply | None, ReceivedTask | None]:
        """The answer to a request about tasks (``None`` for a ``tasks/result`` that has to wait), and
        the task that it has cancelled."""
        self._forget_old()
        if method == "tasks/list":
            return self._listed(params), None
        name = params.get("taskId") if isinstance(params, dict) else None
        task = self._tasks.get(name) if isinstance(name, str) else None
        if task is None:
            return _refused("There is no task with this id (any more)"), None
        if method == "tasks/cancel":
            return self._cancelled(task)
        if method == "tasks/get":
            return Reply("tasks", task.text()), None
        if task.reply is None:
            task.waiting.append(id_text)
        return task.final(), None

    def stop_waiting(self, id_text: str) -> bool:
        """The peer takes its ``tasks/result`` back; whether there was one."""
        for task in self._tasks.values():
            if id_text in task.waiting:
                task.waiting.remove(id_text)
                return True
        return False

    def _cancelled(self, task: ReceivedTask) -> tuple[Reply, ReceivedTask | None]:
        if task.status in TERMINAL:
            return _refused(f"The task has ended already: it is {task.status}"), None
        self.release(task.request)
        gone = Reply("tasks", None, _INTERNAL_ERROR, "The task was cancelled")
        task.end("cancelled", "The server cancelled it.", gone, self._wall())
        return Reply("tasks", task.text()), task

    def _listed(self, params: Any) -> Reply:
        cursor = params.get("cursor") if isinstance(params, dict) else None
        ids = list(self._tasks)
        if cursor is not None and cursor not in ids:
            return _refused("The cursor is not one that was given out")
        start = 0 if cursor is None else ids.index(cursor)
        page = ",".join(self._tasks[id].text() for id in ids[start : start + PAGE])
        after = ids[start + PAGE : start + PAGE + 1]
        more = f',"nextCursor":{dumps(after[0])}' if after else ""
        return Reply("tasks", f'{{"tasks":[{page}]{more}}}')

    def _forget_old(self) -> None:
        """Forget the tasks that have ended and whose time to live is over."""
        now = self._wall()
        for task in list(self._tasks.values()):
            if task.status in TERMINAL and task.ttl is not None and task.created + task.ttl <= now:
                del self._tasks[task.id]

    def _forget_one(self) -> bool:
        oldest = next((task.id for task in self._tasks.values() if task.status in TERMINAL), None)
        return oldest is not None and self._tasks.pop(oldest) is not None


def _refused(why: str) -> Reply:
    return Reply("tasks", None, _INVALID_PARAMS, why)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
