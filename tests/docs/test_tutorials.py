"""The tutorials' commands work as they stand, in an empty directory, with fewer episodes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"
FILE = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHORTER = re.compile(r"<!-- test:(.*?)-->", re.DOTALL)


def commands(text: str) -> list[str]:
    """The lines that begin with a dollar sign, shortened as the page's last comment says."""
    changes = [one.strip().split(" -> ") for found in SHORTER.findall(text) for one in found.split(";")]
    lines = [
        line[2:] for block in CONSOLE.findall(text) for line in block.splitlines() if line.startswith("$ ")
    ]
    for long, short in changes:
        assert any(long in line for line in lines), f"no command has {long!r}"
        lines = [line.replace(long, short) for line in lines]
    return lines


@pytest.mark.x11
@pytest.mark.parametrize("page", sorted(TUTORIALS.glob("*.md")), ids=lambda page: page.stem)
def test_every_command_of_a_tutorial_works(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name, content in FILE.findall(text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    lines = commands(text)
    assert lines, "a tutorial without a command"
    for line in lines:
        program, *arguments = shlex.split(line)
        assert program in ("operant", "python"), f"{program} is not run by this test"
        start = [sys.executable, "-m", "operant"] if program == "operant" else [sys.executable]
        done = subprocess.run(
            [*start, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=600,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]),
            },
        )
        assert done.returncode == 0, f"$ {line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
