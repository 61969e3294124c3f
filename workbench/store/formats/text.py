"""The text form of a recording: one JSON object a line, made to be reviewed and kept in git.

    {"mcp-workbench recording":1}
    {"session":1,"name":"weather","started_ns":…,…}
    {"connection":1,"name":"demo","transport":"stdio",…}
    {"frame":1,"connection":1,"ns":…,"direction":"to_server","channel":"stdio","json":{…}}

Metadata comes first, then the frames in order; every table that is not derived
has its line type (``lines``). A body is written in the most readable way that
gives its bytes back (``exact``), checked when it is written: ``json`` (with
``style`` where it was spaced or escaped), ``text``, or ``base64``. A file written
by hand may leave out times, numbers, and everything derived.
"""

from __future__ import annotations

from workbench.store.formats.export import export_text
from workbench.store.formats.intake import import_text, import_to_memory
from workbench.store.formats.lines import HEAD, VERSION

__all__ = ["HEAD", "VERSION", "export_text", "import_text", "import_to_memory"]
