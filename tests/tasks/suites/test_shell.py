"""The simulated shell leaves what a real one leaves."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from operant.errors import TaskError
from operant.tasks.changes import Disk
from operant.tasks.suites import load_suite
from operant.tasks.suites.core.shell import WORK, Shell, commands
from operant.tasks.template import Params, Template

SCRIPTED = [
    template
    for template in load_suite("core")
    if {"command", "commands"} & template.instance(0).parameters.keys()
    and template.id not in ("core/terminal-permissions-v1", "core/terminal-count-lines-v1")
]


def lines_of(p: Params) -> list[str]:
    return list(vars(p).get("commands") or [p.command])


@pytest.mark.parametrize("template", SCRIPTED, ids=lambda template: template.id)
@pytest.mark.parametrize("split", ["train", "heldout"])
def test_it_does_what_bash_does(template: Template, split: str, tmp_path: Path) -> None:
    for seed in range(5):
        p = Params(**template.instance(seed, split).parameters)
        home, disk = tmp_path / str(seed), Disk.of(template.setup(p))
        for path, text in disk.files.items():
            assert isinstance(text, str)
            (home / path).parent.mkdir(parents=True, exist_ok=True)
            (home / path).write_text(text)
        directory = f"{WORK}/{p.one}" if template.id == "core/terminal-tidy-three-v1" else WORK
        script = "\n".join(["set -e", *lines_of(p)])
        subprocess.run(["bash", "-c", script], cwd=home / directory, env={"LC_ALL": "C.UTF-8"}, check=True)
        shell = Shell(disk, directory)
        for line in lines_of(p):
            shell.run(line)
        left = {str(path.relative_to(home)): path for path in home.rglob("*")}
        assert disk.files == {name: path.read_text() for name, path in left.items() if path.is_file()}
        assert disk.folders == {name for name, path in left.items() if path.is_dir()}


def test_commands_that_it_does_not_know_are_refused() -> None:
    with pytest.raises(TaskError, match="does not know dd"):
        commands(Disk(), ["dd if=a"])
