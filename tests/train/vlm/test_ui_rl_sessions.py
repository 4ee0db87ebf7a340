"""Whole runs on sessions of UI-RL servers: desktops that bring their own task, and may go down meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the service is an extra")

from tests.desktop.ui_rl_servers import TYPE, UiRlTestServer
from tests.train.vlm.test_training_run import lines, settings

from operant.config.vlm_training import VLMTrainingConfig
from operant.errors import UnknownTask
from operant.train.vlm.training_run import VLMRun


def sessions(urls: list[str], session_type: str = TYPE, **training: Any) -> VLMTrainingConfig:
    prompted = {"session_type": session_type, "task_prompt": "Press the button"}
    return settings(environment={"ui_env_urls": urls, "tasks": ()}, actor=prompted, training=training)


def test_a_run_learns_from_sessions_of_two_servers(tmp_path: Path) -> None:
    with UiRlTestServer(2) as one, UiRlTestServer(2) as other:
        run = VLMRun(sessions([one.url, other.url]), tmp_path)
        run.train()
        run.close()
        assert one.leased == other.leased == 0
        assert one.sessions._ended
        assert other.sessions._ended
    assert [line["iteration"] for line in lines(tmp_path)] == [1, 2]
    assert all(line["infra_errors"] == 0 for line in lines(tmp_path))
    assert all(line["examples"] > 0 for line in lines(tmp_path))


def test_a_session_type_that_there_is_not_is_told_before_a_model_is_loaded(tmp_path: Path) -> None:
    with UiRlTestServer() as server, pytest.raises(UnknownTask, match="press_buton"):
        VLMRun(sessions([server.url], "press_buton"), tmp_path)
