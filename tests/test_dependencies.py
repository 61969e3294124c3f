"""What is depended on cannot change under us: every major is bounded, and what was tested is pinned."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_trap_24_every_dependency_has_an_upper_bound_and_a_tested_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [
        *project["dependencies"],
        *(each for more in project["optional-dependencies"].values() for each in more),
    ]
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if "==" in line
    }
    assert wanted
    for requirement in wanted:
        name = re.split(r"[\[<>=~!; ]", requirement, maxsplit=1)[0].lower().replace("_", "-")
        assert "<" in requirement or name == project["name"], f"{requirement} has no upper bound"
        assert name in pinned or name == project["name"], f"{name} is not in constraints.txt"
