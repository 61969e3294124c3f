"""The official conformance suite, with the workbench as the client under test, and between client and server."""
