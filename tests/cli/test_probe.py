"""probe tells everything about a server, for people and for programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.cli.command import DEMO, workbench


def test_probe_tells_lifecycle_capabilities_and_lists_to_a_person() -> None:
    done = workbench("probe", *DEMO)
    assert done.returncode == 0, done.stderr
    for said in (
        "closed (exit code 0)",
        "workbench-demo 1.0 (Demo server)",
        "2025-11-25",
        "initialize",
        "tools.listChanged",
        "resources.subscribe",
        "Tools (15)",
        "weather_current(location: string, units?: metric|imperial|kelvin",
        "[read-only]",
        "Resources (5)",
        "demo://counter",
        "Resource templates (1)",
        "weather://{city}/{units}",
        "Prompts (3)",
        "packing_list(city",
        "serving on stdin and stdout",
    ):
        assert said in done.stdout, said
    assert done.stderr == ""


def test_probe_tells_the_same_to_a_program_as_one_json_document() -> None:
    done = workbench("probe", "--json", *DEMO)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    told = json.loads(done.stdout)
    assert told["ok"] is True
    assert told["state"] == "closed"
    assert told["revision"] == "2025-11-25"
    assert [tool["name"] for tool in told["tools"]][:2] == ["calculator_arithmetic", "weather_current"]
    assert len(told["resources"]) == 5
    assert told["process"]["exitCode"] == 0
    assert told["stderr"] == ["demo server: serving on stdin and stdout"]
    steps = [step["step"] for step in told["lifecycle"]]
    assert steps.index("initialize") < len(steps) - 1
    assert told["findings"] == []
    assert told["findingCounts"] == {"error": 0, "warning": 0, "info": 0}


def test_each_handshake_revision_can_be_offered() -> None:
    for revision in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
        done = workbench("probe", "--json", "--protocol-version", revision, *DEMO)
        assert json.loads(done.stdout)["revision"] == revision


def test_probe_records_only_when_asked_to(tmp_path: Path) -> None:
    assert workbench("probe", *DEMO).returncode == 0
    assert not (tmp_path / "store").exists()
    recording = tmp_path / "probe.db"
    assert workbench("probe", "-o", str(recording), *DEMO).returncode == 0
    assert recording.stat().st_size > 0
    assert [path.name for path in tmp_path.glob("probe.db*")] == ["probe.db"]
    again = workbench("probe", "-o", str(recording), *DEMO)
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_a_capability_can_be_left_out_and_the_server_sees_it() -> None:
    told = json.loads(workbench("probe", "--json", "--no-capability", "sampling", *DEMO).stdout)
    assert "sampling" not in told["capabilities"]["client"]
    assert "roots" in told["capabilities"]["client"]


def test_what_a_server_breaks_is_told_with_its_frames_its_meaning_and_its_source() -> None:
    script = (
        "import sys; print('Server v1 up', flush=True); print('[]', flush=True); "
        "from workbench.demo.server import main; main()"
    )
    target = ["--", sys.executable, "-c", script]
    told = json.loads(workbench("probe", "--json", *target).stdout)
    assert told["ok"] is True
    assert [each["rule"] for each in told["findings"]] == ["stdout-text", "empty-batch"]
    assert all(each["explanation"] and each["source"] and each["seq"] for each in told["findings"])
    assert told["findingCounts"] == {"error": 2, "warning": 0, "info": 0}
    report = workbench("probe", *target)
    assert "Findings (2)" in report.stdout
    for said in (
        "error stdout-text: once, frame ",
        "A line on stdout is text",
        "Transports: stdio (2024-11-05 to ",
    ):
        assert said in report.stdout
    assert report.returncode == 0
