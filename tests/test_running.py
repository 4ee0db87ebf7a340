"""How tests are run: what tests/conftest.py promises, tried out on small tests of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")
INI = """
[pytest]
timeout = 60
markers =
    alone
    slow
"""

# The time-out arrives in a callback of an event loop, which catches everything: nothing else would end this test.
HANGS = """
import asyncio, pytest, time

@pytest.mark.timeout(1)
def test_hangs():
    async def wait():
        asyncio.get_running_loop().call_soon(time.sleep, 3)
        await asyncio.sleep(600)

    asyncio.run(wait())
"""

NOTES = """
import os, pytest, time
from pathlib import Path

def note(name):
    began = time.monotonic()
    time.sleep(0.2)
    with open(os.environ["NOTES"], "a") as notes:
        notes.write(f"{name} {began} {time.monotonic()}\\n")

@pytest.mark.parametrize("number", range(4))
def test_beside_others(number):
    note("beside")
"""
ALONE = NOTES.replace("def test_beside_others", "@pytest.mark.alone\ndef test_alone").replace(
    '"beside"', '"alone"'
)


def run(directory: Path, *args: str, **files: str) -> subprocess.CompletedProcess[str]:
    (directory / "conftest.py").write_text(CONFTEST.read_text().replace("GRACE_S = 90.0", "GRACE_S = 1.0"))
    (directory / "pytest.ini").write_text(INI)
    for name, source in files.items():
        (directory / f"{name}.py").write_text(source)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV"))
    }
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:randomly",
            *args,
            str(directory),
        ],
        cwd=directory,
        env={**environment, "NOTES": str(directory / "notes")},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_test_that_ignores_its_time_out_ends_the_process_and_shows_its_stack(
    tmp_path: Path, workers: str
) -> None:
    ended = run(tmp_path, "-n", workers, test_hangs=HANGS, test_good="def test_good(): pass")
    assert ended.returncode != 0
    assert "Timeout (0:00:02)!" in ended.stderr
    assert "test_hangs.py" in ended.stderr
    if workers == "2":  # the others are run all the same
        assert "1 failed, 1 passed" in ended.stdout


def test_a_test_that_is_alone_runs_while_no_other_does(tmp_path: Path) -> None:
    ended = run(tmp_path, "-n", "3", "--dist", "loadfile", test_a=NOTES, test_b=NOTES, test_c=ALONE)
    assert ended.returncode == 0, ended.stdout
    lines = [line.split() for line in (tmp_path / "notes").read_text().splitlines()]
    spans = [(name, float(began), float(over)) for name, began, over in lines]
    assert len(spans) == 12
    for name, began, over in spans:
        if name == "alone":
            beside = [one for one in spans if one != (name, began, over) and one[1] < over and began < one[2]]
            assert beside == []
