"""UI-RL's commands and configuration (document 002): train, train with many actors, evaluate.

Adapted in paths, hosts and the model, which is a tiny one that runs on a CPU. Servers, desktops and processes are real.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx
import pytest
import yaml

from operant.config.vlm_training import VLMTrainingConfig
from operant.testing.tiny_vlm import build_tiny_vlm

ROOT = Path(__file__).parents[2]
DEFAULT = ROOT / "config" / "default_config.yaml"

#: As the document has it.
DOCUMENTED: dict[str, Any] = {
    "model": {"name": "Qwen/Qwen2-VL-2B-Instruct", "use_lora": True, "action_format": "json"},
    "environment": {"ui_env_urls": [f"http://ui-verifier-vm-{number}:8000" for number in range(1, 5)]},
    "actor": {
        "session_type": "simple_data_entry",
        "task_prompt": "Complete the data entry form",
        "max_steps_per_episode": 50,
    },
    "training": {"batch_size": 32, "num_iterations": 1000},
}


def command(*args: str | Path, code: int = 0, cwd: Path | None = None, script: Path | None = None) -> str:
    what = [str(script)] if script else ["-m", "operant"]
    ended = subprocess.run(
        [sys.executable, *what, *map(str, args)],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1", "COLUMNS": "200"},
    )
    assert ended.returncode == code, ended.stderr
    return ended.stdout if code == 0 else ended.stderr


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@contextmanager
def ui_rl_server(directory: Path, desktops: int = 1) -> Iterator[str]:
    """``operant desktop serve --protocol ui-rl`` as a process of its own."""
    port = free_port()
    arguments = ["desktop", "serve", "--protocol", "ui-rl", "--port", str(port), "--desktops", str(desktops)]
    arguments += ["--log-level", "DEBUG"]  # which shows each call
    with open(directory / f"server-{port}.log", "w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "operant", *arguments],
            stdout=log,
            stderr=log,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 180
        while True:
            assert server.poll() is None, Path(log.name).read_text()
            try:
                httpx.get(f"{url}/types", timeout=5, trust_env=False).raise_for_status()
                break
            except httpx.HTTPError:
                assert time.monotonic() < deadline, Path(log.name).read_text()
                time.sleep(0.1)
        yield url
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_vlm(tmp_path_factory.mktemp("models") / "tiny-qwen2-vl", "qwen2_vl")


def adapted(model: Path, urls: list[str], *more: str) -> list[str]:
    """Overrides that put a small model, local servers and a short run in place."""
    changes = (
        f"model.name={model}",
        "model.max_pixels=6000",
        "sampling.max_new_tokens=6",
        f"environment.ui_env_urls={json.dumps(urls)}",
        "actor.max_steps_per_episode=2",
        "actor.invalid_reward=-0.1",  # a random model succeeds at nothing, but some answers are better than others
        "training.algorithm=reinforce",
        "training.num_iterations=1",
        "training.group_size=2",
        "training.groups_per_update=1",
        "training.threads=1",
        *more,
    )
    return [part for change in changes for part in ("--set", change)]


def metrics(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_documented_file_loads_unchanged(tmp_path: Path) -> None:
    """002, "Configure Your Training": the YAML as it is printed, through every part of a run."""
    path = tmp_path / "documented.yaml"
    path.write_text(yaml.safe_dump(DOCUMENTED))
    said = json.loads(command("train", "vlm", "--config", path, "--dry-run"))
    assert said["version"] == 1
    config = VLMTrainingConfig.load(path)
    assert config.prompt.action_format == "json"
    assert config.actor.session_type == "simple_data_entry"
    shipped = yaml.safe_load(DEFAULT.read_text())
    assert shipped == {**DOCUMENTED, "environment": shipped["environment"]}  # but for the hosts
    cloud = VLMTrainingConfig.load(ROOT / "config" / "gcp_training.yaml")
    assert cloud.environment.ui_env_urls == config.environment.ui_env_urls


@pytest.mark.x11
@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(700)
def test_single_actor_training_and_evaluation(tiny: Path, tmp_path: Path) -> None:
    """002, "Run Training", single actor, with config/default_config.yaml; and "Evaluate Your Model"."""
    run = tmp_path / "experiments" / "exp_001"
    with ui_rl_server(tmp_path) as url:
        command(
            *("train", "vlm", "--config", DEFAULT, "--output", run),
            *adapted(tiny, [url], "actor.num_actors=1"),
        )
    (line,) = metrics(run)
    assert line["examples"] > 0
    assert line["grad_norm"] > 0
    assert line["infra_errors"] == 0
    assert list((run / "checkpoints").glob("version_*/model/adapter_config.json"))

    tasks = tmp_path / "eval_tasks.json"
    wanted = {"file_exists": "report.txt"}
    tasks.write_text(
        json.dumps(
            [{"id": 1, "instruction": "Make report.txt", "difficulty": "EASY", "success_criteria": wanted}]
        )
    )
    (checkpoint,) = (run / "checkpoints").glob("version_*")
    for path in (checkpoint / "state.pt", run):
        said = command(
            *("eval", "--checkpoint", path, "--suite", tasks, "--max-steps", "2", "--json"), cwd=tmp_path
        )
        summary = json.loads(said)
        assert summary["agent"] == f"vlm:{checkpoint / 'model'}"
        assert summary["overall"]["n"] == 1
        assert summary["overall"]["infra_errors"] == 0


@pytest.mark.x11
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_evaluation_of_a_checkpoint_file(tmp_path: Path) -> None:
    """002, "Evaluate Your Model": --checkpoint .../checkpoint_step_1000.pt --tasks eval_tasks.json, which is --suite here."""
    checkpoint = tmp_path / "experiments" / "exp_001" / "checkpoints" / "checkpoint_step_1000.pt"
    checkpoint.parent.mkdir(parents=True)
    shutil.copy(ROOT / "src" / "operant" / "agents" / "hierarchical" / "default.pt", checkpoint)
    setup = [{"launch": {"command": ["xterm"]}}]
    task = {
        "id": 1,
        "instruction": "Make a folder called reports.",
        "difficulty": "EASY",
        "setup": setup,
        "success_criteria": {"file_exists": "reports"},
    }
    (tmp_path / "eval_tasks.json").write_text(json.dumps([task]))
    arguments = ("--checkpoint", checkpoint.relative_to(tmp_path), "--suite", "eval_tasks.json")
    summary = json.loads(command("eval", *arguments, "--json", cwd=tmp_path))
    assert summary["agent"].startswith("hierarchical:")
    assert (summary["overall"]["n"], summary["overall"]["infra_errors"]) == (1, 0)
    (tmp_path / "strange.pt").write_bytes(b"not a checkpoint")
    said = command("eval", "--checkpoint", "strange.pt", "--suite", "eval_tasks.json", code=1, cwd=tmp_path)
    assert "strange.pt is not a checkpoint" in said
    assert "Traceback" not in said


@pytest.mark.x11
@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.timeout(700)
def test_multi_actor_training(tiny: Path, tmp_path: Path) -> None:
    """002, "Run Training", multi-actor: examples/train_multi_actor.py, here over two servers."""
    run = tmp_path / "run"
    with ui_rl_server(tmp_path) as one, ui_rl_server(tmp_path) as other:
        script = ROOT / "examples" / "train_multi_actor.py"
        said = command(*("--config", DEFAULT, "--output", run, *adapted(tiny, [one, other])), script=script)
    assert "trained:" in said
    assert yaml.safe_load((run / "config.yaml").read_text())["actor"]["num_actors"] == 2
    assert metrics(run)[-1]["grad_norm"] > 0
    assert metrics(run)[-1]["infra_errors"] == 0
    logs = [path.read_text() for path in tmp_path.glob("server-*.log")]
    assert ["POST /session -> 200" in log for log in logs] == [True, True], logs  # both were played on


class Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>Welcome</title>")

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: object) -> None: ...


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_servers_that_will_not_do_are_told_before_a_model_is_loaded(tmp_path: Path) -> None:
    """002, "ui_env_urls": a server that is down, or is none."""
    missing = tmp_path / "no-model"
    run = tmp_path / "run"

    def said(url: str) -> str:
        return command("train", "vlm", "--config", DEFAULT, "--output", run, *adapted(missing, [url]), code=1)

    assert "can't be reached" in said("http://127.0.0.1:9")
    with HTTPServer(("127.0.0.1", 0), Page) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        assert "an HTML page" in said(f"http://127.0.0.1:{server.server_port}")
        server.shutdown()


@pytest.mark.x11
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_session_type_that_there_is_not(tmp_path: Path) -> None:
    """002, "session_type": a mistyped one is an error with the nearest name."""
    with ui_rl_server(tmp_path) as url:
        said = command(
            *("train", "vlm", "--config", DEFAULT, "--output", tmp_path / "run"),
            *adapted(tmp_path / "no-model", [url], "actor.session_type=simple_data_entri"),
            code=2,
        )
    assert "has no session type 'simple_data_entri'" in said
    assert "did you mean 'simple_data_entry'?" in said
