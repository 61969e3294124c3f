"""Exits before it reads anything."""

import sys

sys.stderr.write("usage: server --config FILE\n")
sys.exit(2)
