"""Log lines are text on a terminal and JSON elsewhere, in every verb alike."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

COMMAND = """
import sys
import types
import typer
from loguru import logger
from operant.cli import main, root

verb = types.ModuleType("invented_verb")
verb.app = typer.Typer()
verb.app.command()(lambda: logger.warning("a \\"Straße\\" 東京"))
sys.modules["invented_verb"] = verb
root.VERBS["invented"] = ("invented_verb", "Logs one line.")
main(["invented"])
"""


def said(terminal: bool, **variables: str) -> str:
    """What the verb logs, to a terminal or to a pipe."""
    reader, writer = pty.openpty() if terminal else os.pipe()
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
        "LANG": "C.UTF-8",
        **variables,
    }
    try:
        with os.fdopen(writer, "wb") as stderr:
            subprocess.run([sys.executable, "-c", COMMAND], stderr=stderr, env=env, timeout=120, check=True)
            return os.read(reader, 10_000).decode().strip()
    finally:
        os.close(reader)


@pytest.mark.parametrize(("terminal", "log_format"), [(False, ""), (True, "json")])
def test_programs_get_json(terminal: bool, log_format: str) -> None:
    line = json.loads(said(terminal, LOG_FORMAT=log_format))
    assert line.pop("time")
    assert line == {"level": "WARNING", "message": 'a "Straße" 東京'}


@pytest.mark.parametrize(("terminal", "log_format"), [(True, ""), (False, "human")])
def test_people_get_text(terminal: bool, log_format: str) -> None:
    line = said(terminal, LOG_FORMAT=log_format, NO_COLOR="1")
    time, level, message = line.split(maxsplit=2)
    assert (time.count(":"), level, message) == (2, "WARNING", 'a "Straße" 東京')


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        said(False, LOG_FORMAT="xml")
    assert failed.value.returncode == 2
