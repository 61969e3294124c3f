"""The demo server, seen from outside."""
