"""Suites of one's own in every verb that plays: files, modules and settings, on desktops without X and on real ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from operant.cli import main, train_vlm
from operant.config.vlm_training import VLMTrainingConfig
from operant.desktop.providers.sandbox import SandboxProvider
from operant.testing import FAKE_TEMPLATES, FakeDesktop

ROOT = Path(__file__).parents[2]
TASKS = """
suite: own
tasks:
  - id: note-word
    instruction: Write {word} into {file}.
    difficulty: EASY
    max_steps: 4
    apps: [xterm]
    parameters:
      word: {word: nouns}
      file: {file_name: txt}
    setup:
      - launch: {command: [xterm]}
    success:
      file_equals: {path: "{file}", text: "{word}"}
    oracle:
      - type: "echo {word} > {file}\\n"
        until: {file_equals: {path: "{file}", text: "{word}"}}
  - id: just-look
    instruction: Look at the terminal and say that you are done.
    difficulty: MEDIUM
    apps: [xterm]
    setup:
      - launch: {command: [xterm]}
    success:
      window_title: {title: xterm, wm_class: XTerm}
"""

Call = Callable[..., tuple[str, str]]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a file of tasks and a module that holds a suite on the fake desktop's panel."""
    (tmp_path / "own.yaml").write_text(TASKS)
    pretend = ModuleType("pretend_here")
    pretend.TEMPLATES = [type(template) for template in FAKE_TEMPLATES]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pretend_here", pretend)
    monkeypatch.setattr(SandboxProvider, "start", lambda _, config: FakeDesktop.factory(config))
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.setenv("COLUMNS", "140")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def operant(here: Path, capsys: pytest.CaptureFixture[str]) -> Call:
    """The command in this process."""

    def call(*args: str | Path, code: int = 0) -> tuple[str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(arg) for arg in args])
        printed = capsys.readouterr()
        assert (left.value.code or 0) == code, printed.err
        return printed.out, printed.err

    return call


def command(*args: str | Path, cwd: Path) -> str:
    """The command as people call it."""
    ended = subprocess.run(
        [sys.executable, "-m", "operant", *map(str, args)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=280,
        env={**os.environ, "COLUMNS": "140", "NO_COLOR": "1"},
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_module_is_evaluated(operant: Call) -> None:
    out, _ = operant("eval", "--agent", "oracle", "--suite", "pretend_here:TEMPLATES", "--json")
    summary = json.loads(out)
    assert (summary["overall"]["n"], summary["overall"]["success"]) == (4, 1.0)


def test_tasks_picks_some_of_a_suite(operant: Call) -> None:
    out, _ = operant(
        *("eval", "--agent", "oracle", "--suite", "pretend_here:TEMPLATES", "--json"),
        *("--tasks", "fake/press-button-v1, fake/compute-v1"),
    )
    assert json.loads(out)["overall"]["n"] == 2


def test_a_file_of_settings_names_suite_and_tasks(operant: Call, here: Path) -> None:
    (here / "eval.yaml").write_text("suite: pretend_here:TEMPLATES\ntasks: [fake/compute-v1]\n")
    out, _ = operant("eval", "--agent", "oracle", "--config", "eval.yaml", "--json")
    assert json.loads(out)["overall"]["n"] == 1
    _, err = operant("eval", "--agent", "oracle", "--config", "eval.yaml", "--suite", "clicks", code=2)
    assert "there is no task 'fake/compute-v1' in the suite 'clicks'" in err


def test_tasks_are_listed_and_shown(operant: Call) -> None:
    listed = json.loads(operant("tasks", "list", "--suite", "own.yaml,clicks", "--json")[0])
    assert {"own/note-word-v1", "own/just-look-v1"} < {row["id"] for row in listed}
    shown = json.loads(operant("tasks", "show", "own/note-word-v1", "--suite", "own.yaml", "--json")[0])
    assert shown["instruction"].startswith("Write ")
    _, err = operant("tasks", "show", "own/note-word-v1", code=2)
    assert "there is no suite 'own'" in err
    assert "--suite FILE" in err
    _, err = operant("tasks", "show", "own/note-wort-v1", "--suite", "own.yaml", code=2)
    assert "did you mean 'own/note-word-v1'?" in err


@pytest.mark.parametrize("verb", [("demos", "collect"), ("train", "dagger", "--demos", ".")])
def test_oracles_that_are_missing_are_named_before_desktops_start(
    operant: Call, verb: tuple[str, ...]
) -> None:
    _, err = operant(*verb, "--suite", "own.yaml", "--out", "demos.pt", code=2)
    assert "1 of 2 tasks have no oracle to learn from: own/just-look-v1" in err


@pytest.mark.parametrize("verb", [("eval", "--agent", "oracle"), ("tasks", "check")])
def test_the_oracle_is_not_played_on_tasks_without_one(
    operant: Call, here: Path, verb: tuple[str, ...]
) -> None:
    _, err = operant(*verb, "--suite", "own.yaml", code=2)
    assert "1 of 2 tasks have no oracle to play: own/just-look-v1" in err
    assert "hint: give them one" in err
    assert not (here / "results").exists()


def test_a_module_with_a_blank_that_nothing_fills_is_refused(operant: Call) -> None:
    class Blank(FAKE_TEMPLATES[0].__class__):  # type: ignore[misc]
        instructions = (*FAKE_TEMPLATES[0].instructions, "hi {who}")

    sys.modules["pretend_here"].TEMPLATES = [Blank]  # type: ignore[attr-defined]
    _, err = operant("tasks", "list", "--suite", "pretend_here:TEMPLATES", code=2)
    assert "the instruction 'hi {who}' has a blank that no parameter fills" in err


def test_a_run_learns_on_a_suite_of_a_module(
    operant: Call, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "train.yaml").write_text("environment:\n  suite: pretend_here:TEMPLATES\n")
    out, _ = operant(
        *("train", "hierarchical", "--config", "train.yaml", "--difficulty", "EASY", "--num-envs", "1"),
        *("--total-timesteps", "16", "--rollout-steps", "16"),
    )
    assert out.startswith("trained: 16 steps")


def test_vlm_settings_take_a_suite(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[VLMTrainingConfig] = []
    monkeypatch.setattr(train_vlm, "_train", lambda settings, *_: seen.append(settings))
    config = str(ROOT / "config" / "vlm_tiny_cpu.yaml")
    arguments = ["--config", config, "--suite", "own.yaml,pretend_here:TEMPLATES"]
    result = CliRunner().invoke(train_vlm.app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert seen[0].environment.suite == "own.yaml,pretend_here:TEMPLATES"

    from operant.train.vlm.tasks import task_source

    own = seen[0].environment.model_copy(update={"tasks": (), "difficulty": None})
    source = task_source(seen[0].model_copy(update={"environment": own}))
    assert {one.id for one in source.tasks} >= {"own/note-word-v1", "fake/compute-v1"}


@pytest.mark.x11
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_file_of_tasks_from_demonstrations_to_an_agent(tmp_path: Path) -> None:
    """Everything from the command line: check, demonstrate, clone, train on, evaluate."""
    (tmp_path / "own.yaml").write_text(TASKS)
    tried = command("tasks", "try", "own/note-word-v1", "--suite", "own.yaml", "--oracle", cwd=tmp_path)
    assert "success after" in tried
    checked = command(
        *("tasks", "check", "--suite", "own.yaml", "--only", "note", "--seeds", "1", "--json"), cwd=tmp_path
    )
    assert json.loads(checked)["oracle_success"] == 1.0
    suite = ("--suite", "own.yaml", "--difficulty", "EASY")
    done = command("demos", "collect", *suite, "--out", "demos", "--episodes", "2", "--json", cwd=tmp_path)
    assert json.loads(done)["successes"] == 2
    command(
        *("train", "clone", "--suite", "own.yaml", "--demos", "demos", "--minutes", "0.02", "--out", "a.pt"),
        cwd=tmp_path,
    )
    trained = command(
        *("train", "hierarchical", *suite, "--init-from", "a.pt", "--num-envs", "1"),
        *("--total-timesteps", "8", "--rollout-steps", "8", "--save-dir", "run", "--log-dir", "run"),
        cwd=tmp_path,
    )
    assert trained.startswith("trained: 8 steps")
    out = command(
        *("eval", "--agent", "hierarchical:run/final_model.pt", *suite, "--split", "train", "--json"),
        cwd=tmp_path,
    )
    assert (json.loads(out)["overall"]["n"], json.loads(out)["overall"]["infra_errors"]) == (1, 0)


@pytest.mark.x11
def test_clone_learns_only_what_its_suite_holds(tmp_path: Path, operant: Call) -> None:
    operant("demos", "collect", "--suite", "own.yaml", "--only", "note", "--out", "demos", "--episodes", "1")
    _, err = operant("train", "clone", "--suite", "clicks", "--demos", "demos", "--out", "a.pt", code=2)
    assert "no demonstration in demos is of a task of the suite" in err


def test_a_check_names_agents_that_it_does_not_know(operant: Call) -> None:
    _, err = operant("tasks", "check", "--agents", "oracle,orakel", code=2)
    assert "'orakel' is not one of oracle, noop, done, random" in " ".join(err.replace("│", " ").split())


def test_tasks_whose_point_is_a_skill_with_pointer_and_keyboard_are_told(operant: Call) -> None:
    listed = {row["id"]: row for row in json.loads(operant("tasks", "list", "--suite", "core", "--json")[0])}
    assert all(
        listed[f"core/windows-{name}-v1"]["gui_only"] for name in ("close-one", "quarters", "switch-hidden")
    )
    assert not listed["core/editor-save-copy-v1"]["gui_only"]
    assert "only" in operant("tasks", "list", "--suite", "core", "--app", "galculator")[0]
    shown = json.loads(operant("tasks", "show", "core/files-drag-into-folder-v1", "--json")[0])
    assert shown["gui_only"]
