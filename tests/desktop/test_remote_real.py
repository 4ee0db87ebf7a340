"""One real desktop behind the real server, from the command line to a task that its oracle solves over HTTP."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the service is an extra")

from operant.agents.oracle import OracleAgent
from operant.desktop.remote import RemoteDesktop
from operant.envs.task_environment import TaskEnvironment
from operant.errors import UnknownApplication
from operant.rollout.loop import run_episode
from operant.tasks.suites import load_suite
from operant.types import Action, Outcome

pytestmark = pytest.mark.x11
TOKEN = "correct-horse-battery"
START_S = 60.0


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """``operant desktop serve`` as people start it; ends with nothing left behind."""
    log = tmp_path_factory.mktemp("serve") / "log"
    command = [sys.executable, "-m", "operant", "desktop", "serve", "--port", "0", "--desktops", "1"]
    with open(log, "wb") as said:
        server = subprocess.Popen(command, stderr=said, env={**os.environ, "OPERANT_TOKEN": TOKEN})
    try:
        yield _address(server, log)
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        assert server.poll() is None, log.read_text()
        found = re.search(r"at (http://[\d.:]+)", log.read_text())
        if found:
            return found[1]
        time.sleep(0.05)
    raise AssertionError(log.read_text())


def test_a_real_desktop_is_operated_over_http(url: str) -> None:
    with RemoteDesktop(url, token=TOKEN) as desktop:
        empty = desktop.frame()
        window = desktop.launch("mousepad")
        assert window.wm_class == "Mousepad"
        frame = desktop.perform(Action.type("Straße, 東京"))
        assert desktop.last_step.changed
        assert not np.array_equal(frame, empty)
        assert np.array_equal(frame, desktop.glance())
        text = desktop.accessibility().find("text")
        assert text is not None
        assert text.text == "Straße, 東京"
        desktop.files.write("note.txt", "kept")
        assert desktop.run(["cat", "note.txt"]).output == "kept"
        desktop.clipboard.set("copied")
        assert desktop.clipboard.get() == "copied"
        assert "mousepad" in {process.name for process in desktop.processes()}
        with pytest.raises(UnknownApplication):
            desktop.launch("nonesuch")
        desktop.reset()
        assert desktop.windows() == []
        assert not desktop.files.exists("note.txt")
        assert np.array_equal(desktop.frame(), empty)


@pytest.mark.parametrize("name", ["core/calculator-square-root-v1", "core/files-rename-v1"])
def test_a_task_of_the_core_suite_runs_unchanged(url: str, name: str) -> None:
    template = next(one for one in load_suite("core") if one.id == name)
    with RemoteDesktop(url, token=TOKEN) as desktop:
        environment = TaskEnvironment(desktop, with_tree=True)  # type: ignore[arg-type]
        result = run_episode(OracleAgent(), environment, template.instance(1))
    assert result.outcome is Outcome.SUCCESS, result.why
