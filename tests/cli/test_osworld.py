"""``operant eval``, ``tasks`` and ``bench`` on tasks in OSWorld's schema, as users call them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "osworld"
FOLDER = "[ -d ~/Desktop/done ] && echo yes"


def operant(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "operant", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=240, check=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Two tasks, of which one can't be done; the meta file names that one alone."""
    possible = {
        "func": "exact_match",
        "result": {"type": "vm_command_line", "command": FOLDER, "shell": True},
        "expected": {"type": "rule", "rules": {"expected": "yes\n"}},
    }
    examples = tmp_path / "OSWorld" / "evaluation_examples"
    for name, evaluator in (("folder", possible), ("never", {"func": "infeasible"})):
        place = examples / "examples" / "os" / f"{name}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        task: dict[str, Any] = {"id": name, "instruction": "Do it.", "config": [], "evaluator": evaluator}
        place.write_text(json.dumps(task))
    (examples / "test_all.json").write_text(json.dumps({"os": ["folder", "never"]}))
    (examples / "test_nogdrive.json").write_text(json.dumps({"os": ["never"]}))
    return examples.parent


@pytest.mark.x11
def test_a_meta_file_of_a_checkout_is_evaluated_and_its_results_are_shown(
    checkout: Path, tmp_path: Path
) -> None:
    ended = operant(
        "eval", "--agent", "fail", "--suite", f"osworld:{checkout}", "--meta", "test_nogdrive.json", "--max-steps", "15",
        "--num-workers", "2", "--cache", tmp_path / "cache", "--result-dir", tmp_path / "results", "--json",
        cwd=tmp_path,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    summary = json.loads(ended.stdout)
    assert (summary["overall"]["n"], summary["overall"]["success"]) == (1, 1.0)
    scores = list((tmp_path / "results").rglob("result.txt"))
    assert [float(one.read_text()) for one in scores] == [1.0]
    shown = operant("results", "show", summary["directory"], "--json", cwd=tmp_path)
    assert json.loads(shown.stdout)[0]["overall"]["success"] == 1.0


@pytest.mark.x11
def test_the_audit_of_a_checkout(checkout: Path, tmp_path: Path) -> None:
    ended = operant("tasks", "check", "--suite", f"osworld:{checkout}", "--json", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    said = json.loads(ended.stdout)
    assert (said["tasks_run"], said["nothing_scores"], said["fail_scores_wrong"], said["broken"]) == (
        2,
        {},
        {},
        {},
    )


@pytest.mark.x11
def test_the_benchmark_counts_what_it_ran(checkout: Path, tmp_path: Path) -> None:
    ended = operant("bench", "osworld", "--suite", f"osworld:{checkout}", "--json", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    said = json.loads(ended.stdout)
    assert (said["tasks_run"], said["office_setups"], said["office_setup_p50_s"]) == (2, 0, None)
    assert 0 < said["audit_minutes"] < 4


def test_the_benchmark_of_office_tasks_without_their_files_says_how_to_make_them(tmp_path: Path) -> None:
    suite = f"osworld:{EXAMPLES}?cache={tmp_path}&domain=libreoffice_calc"
    ended = operant("bench", "osworld", "--suite", suite, "--json", cwd=tmp_path)
    assert ended.returncode == 2
    assert "no office task can run here" in ended.stderr
    assert "make_assets.py" in ended.stderr
