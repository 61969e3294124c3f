"""``python -m workbench.demo``: serve on stdin and stdout until stdin ends."""

from workbench.demo.server import main

raise SystemExit(main())
