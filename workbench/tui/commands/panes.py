"""The panes and their order."""

#: The panes of a connection: name and title.
PANES = (
    ("tools", "Tools"),
    ("resources", "Resources"),
    ("prompts", "Prompts"),
    ("logs", "Logs"),
    ("server", "Server"),
    ("inbox", "Inbox"),
    ("frames", "Frames"),
)

#: Panes that are gone to by a key of their own; going back leads to where one came from.
ASIDE = (
    ("all_tools", "All tools"),
    ("raw_frame", "Raw frame"),
)
