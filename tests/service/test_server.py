"""``operant serve`` before it listens: settings that can't work end it, and log lines suit their reader."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from operant.cli import main


@pytest.mark.parametrize(
    ("flags", "said", "hint"),
    [
        (["--agent", "nope"], "there is no agent 'nope'", "did you mean 'noop'?"),
        (["--agent", "hierarchical:{here}/junk.pt"], "junk.pt is not a checkpoint", "training wrote"),
        (["--agent", "junk.pt", "--checkpoints-dir", "{here}"], "is not a checkpoint", "training wrote"),
        (["--data-dir", "/proc/nowhere"], "data_dir /proc/nowhere can't be written", "--data-dir"),
        (["--data-dir", "{here}/junk.pt"], "junk.pt can't be written", "--data-dir"),
    ],
)
def test_what_cannot_work_is_refused(
    flags: list[str],
    said: str,
    hint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("uvicorn.Server.run", lambda *_, **__: pytest.fail("the service was started"))
    (tmp_path / "junk.pt").write_text("junk\n")
    words = [flag.format(here=tmp_path) for flag in flags]
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--port", "0", "--no-dashboard", *words])
    assert ended.value.code in (1, 2)
    told = capsys.readouterr().err
    error, way_out = [line for line in told.splitlines() if line.startswith(("error: ", "hint: "))]
    assert said in error
    assert hint in way_out
    assert "Traceback" not in told


SAYS = """
from loguru import logger
from operant.service.logs import request_id, set_up_logging
set_up_logging()
request_id.set("req-7")
logger.info("a desktop was replaced")
"""


@pytest.mark.parametrize("no_colour", ["", "1"])
def test_log_lines_are_for_people_on_a_terminal(no_colour: str) -> None:
    ours, theirs = pty.openpty()
    try:
        environment = {**os.environ, "NO_COLOR": no_colour}
        subprocess.run([sys.executable, "-c", SAYS], stderr=theirs, env=environment, check=True, timeout=60)
        line = os.read(ours, 4096).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "INFO" in line
    assert "a desktop was replaced" in line
    assert "{" not in line
    assert ("\x1b[" in line) is (not no_colour)


def test_log_lines_are_json_elsewhere() -> None:
    done = subprocess.run([sys.executable, "-c", SAYS], stderr=subprocess.PIPE, check=True, timeout=60)
    line = json.loads(done.stderr)
    assert (line["level"], line["message"], line["request_id"]) == ("INFO", "a desktop was replaced", "req-7")
