"""The few errors of the product, and the exit status each one means.

    WorkbenchError                      one sentence: what happened, what to do next
    ├── UsageError            2         the command line or a setting is wrong
    ├── ConnectionFailed      3         no usable connection (start, handshake, lost)
    ├── ProtocolError         4         the peer answered with a JSON-RPC error, or broke the protocol
    ├── MismatchError         6         a replay or a verification did not agree
    └── RecordingError        7         a recording cannot be read or written

Status 0 is success, 5 a tool result with ``isError: true``, 70 an internal
error, 130 an interrupt (SIGINT). What a peer does wrong on a live connection
is a frame and a finding, never an exception; these errors are for commands.
"""

from __future__ import annotations

EXIT_OK = 0
EXIT_USAGE = 2
EXIT_CONNECTION = 3
EXIT_PROTOCOL = 4
EXIT_TOOL_ERROR = 5
EXIT_MISMATCH = 6
EXIT_RECORDING = 7
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130


class WorkbenchError(Exception):
    """An error a user reads: one sentence that says what happened and what to do next."""

    exit_status = EXIT_INTERNAL


class UsageError(WorkbenchError):
    exit_status = EXIT_USAGE


class ConnectionFailed(WorkbenchError):
    exit_status = EXIT_CONNECTION


class ProtocolError(WorkbenchError):
    exit_status = EXIT_PROTOCOL


class MismatchError(WorkbenchError):
    exit_status = EXIT_MISMATCH


class RecordingError(WorkbenchError):
    exit_status = EXIT_RECORDING
