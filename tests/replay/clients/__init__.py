"""Programs that use a client as a test of their own would, and print what their code saw.

    PYTHON tests/replay/clients/python_sdk.py KIND WORDS...

where KIND is ``stdio`` and WORDS a command, ``http`` or ``sse`` and a URL, or ``mock`` and the FILE of a
recording that is served in process. They are run on a live server and on its recording,
and must not be able to tell. What comes in an order that nothing fixes (of several streams) is
printed by kind.
"""
