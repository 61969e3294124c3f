"""Where the recording of the demo server lies in the installed package."""

from __future__ import annotations

import os

#: The text form; the same file as ``sessions/weather.jsonl`` of the repository.
RECORDING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "weather.jsonl")
