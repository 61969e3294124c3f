"""The command line of ``replay server``, read by hand: loading click costs more than the first answer."""

from __future__ import annotations

import os

from workbench.errors import UsageError
from workbench.replay.correlate import Rules, parse_follow, parse_never
from workbench.replay.faults import parse_fault
from workbench.replay.matching import AFTER, MODES, parse_ignore
from workbench.replay.options import Options, parse_timing

HELP = """\
Usage: mcp-workbench replay server [OPTIONS] FILE

  Answer live clients with a recording, over stdio or over HTTP, whatever it was
  recorded over. FILE is a recording in either form or a name in the store;
  FILE#3 names a session of it and FILE#3/NAME, or FILE#/NAME, a connection.

Options:
  --match exact|strict|name|method   how requests are compared (exact)
  --ignore [METHOD[:NAME]=]POINTER   leave a place in params out of the
                                     comparison; may be repeated
  --correlate FROM=TO                follow a value from a place in what the client
                                     sends (params, its answers) to a place in
                                     what it gets; may be repeated
  --no-correlate POINTER             follow none from this place; may be repeated
  --after last|error|cycle           what a request asked for more often than
                                     recorded gets (error for tools/call and
                                     tasks/cancel, last for the rest)
  --on-miss error|live|record        what was not recorded is an error, or the live
                                     server of --live is asked, or that and its
                                     answer is added to the recording (error)
  --live TARGET                      a live server as on a target line, quoted:
                                     '-- CMD ARGS', '--http URL', '@NAME'
  --on-answer warn|ignore|fail       when the client answers a request of the
                                     server otherwise than recorded (warn)
  --order causal|recorded            answer as soon as asked, or overlapping
                                     requests in recorded order (causal)
  --timing none|recorded|0.1x        keep the recorded waits, or a part of them
                                     (none)
  --fault [METHOD[:NAME]=]FAULT[@N]  inject a failure, into each such request or
                                     the N-th: delay=2s, error=-32603, drop,
                                     disconnect or garbage; may be repeated
  --strict                           unused recorded requests count too
  --report FILE                      write what happened as JSON
  --junit FILE                       write it as JUnit XML
  -o, --output FILE                  record the replay
                                     (%p in one of these names is the number of
                                     the process: a file for each start)
  --help                             show this and exit

  Over HTTP, for any number of clients, each with its own place in the recording:
  --listen HOST:PORT                 serve there (port 0: any free one) until a
                                     signal comes; prints the URL
  --transport http|sse               the URL that is told: streamable HTTP at
                                     /mcp, or HTTP with SSE at /sse (http)
  --ready-file FILE                  write the URL there once it accepts
  --connections each|fixed:NAME      each client gets the next recorded connection,
                                     of those that began alike, or all get one (each)
  --anywhere                         let other machines come; without it only
                                     this one's addresses can be listened on
  --host NAME                        a name by which clients may call it, beside
                                     localhost; may be repeated
  --no-header-checks                 take requests of the stateless era whose
                                     headers do not repeat the body

  Exit status: that of the recorded server; 6 when something was asked for
  that was not recorded (or with --strict not everything was asked for),
  2 usage, 7 the recording cannot be read. Over HTTP 0 or 6 when a signal ends it.
"""

#: Options with a value, and the values they take (any, where there are none).
_VALUED: dict[str, tuple[str, ...]] = {
    "--match": MODES,
    "--after": AFTER,
    "--on-miss": ("error", "live", "record"),
    "--live": (),
    "--on-answer": ("warn", "ignore", "fail"),
    "--order": ("causal", "recorded"),
    "--ignore": (),
    "--fault": (),
    "--correlate": (),
    "--no-correlate": (),
    "--timing": (),
    "--report": (),
    "--junit": (),
    "--listen": (),
    "--transport": ("stdio", "http", "sse"),
    "--ready-file": (),
    "--connections": (),
    "--host": (),
    "--output": (),
}


#: Options without a value.
_SWITCHES = ("--strict", "--anywhere", "--no-header-checks")

#: Options that name a file that each start may have of its own.
_WRITTEN = ("--report", "--junit", "--output")

#: Options that may be repeated.
_REPEATED = ("--ignore", "--correlate", "--no-correlate", "--fault", "--host")

#: Options that say something only over HTTP.
_OVER_HTTP = ("--ready-file", "--connections", "--host", "--anywhere", "--no-header-checks")


class Arguments:
    """The command line: ``file``, ``values`` by option, ``several`` of those that may be repeated."""

    def __init__(self, argv: list[str]) -> None:
        self.file = ""
        self.values: dict[str, str] = {}
        self.several: dict[str, list[str]] = {name: [] for name in _REPEATED}
        rest = list(argv)
        while rest:
            self._take(rest.pop(0), rest)
        if not self.file:
            raise UsageError("replay server needs a recording: mcp-workbench replay server FILE.")
        self._check()

    def _take(self, word: str, rest: list[str]) -> None:
        name, equals, value = word.partition("=")
        name = "--output" if name == "-o" else name
        if not word.startswith("-") or word == "-":
            if self.file:
                raise UsageError(f"replay server takes one recording, and got {self.file} and {word}.")
            self.file = word
        elif word in _SWITCHES:
            self.values[word] = "yes"
        elif name in _VALUED:
            if not equals:
                if not rest:
                    raise UsageError(f"{name} needs a value; see mcp-workbench replay server --help.")
                value = rest.pop(0)
            self._set(name, value)
        else:
            raise UsageError(f"There is no option {name}; see mcp-workbench replay server --help.")

    def _set(self, name: str, value: str) -> None:
        known = _VALUED[name]
        if known and value not in known:
            raise UsageError(f"{name} is one of {', '.join(known)}, not {value}.")
        if name in self.several:
            self.several[name].append(value)
        else:
            self.values[name] = value.replace("%p", str(os.getpid())) if name in _WRITTEN else value

    def _check(self) -> None:
        transport = self.values.get("--transport", "http" if self.http else "stdio")
        if self.http and transport == "stdio":
            raise UsageError("--listen serves over HTTP; choose --transport http or sse, or leave it away.")
        if not self.http and transport != "stdio":
            raise UsageError(f"--transport {transport} needs an address: --listen 127.0.0.1:0.")
        for name in _OVER_HTTP:
            if not self.http and (name in self.values or self.several.get(name)):
                raise UsageError(f"{name} is for HTTP; give --listen HOST:PORT with it.")
        if (self.values.get("--on-miss", "error") == "error") is not ("--live" not in self.values):
            raise UsageError(
                "--on-miss live (or record) and --live TARGET go together; give both, or neither."
            )
        which = self.values.get("--connections", "each")
        if which != "each" and not which.removeprefix("fixed:").strip():
            raise UsageError("--connections fixed:NAME needs the name of a recorded connection.")
        if which != "each" and not which.startswith("fixed:"):
            raise UsageError(f"--connections is each or fixed:NAME, not {which}.")

    @property
    def http(self) -> bool:
        """Whether to serve over HTTP."""
        return "--listen" in self.values

    @property
    def live(self) -> bool:
        """Whether a live server may be asked."""
        return "--live" in self.values

    @property
    def reports(self) -> bool:
        """Whether what happened is written down while it happens."""
        return "--report" in self.values or "--junit" in self.values

    @property
    def options(self) -> Options:
        return Options(
            match=self.values.get("--match", "exact"),
            after=self.values.get("--after", ""),
            ignores=tuple(parse_ignore(text) for text in self.several["--ignore"]),
            faults=tuple(parse_fault(text) for text in self.several["--fault"]),
            on_answer=self.values.get("--on-answer", "warn"),
            order=self.values.get("--order", "causal"),
            timing=parse_timing(self.values.get("--timing", "none")),
            strict="--strict" in self.values,
            correlations=Rules(
                tuple(map(parse_follow, self.several["--correlate"])),
                tuple(map(parse_never, self.several["--no-correlate"])),
            ),
            on_miss=self.values.get("--on-miss", "error"),
        )
