"""``operant init`` writes what the guides use, and never over a file of the user."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from operant.cli import main
from operant.tasks.loaders import load_templates

ROOT = Path(__file__).parents[2]


def operant(*args: str | Path) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(arg) for arg in args])
    return int(left.value.code or 0)


def test_samples_are_written_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert operant("init", tmp_path) == 0
    assert [template.id for template in load_templates(tmp_path / "notes.yaml")] == ["notes/write-note-v1"]
    samples = {path.name: path.read_bytes() for path in (ROOT / "config").iterdir()}
    suite = samples.pop("notes.yaml")
    assert (tmp_path / "notes.yaml").read_bytes() == suite
    assert {path.name: path.read_bytes() for path in (tmp_path / "config").iterdir()} == samples

    own = tmp_path / "config" / "tasks.json"
    own.write_text("[]")
    capsys.readouterr()
    assert operant("init", tmp_path) == 2
    assert "is there already" in capsys.readouterr().err
    assert own.read_text() == "[]"
    assert operant("init", tmp_path, "--force") == 0
    assert own.read_bytes() == samples["tasks.json"]


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert operant("init", tmp_path / "file" / "below") == 2
    assert "can't be written" in capsys.readouterr().err


def test_the_example_suite_is_that_of_the_tutorial() -> None:
    text = (ROOT / "docs" / "tutorials" / "own_task.md").read_text(encoding="utf-8")
    shown = re.search(r'```yaml title="notes.yaml"\n(.*?)```', text, re.DOTALL)
    assert shown is not None
    assert (ROOT / "config" / "notes.yaml").read_text(encoding="utf-8").endswith(shown[1])
