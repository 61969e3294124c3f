"""The panes by name. The frame log is none of them: it is always there."""

from workbench.tui.panes.all_tools import AllToolsPane
from workbench.tui.panes.callables import PromptsPane, ResourcesPane, ToolsPane
from workbench.tui.panes.inbox import InboxPane
from workbench.tui.panes.logs import LogsPane
from workbench.tui.panes.pane import Pane
from workbench.tui.panes.raw_frame import RawFramePane
from workbench.tui.panes.server import ServerPane

PANE_CLASSES: dict[str, type[Pane]] = {
    "tools": ToolsPane,
    "resources": ResourcesPane,
    "prompts": PromptsPane,
    "logs": LogsPane,
    "server": ServerPane,
    "inbox": InboxPane,
    "all_tools": AllToolsPane,
    "raw_frame": RawFramePane,
}

__all__ = ["PANE_CLASSES", "Pane"]
