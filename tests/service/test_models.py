"""Who answers: the trained agent by default, another one when it can't, and what each of them sees."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from loguru import logger
from tests.service.conftest import Serve
from tests.service.policies import Brightest, always

from operant.agents.base import Decision
from operant.agents.fixed import DoneAgent
from operant.agents.registry import AGENTS
from operant.config.desktop import DesktopConfig
from operant.config.service import ServiceConfig
from operant.errors import ConfigError, MissingDependency
from operant.service.app import create_app
from operant.service.inference.models import Models
from operant.service.masking import MASK
from operant.types import Observation

PREDICT, EXECUTE, MODELS = "/api/v1/agent/predict", "/api/v1/agent/execute", "/api/v1/agent/models"
COMPLETE, INFO = "/api/v1/agent/complete-task", "/api/v1/agent/model-info"


@pytest.fixture
def without_pytorch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As on a machine that has the service's packages only."""
    (tmp_path / "that_needs_more.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(AGENTS, "hierarchical", "that_needs_more:Agent")


def test_where_the_trained_agent_is_not_installed_another_one_says_that_it_stands_in(
    without_pytorch: None, tmp_path: Path
) -> None:
    said: list[str] = []
    sink = logger.add(lambda message: said.append(str(message)), level="WARNING")
    try:
        models = Models("hierarchical", [tmp_path], "hierarchical", chosen=False)
        assert models.current.info.name == "random"
    finally:
        logger.remove(sink)
    assert "operant[learn]" in said[0]


def test_nobody_stands_in_for_an_agent_that_was_chosen(without_pytorch: None, tmp_path: Path) -> None:
    with pytest.raises(MissingDependency, match="torch"):
        _ = Models("hierarchical", [tmp_path], "hierarchical", chosen=True).current


class Reader(Brightest):
    """Keeps what it saw."""

    observation_type = "screenshot_a11y_tree"
    seen: Observation

    def _one(self, seen: Observation) -> Decision:
        type(self).seen = seen
        return super()._one(seen)


def test_an_agent_that_reads_widgets_is_given_those_of_the_session(serve: Serve) -> None:
    client = serve(predictors=always(Reader))
    assert client.get(INFO).json()["sees_widgets"]
    client.post("/api/v1/sessions/default/launch", json={"command": ["galculator"]})
    for text in ("1", "2", "3"):
        client.post(EXECUTE, json={"action": {"kind": "type", "text": text}, "secret": text == "3"})
    assert client.post(PREDICT, json={"instruction": "x", "step": 2}).status_code == 200
    seen = Reader.seen
    assert seen.tree is not None
    assert seen.tree.find(name="7") is not None
    assert [window.title for window in seen.windows] == ["galculator"]
    assert [one.action.text for one in seen.history] == ["2", MASK]
    assert seen.last_action == seen.history[-1].action

    seven = seen.tree.find(name="7")
    assert seven.box is not None
    x, y, width, height = seven.box
    point = [(x + width / 2) / 1280, (y + height / 2) / 800]
    client.post(EXECUTE, json={"action": {"kind": "click", "point": point}})
    client.post(EXECUTE, json={"action": {"kind": "key", "keys": ["f12"]}})
    client.post(PREDICT, json={"instruction": "x", "step": 2})
    assert [(one.target, one.changed) for one in Reader.seen.history] == [("7", True), ("", False)]


@pytest.mark.timeout(180)
def test_the_trained_agent_answers_with_its_value_and_its_confidence(serve: Serve, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="the trained agent needs it")
    from operant.agents.hierarchical.agent import DEFAULT

    kept = tmp_path / "checkpoints"
    kept.mkdir()
    shutil.copy(DEFAULT, kept / "mine.pt")
    (kept / "broken.pt").write_bytes(DEFAULT.read_bytes()[:5000])
    client = serve(agent="hierarchical", count=1)
    client.post("/api/v1/sessions/default/launch", json={"command": ["galculator"]})
    body: dict[str, Any] = {"instruction": "Press the button 7.", "session": "default"}

    said = client.post(PREDICT, json=body).json()
    assert said["action_type"]
    assert 0 <= said["confidence"] <= 1
    assert isinstance(said["value"], float)
    info = client.get(INFO).json()
    assert info["batched"]
    assert info["sees_widgets"]
    assert info["parameters"] > 1_000_000
    assert info["fingerprint"]

    names = [one["name"] for one in client.get(MODELS).json()["models"]]
    assert {"hierarchical", "mine.pt", "broken.pt"} <= set(names)
    refused = client.post(MODELS, json={"name": "broken.pt"})
    assert (refused.status_code, refused.json()["code"]) == (422, "bad_checkpoint")
    assert client.get(MODELS).json()["current"] == "hierarchical"
    assert client.post(MODELS, json={"name": "mine.pt"}).json()["current"] == "mine.pt"
    again = client.post(PREDICT, json=body).json()
    assert again["model"] == "mine.pt"
    assert again["action"] == said["action"]  # the same weights


def test_a_device_that_is_not_there_is_told_before_anything_starts(tmp_path: Path) -> None:
    config = ServiceConfig(device="cuda:99", data_dir=tmp_path)
    with pytest.raises(ConfigError, match="no device 'cuda:99'"):
        create_app(config, None)


def test_the_device_reaches_every_model(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []

    class Placed(DoneAgent):
        def __init__(self, path: str = "", *, device: str | None = None) -> None:
            asked.append(device)

    monkeypatch.setitem(sys.modules, "placed_agent", SimpleNamespace(Placed=Placed))
    monkeypatch.setitem(AGENTS, "placed", "placed_agent:Placed")
    client = serve(agent="placed", device="auto")
    assert asked == ["cuda" if torch.cuda.is_available() else "cpu"]
    assert client.get(INFO).json()["name"] == "placed"


def test_the_desktops_are_as_the_settings_say(serve: Serve) -> None:
    client = serve(desktop=DesktopConfig.build(size="1920x1080", monitors=["960x1080", "960x1080"]))
    pool = client.runtime._pool  # type: ignore[attr-defined]
    with pool.lease(ttl_s=5) as desktop:
        assert desktop.frame().shape == (1080, 1920, 3)
        assert len(desktop.config.monitors) == 2
