"""Suites of the service: those that are installed and those that it was started with, and never what a client writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest
from loguru import logger
from starlette.testclient import TestClient
from tests.service.conftest import Serve

from operant.config.service import ServiceConfig
from operant.errors import TaskError, UnknownSuite
from operant.service.catalogue import Catalogue
from operant.service.runtime import Runtime
from operant.tasks.suites import SUITES
from operant.testing import FAKE_TEMPLATES

START, TASKS = "/api/v1/training/start", "/api/v1/tasks"
TASK = {
    "id": 1,
    "instruction": "Make it",
    "difficulty": "EASY",
    "success_criteria": {"file_exists": "a"},
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "own.json").write_text(json.dumps([TASK]))
    (tmp_path / "secret.json").write_text(json.dumps([TASK]))
    (tmp_path / "evil_here.py").write_text("raise SystemExit('imported')")
    pretend = ModuleType("pretend_here")
    pretend.TEMPLATES = list(FAKE_TEMPLATES)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pretend_here", pretend)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def client(serve: Serve) -> TestClient:
    return serve(suite="own.json,pretend_here:TEMPLATES", count=1)


def test_a_catalogue_holds_what_is_installed_and_what_the_server_was_started_with() -> None:
    catalogue = Catalogue("own.json,pretend_here:TEMPLATES")
    assert {"own/1-v1", "fake/compute-v1"} < set(catalogue.templates)
    assert {name.partition("/")[0] for name in catalogue.templates} == {*SUITES, "own", "fake"}
    assert catalogue.task("own/1-v1").instruction == "Make it"


def test_a_broken_suite_is_left_out_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SUITES, "wreck", "no_such_module:TEMPLATES")
    warnings: list[str] = []
    number = logger.add(lambda message: warnings.append(str(message)), level="WARNING", format="{message}")
    try:
        catalogue = Catalogue()
        assert any(name.startswith("core/") for name in catalogue.templates)
    finally:
        logger.remove(number)
    (warning,) = warnings
    assert "the suite wreck is left out" in warning


def test_mistakes_in_the_servers_suite_are_told_before_it_starts(here: Path) -> None:
    for suite, error in (("cor", UnknownSuite), ("missing.yaml", TaskError)):
        with pytest.raises(error):
            Runtime(ServiceConfig(data_dir=here / "data", suite=suite))


def test_tasks_of_a_suite_are_listed(client: TestClient) -> None:
    assert [row["id"] for row in client.get(TASKS, params={"suite": "own.json"}).json()] == ["own/1-v1"]
    clicks = client.get(TASKS, params={"suite": "clicks,own.json"}).json()
    assert {row["id"].partition("/")[0] for row in clicks} == {"clicks", "own"}


def test_training_takes_a_suite(client: TestClient) -> None:
    asked = {"suite": "own.json,pretend_here:TEMPLATES", "dry_run": True}
    words = client.post(START, json=asked).json()["command"]
    assert words[words.index("--suite") + 1] == "own.json,pretend_here:TEMPLATES"


@pytest.mark.parametrize(
    "suite",
    [
        "secret.json",
        "./own.json",
        "file:own.json",
        "/etc/passwd",
        "evil_here:TEMPLATES",
        "os:environ",
        "core,evil_here:TEMPLATES",
        "--resume",
    ],
)
def test_a_client_can_neither_import_nor_read_anything(client: TestClient, suite: str) -> None:
    answers = [
        client.get(TASKS, params={"suite": suite}),
        client.post(START, json={"suite": suite, "dry_run": True}),
    ]
    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_suite")
    assert "evil_here" not in sys.modules
    assert client.post(START, json={"suite": ",", "dry_run": True}).status_code == 404


def test_the_nearest_suite_is_named(client: TestClient) -> None:
    answer = client.get(TASKS, params={"suite": "cor"}).json()
    assert answer["hint"] == "did you mean 'core'?"
