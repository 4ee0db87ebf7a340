"""The commands of the hierarchical agent's two documents, executed: training, its files, the service, the scripts.

Numbers are small and the network is tiny; desktops, processes, files and HTTP are real.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import tomllib
import yaml
from packaging.requirements import Requirement
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tests.service.conftest import wait_for
from tests.service.process import free_port
from tests.train.conftest import TINY

from operant.agents.hierarchical.config import HierarchicalConfig
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.config.service import ServiceConfig
from operant.desktop.sandbox import SandboxDesktop
from operant.learn.checkpoint import load_checkpoint
from operant.tasks.criteria.base import World
from operant.tasks.loaders import load_templates
from operant.train.config import TrainConfig

pytestmark = pytest.mark.timeout(300)

ROOT = Path(__file__).parents[2]
READY_S = 120.0
FIELDS = (
    "Update 1/2 | Step ",
    "/40",
    "FPS: ",
    "Time: ",
    "Mean Reward: ",
    "Success Rate: ",
    "Policy Loss: ",
    "Value Loss: ",
)
SMALL = {
    "training": {"num_envs": 2, "minibatch_size": 10, "update_epochs": 1, "buffer_size": 4},
    "environment": {"spares": 1},
    "run": {"checkpoint_every": 20, "threads": 1},
    "agent": json.loads(json.dumps(TINY)),
}


def run(*command: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    ended = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, "COLUMNS": "200", **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert ended.returncode == 0, ended.stderr
    return ended


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with a small config/config.yaml."""
    root = tmp_path_factory.mktemp("project")
    for name in ("scripts", "config", "requirements"):
        shutil.copytree(ROOT / name, root / name)
    for name in ("pyproject.toml", ".env.example"):
        shutil.copy(ROOT / name, root / name)
    (root / "config" / "config.yaml").write_text(yaml.safe_dump(SMALL), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def trained(project: Path) -> tuple[Path, str]:
    """000, first line, and 003, "Start Training": train.py with every flag; the directory and what it printed."""
    ended = run(
        *(
            sys.executable,
            "-m",
            "operant.train",
            "--visualize",
            "--total-timesteps",
            "40",
            "--rollout-steps",
            "20",
        ),
        *("--learning-rate", "0.0003", "--difficulty", "EASY", "--device", "cpu"),
        *("--save-dir", "checkpoints", "--log-dir", "logs", "--curriculum"),
        cwd=project,
    )
    return project, ended.stderr


@pytest.mark.x11
@pytest.mark.slow
def test_training_prints_the_fields_of_the_document(trained: tuple[Path, str]) -> None:
    """003, "Monitor Progress": the console output."""
    _, printed = trained
    for field in FIELDS:
        assert field in printed, field
    assert "watch it at http://127.0.0.1:" in printed  # --visualize


@pytest.mark.x11
@pytest.mark.slow
def test_checkpoints_have_the_names_of_the_document(trained: tuple[Path, str]) -> None:
    """003, "Checkpoints": checkpoint_10000.pt ... final_model.pt in checkpoints/, and loading one of them."""
    root, _ = trained
    names = sorted(path.name for path in (root / "checkpoints").glob("*.pt"))
    assert names == ["checkpoint_20.pt", "checkpoint_40.pt", "final_model.pt"]
    assert TrainConfig().run.checkpoint_every == 10_000
    learned = load_checkpoint(root / "checkpoints/final_model.pt")
    assert learned["progress"]["step"] == 40
    policy = HierarchicalPolicy(HierarchicalConfig.model_validate(TINY))
    before = policy.fingerprint
    policy.load(root / "checkpoints/checkpoint_40.pt")
    assert policy.fingerprint != before


@pytest.mark.x11
@pytest.mark.slow
def test_tensorboard_reads_the_logs(trained: tuple[Path, str]) -> None:
    """000 and 003, "Tensorboard": tensorboard --logdir=logs."""
    root, _ = trained
    events = EventAccumulator(str(root / "logs"))
    events.Reload()
    tags = events.Tags()["scalars"]
    assert any("success" in tag.lower() for tag in tags), tags
    assert [event.step for event in events.Scalars(tags[0])] == [20, 40]
    shown = run(sys.executable, "-m", "tensorboard.main", "--inspect", "--logdir=logs", cwd=root).stdout
    assert tags[0] in shown


@pytest.mark.x11
@pytest.mark.slow
def test_the_training_script(project: Path) -> None:
    """000, "Run Training", and 003, "Quick Start": TOTAL_STEPS=... DIFFICULTY=EASY DEVICE=... bash scripts/train.sh."""
    run(
        *("bash", "scripts/train.sh", "--save-dir", "scripted", "--log-dir", "scripted"),
        cwd=project,
        TOTAL_STEPS="4",
        DIFFICULTY="EASY",
        DEVICE="cpu",
        PYTHON=sys.executable,
    )
    assert load_checkpoint(project / "scripted/final_model.pt")["progress"]["step"] >= 4


def test_a_gpu_that_is_not_there_is_told(project: Path) -> None:
    """000 and 003: --device cuda, on a machine without that GPU."""
    ended = subprocess.run(
        [sys.executable, "-m", "operant.train", "--device", "cuda:99", "--save-dir", "x", "--log-dir", "x"],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 2
    assert ended.stderr.startswith(
        "error: there is no device 'cuda:99' here\nhint: devices of this machine: "
    )


def test_the_training_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """003, "Training Configuration": config/config.yaml with the sections training and curriculum."""
    (tmp_path / "config").mkdir()
    (tmp_path / "config/config.yaml").write_text(
        "training:\n"
        "  learning_rate: 0.0003    # Adam learning rate\n"
        "  clip_epsilon: 0.2\n  gamma: 0.99\n  gae_lambda: 0.95\n  buffer_size: 2048\n  update_epochs: 4\n"
        "curriculum:\n  easy_threshold: 0.6\n  medium_threshold: 0.5\n  min_steps_per_stage: 50000\n"
    )
    monkeypatch.chdir(tmp_path)
    assert TrainConfig.load(environ={}) == TrainConfig()  # the document's numbers are our defaults


def test_the_tasks_of_the_document_load_and_are_judged(tmp_path: Path) -> None:
    """000, "Custom Tasks", and 003, "Prepare Tasks": config/tasks.json with window_title and file_exists."""
    tasks = [
        {
            "id": 1,
            "instruction": "Open the calculator",
            "difficulty": "EASY",
            "num_steps": 5,
            "success_criteria": {"window_title": "Calculator"},
        },
        {
            "id": 7,
            "instruction": "Your custom task instruction",
            "difficulty": "MEDIUM",
            "num_steps": 12,
            "success_criteria": {"file_exists": "output.txt"},
        },
    ]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(tasks))
    first, second = (one.instance(0, "train") for one in load_templates(path))
    assert (first.difficulty.value, second.difficulty.value) == ("EASY", "MEDIUM")


@pytest.mark.x11
def test_opening_a_calculator_fulfils_window_title(tmp_path: Path) -> None:
    """003, "Prepare Tasks": window_title: Calculator holds once a calculator is open, and not before."""
    path = tmp_path / "tasks.json"
    task = {"id": 1, "instruction": "Open the calculator", "difficulty": "EASY", "num_steps": 5}
    path.write_text(json.dumps([{**task, "success_criteria": {"window_title": "Calculator"}}]))
    (opened,) = (one.instance(0, "train") for one in load_templates(path))
    with SandboxDesktop() as desktop:
        opened.begin(desktop)
        assert not opened.success.check(World(desktop))
        desktop.launch("galculator")
        assert opened.success.check(World(desktop))


# The service.


@contextmanager
def started(*command: str, cwd: Path, port: int, **variables: str) -> Iterator[httpx.Client]:
    """A service that is ready, started by a command; it ends without a trace."""
    with open(cwd / "log.txt", "wb") as log:
        process = subprocess.Popen(command, cwd=cwd, env={**os.environ, **variables}, stdout=log, stderr=log)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30.0) as client:

            def ready() -> bool:
                assert process.poll() is None, (cwd / "log.txt").read_text()
                try:
                    return client.get("/ready").status_code == 200
                except httpx.HTTPError:
                    return False

            wait_for(ready, READY_S)
            yield client
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    assert "Traceback" not in (cwd / "log.txt").read_text()


@pytest.fixture
def checkout(project: Path, tmp_path: Path) -> Path:
    """A checkout whose .venv is up to date, as `make venv` leaves it."""
    shutil.copytree(project / "scripts", tmp_path / "scripts")
    shutil.copytree(project / "requirements", tmp_path / "requirements")
    for name in ("pyproject.toml", ".env.example"):
        shutil.copy(project / name, tmp_path / name)
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "python").symlink_to(sys.executable)
    (programs / "operant").write_text(f'#!/bin/sh\nexec {sys.executable} -m operant "$@"\n')
    (programs / "operant").chmod(0o755)
    own = """eval "$(sed -n '/^fingerprint()/,/^}/p' scripts/setup.sh)"; torch=; torch_index=; fingerprint"""
    state = run("sh", "-c", own, cwd=tmp_path).stdout
    (tmp_path / ".venv" / "operant-state").write_text(state)
    (tmp_path / ".venv" / "operant-choices").write_text("INSTALLED=dev\n")
    return tmp_path


@pytest.mark.x11
@pytest.mark.slow
def test_the_service_script_obeys_dotenv_and_exported_variables(checkout: Path) -> None:
    """000, "Configuration" and "Run API Server": cp .env.example .env, edit it, bash scripts/run_api.sh; 003, "Set
    Environment Variables": DEVICE, LOG_LEVEL and TRAINING_ENABLED exported."""
    port = free_port()
    template = (checkout / ".env.example").read_text()
    for name in ("DEVICE=cpu", "LOG_LEVEL=INFO", "TRAINING_ENABLED=true", "OPERANT_PORT=8000"):
        assert name in template.splitlines()
    (checkout / ".env").write_text(template.replace("OPERANT_PORT=8000", f"OPERANT_PORT={port}"))
    exported = {"DEVICE": "auto", "LOG_LEVEL": "DEBUG", "TRAINING_ENABLED": "false", "SKIP_APT": "1"}
    with started("bash", "scripts/run_api.sh", cwd=checkout, port=port, **exported) as client:
        assert client.get("/api/v1/agent/model-info").json()["name"] == "hierarchical"
        refused = client.post("/api/v1/training/start", json={"total_timesteps": 8})
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert "DEBUG" in (checkout / "log.txt").read_text()
    (checkout / ".env").write_text(template + "OPERANT_PROT=1\n")
    ended = subprocess.run(
        ["bash", "scripts/run_api.sh"],
        cwd=checkout,
        env={**os.environ, "SKIP_APT": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert ended.returncode == 2
    assert "hint: did you mean OPERANT_PORT?" in ended.stderr


@pytest.mark.x11
@pytest.mark.slow
@pytest.mark.parametrize(
    "application", [("operant.service.app:app", "--reload"), ("--factory", "operant.service.app:create_app")]
)
def test_uvicorn_serves_it_too(tmp_path: Path, application: tuple[str, ...]) -> None:
    """000, "Run API Server": uvicorn with the application and --reload."""
    port = free_port()
    settings = {"OPERANT_AGENT": "random", "OPERANT_DESKTOPS": "1", "OPERANT_DASHBOARD": "false"}
    command = (sys.executable, "-m", "uvicorn", *application, "--host", "127.0.0.1", "--port", str(port))
    with started(*command, cwd=tmp_path, port=port, **settings) as client:
        assert client.get("/api/v1/agent/model-info").json()["name"] == "random"
        assert client.get("/").status_code == 404  # no dashboard, as the environment says


def test_every_plain_setting_of_the_service_has_a_variable() -> None:
    """000, "Configuration": a setting is a line of .env."""
    for name in (ROOT / ".env.example").read_text().splitlines():
        if name and not name.startswith("#"):
            variable = name.partition("=")[0]
            field = variable.removeprefix("OPERANT_").lower()
            assert field in ServiceConfig.model_fields, variable


# Installing and testing.


def test_the_package_and_its_extras_can_be_installed() -> None:
    """000, "Installation": uv pip install -e . and -e ".[dev]"; what both resolve is written correctly."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    for line in [*project["dependencies"], *(line for extra in extras.values() for line in extra)]:
        wanted = Requirement(line)
        assert (
            wanted.extras <= extras.keys()
            if wanted.name == "operant"
            else wanted.specifier or wanted.extras or line
        )
    assert {"pytest", "pytest-cov", "ruff", "mypy"} <= {Requirement(line).name for line in extras["dev"]}
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    told = [line for line in lines if line and not line.startswith("#")]
    assert told[0] == "-c requirements/constraints.txt"
    named = told[1].removeprefix("-e .[").removesuffix("]").split(",")
    assert set(named) <= extras.keys()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_tests_run_with_coverage(tmp_path: Path) -> None:
    """000, "Testing": pytest --cov=src tests/, here with one file of them."""
    some = ("-p", "no:cacheprovider", "-q", "tests/config/test_desktop_config.py")
    ended = run(
        *(sys.executable, "-m", "pytest", "--cov=src", "--cov-report=term", *some),
        cwd=ROOT,
        COVERAGE_FILE=str(tmp_path / "coverage"),
    )
    assert " passed" in ended.stdout
    assert "src/operant/config/desktop.py" in ended.stdout
    assert "--cov=src" in run("make", "-n", "coverage", "SKIP_APT=1", cwd=ROOT).stdout
