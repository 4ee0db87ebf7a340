"""Whole runs on desktops of other machines, which may be down, go down and come back meanwhile."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the service is an extra")

from tests.desktop.remote_servers import TOKEN, DesktopServer
from tests.train.vlm.test_training_run import lines, settings

from operant.config.desktop import DesktopConfig
from operant.config.vlm_training import VLMTrainingConfig
from operant.envs.retry import RetryPolicy
from operant.errors import ConfigError, RemoteDesktopError, Unauthorized
from operant.testing import FAKE_TEMPLATES
from operant.train.vlm.training_run import VLMRun

WHOLE = DesktopConfig()


def remote(urls: list[str], **training: Any) -> VLMTrainingConfig:
    return settings(environment={"ui_env_urls": urls, "ui_env_timeout_s": 5.0}, training=training)


def run(directory: Path, config: VLMTrainingConfig) -> VLMRun:
    return VLMRun(config, directory, tasks=FAKE_TEMPLATES)


def test_a_run_learns_on_desktops_of_two_machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPERANT_TOKEN", TOKEN)
    with DesktopServer(config=WHOLE, token=TOKEN) as one, DesktopServer(config=WHOLE, token=TOKEN) as other:
        training = run(tmp_path, remote([one.url, other.url]))
        training.train()
        training.close()
    assert [line["iteration"] for line in lines(tmp_path)] == [1, 2]
    assert all(line["infra_errors"] == 0 for line in lines(tmp_path))


def test_a_machine_that_goes_down_costs_episodes_and_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operant.desktop.pool.RETRY_S", 0.2)
    monkeypatch.setattr("operant.train.vlm.rollouts.RETRY", RetryPolicy(pause_s=0.05))
    monkeypatch.setattr("operant.desktop.remote.fleet.PATIENCE_S", 0.1)
    server = DesktopServer(2, WHOLE)
    training = run(tmp_path, remote([server.url], num_iterations=12))
    failures: list[BaseException] = []

    def train() -> None:
        try:
            training.train()
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            failures.append(error)

    thread = threading.Thread(target=train)
    thread.start()
    deadline = time.monotonic() + 60
    while training.iteration < 2:
        assert time.monotonic() < deadline
        assert thread.is_alive(), failures
        time.sleep(0.01)
    server.stop()
    time.sleep(0.5)
    with DesktopServer(2, WHOLE, port=server.port):  # the machine is back
        thread.join(60)
        assert not thread.is_alive()
        training.close()
    assert not failures
    assert training.iteration == 12
    assert lines(tmp_path)[-1]["infra_errors"] > 0


def test_mistakes_are_told_before_a_model_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPERANT_TOKEN", raising=False)
    with pytest.raises(RemoteDesktopError, match="can't be reached"):
        run(tmp_path / "down", remote(["http://127.0.0.1:9"]))
    with DesktopServer(token=TOKEN) as server, pytest.raises(Unauthorized, match="wants a token"):
        run(tmp_path / "closed", remote([server.url]))
    with DesktopServer() as server, pytest.raises(ConfigError, match=r"320, 200.*1280x800 was asked for"):
        run(tmp_path / "small", remote([server.url]))
    assert not (tmp_path / "down" / "base_model").exists()
    with pytest.raises(ConfigError, match="begins with http"):
        remote(["desktop.example:8765"])
