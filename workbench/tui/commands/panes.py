"""The panes and their order."""

#: The panes in their order: name and title.
PANES = (
    ("tools", "Tools"),
    ("resources", "Resources"),
    ("prompts", "Prompts"),
    ("logs", "Logs"),
    ("server", "Server"),
    ("inbox", "Inbox"),
    ("frames", "Frames"),
)
