"""Training runs in processes of their own, with a stand-in for the training itself."""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.service.conftest import Serve, wait_for

from operant.errors import NoTraining
from operant.service.training.progress import is_reward_hack, latest_of, read_progress
from operant.service.training.runs import Runs, TrainingRun

START, STOP, STATUS, RUNS = (f"/api/v1/training/{name}" for name in ("start", "stop", "status", "runs"))
STAND_IN = (sys.executable, str(Path(__file__).with_name("train_stand_in.py")))


@pytest.fixture
def trainer(serve: Serve) -> TestClient:
    return serve(training_command=STAND_IN, count=1)


def state(client: TestClient, name: str) -> str:
    return client.get(f"{RUNS}/{name}").json()["run"]["state"]  # type: ignore[no-any-return]


def test_a_run_from_start_to_end(trainer: TestClient) -> None:
    body = {"total_timesteps": 600, "difficulty": "EASY", "curriculum": True, "name": "first"}
    made = trainer.post(START, json=body, headers={"x-request-id": "req-9"})
    assert made.status_code == 201
    assert made.json()["state"] == "running"
    twice = trainer.post(START, json=body | {"name": "second"})
    assert (twice.status_code, twice.json()["code"]) == (409, "training_busy")
    wait_for(lambda: trainer.get(STATUS).json()["progress"])
    assert "operant_training_running 1.0" in trainer.get("/metrics").text
    wait_for(lambda: state(trainer, "first") == "finished")
    said = trainer.get(STATUS).json()
    assert not said["running"]
    assert [update["step"] for update in said["progress"]] == [100, 200, 300, 400, 500, 600]
    assert said["progress"][0]["value_loss"] is None
    assert said["run"]["latest"]["stage"] == "MEDIUM"
    assert said["run"]["checkpoints"] == ["final_model.pt"]
    assert "training req-9" in said["log_tail"]
    names = [one["name"] for one in trainer.get("/api/v1/agent/models").json()["models"]]
    assert "first/final_model.pt" in names
    resumed = trainer.post(START, json={"total_timesteps": 100, "resume": "first/final_model.pt"}).json()
    assert "--init-from" in resumed["command"]


def test_a_device_that_is_not_there_starts_nothing(trainer: TestClient) -> None:
    refused = trainer.post(START, json={"total_timesteps": 100, "device": "cuda:99"})
    assert 400 <= refused.status_code < 500, refused.text
    assert "there is no device 'cuda:99' here" in refused.json()["message"]
    assert "cpu" in refused.json()["hint"]
    assert trainer.get(RUNS).json() == []


def test_a_run_is_stopped(trainer: TestClient) -> None:
    name = trainer.post(START, json={"total_timesteps": 1_000_000}).json()["id"]
    wait_for(lambda: trainer.get(STATUS).json()["progress"])
    assert trainer.post(STOP).status_code == 200
    wait_for(lambda: state(trainer, name) == "stopped")
    none = trainer.post(STOP, json={})
    assert (none.status_code, none.json()["code"]) == (404, "no_training")


def test_a_run_that_was_stopped_goes_on_where_it_was(trainer: TestClient) -> None:
    name = trainer.post(START, json={"total_timesteps": 1_000_000, "seed": 3}).json()["id"]
    wait_for(lambda: trainer.get(STATUS).json()["progress"])
    busy = trainer.post(START, json={"resume": name})
    assert (busy.status_code, busy.json()["code"]) == (409, "training_busy")
    trainer.post(STOP)
    wait_for(lambda: state(trainer, name) == "stopped")
    steps = [update["step"] for update in trainer.get(f"{RUNS}/{name}").json()["progress"]]
    body = {"resume": name, "total_timesteps": steps[-1] + 300}
    told = trainer.post(START, json=body | {"dry_run": True}).json()
    assert "--resume" in told["command"]
    assert state(trainer, name) == "stopped"
    assert trainer.post(START, json=body).json()["id"] == name
    wait_for(lambda: state(trainer, name) == "finished")
    said = trainer.get(f"{RUNS}/{name}").json()
    assert [update["step"] for update in said["progress"]] == list(range(100, steps[-1] + 301, 100))
    assert said["run"]["options"]["seed"] == 3
    assert len(trainer.get(RUNS).json()) == 1
    done = trainer.post(START, json={"resume": name})
    assert (done.status_code, done.json()["code"]) == (422, "invalid_setting")
    assert state(trainer, name) == "finished"


def test_a_run_without_a_checkpoint_can_not_go_on(trainer: TestClient) -> None:
    name = trainer.post(START, json={"total_timesteps": 100, "seed": 13}).json()["id"]
    wait_for(lambda: state(trainer, name) == "failed")
    said = trainer.post(START, json={"resume": name})
    assert (said.status_code, said.json()["code"]) == (404, "no_training")
    assert state(trainer, name) == "failed"


def test_a_run_that_is_asked_again_hurries(trainer: TestClient) -> None:
    name = trainer.post(START, json={"total_timesteps": 1_000_000, "seed": 14}).json()["id"]
    wait_for(lambda: trainer.get(STATUS).json()["progress"])
    wait_for(lambda: trainer.post(STOP).status_code == 404)  # until there is nothing more to stop
    assert state(trainer, name) == "stopped"
    assert trainer.get(f"{RUNS}/{name}").json()["run"]["code"] == 3


def test_a_run_that_fails_says_why(trainer: TestClient) -> None:
    name = trainer.post(START, json={"total_timesteps": 100, "seed": 13}).json()["id"]
    wait_for(lambda: state(trainer, name) == "failed")
    said = trainer.get(f"{RUNS}/{name}").json()
    assert said["run"]["code"] == 1
    assert "unlucky" in said["log_tail"]
    assert (said["run"]["reason"], said["run"]["hint"]) == ("13 is an unlucky number", "choose another seed")


@pytest.mark.parametrize(
    ("said", "code", "reason"),
    [
        ("Traceback\n  here\nValueError: it was 7\n", 1, "ValueError: it was 7"),
        ("training\n", -9, "it was ended by SIGKILL"),
        ("", 3, "it ended with code 3 and said nothing"),
        ("error: first\nhint: one\ngoing on\nerror: second\n", 1, "second"),
    ],
)
def test_the_reason_is_found_in_what_it_printed(tmp_path: Path, said: str, code: int, reason: str) -> None:
    (tmp_path / "log.txt").write_text(said)
    run = TrainingRun("a", tmp_path, (), {}, 0.0, "failed", code)
    assert run.failure()[0] == reason


def test_a_run_says_where_it_is_before_its_first_update(trainer: TestClient) -> None:
    name = trainer.post(START, json={"total_timesteps": 100_000, "seed": 16}).json()["id"]
    wait_for(lambda: trainer.get(STATUS).json()["run"]["latest"])
    said = trainer.get(STATUS).json()
    latest = said["run"]["latest"]
    assert said["progress"] == []
    assert (latest["step"], latest["episodes"], latest["phase"]) == (312, 14, "collecting")
    assert (latest["fps"], latest["left_s"], latest["counted"]) == (10.4, 9585.0, 14)
    trainer.post(STOP)
    wait_for(lambda: state(trainer, name) == "stopped")


def test_the_moment_goes_over_the_last_update_if_it_is_later(tmp_path: Path) -> None:
    progress = [{"step": 128, "kl": 0.1, "episodes": 9}]
    assert latest_of(tmp_path, []) is None
    assert latest_of(tmp_path, progress) == progress[0]
    (tmp_path / "status.json").write_text('{"step": 130, "episodes": 10}')
    assert latest_of(tmp_path, progress) == {"step": 130, "kl": 0.1, "episodes": 10}
    for stale in ('{"step": 7}', "{", "[]", '{"step": null}'):
        (tmp_path / "status.json").write_text(stale)
        assert latest_of(tmp_path, progress) == progress[0]


EASY = "core/calculator-type-sum-v1"


def test_a_run_takes_tasks_rollout_steps_desktops_and_weights(trainer: TestClient) -> None:
    body = {
        "tasks": [EASY], "rollout_steps": 256, "num_envs": 2, "init_from": "default", "dry_run": True,
    }  # fmt: skip
    told = trainer.post(START, json=body)
    assert told.status_code == 200, told.text
    words = told.json()["command"]
    flags = dict(itertools.pairwise(words))
    assert (flags["--tasks"], flags["--rollout-steps"], flags["--num-envs"]) == (EASY, "256", "2")
    assert flags["--init-from"] == "default"


@pytest.mark.parametrize(
    ("body", "said", "hint"),
    [
        ({"tasks": [EASY[:-1]]}, "no task 'core/calculator-type-sum-v'", EASY),
        ({"tasks": [EASY], "difficulty": "HARD"}, "there are no HARD tasks", "operant tasks list"),
        ({"rollout_steps": 4, "num_envs": 8}, "smaller than", "lower --num-envs"),
        ({"init_from": "defautl"}, "there is no checkpoint 'defautl'", "did you mean 'default'?"),
        ({"init_from": "default", "resume": "x"}, "not both", "leave one out"),
    ],
)
def test_what_a_training_would_refuse_starts_nothing(
    trainer: TestClient, body: dict[str, Any], said: str, hint: str
) -> None:
    refused = trainer.post(START, json=body)
    assert 400 <= refused.status_code < 500, refused.text
    assert said in refused.json()["message"]
    assert hint in refused.json()["hint"]
    assert trainer.get(RUNS).json() == []


def test_a_run_outlives_the_service(serve: Serve, tmp_path: Path) -> None:
    first = serve(training_command=STAND_IN, count=1)
    name = first.post(START, json={"total_timesteps": 1_000_000}).json()["id"]
    wait_for(lambda: first.get(STATUS).json()["progress"])
    first.__exit__(None, None, None)
    runs = Runs(tmp_path / "data" / "runs", STAND_IN)
    assert runs.find(name).running
    second = serve(training_command=STAND_IN, count=1)
    assert second.get(STATUS).json()["running"]
    second.post(STOP)
    wait_for(lambda: state(second, name) == "stopped")


def test_a_run_whose_processes_vanished_is_lost(trainer: TestClient, tmp_path: Path) -> None:
    name = trainer.post(START, json={"total_timesteps": 1_000_000}).json()["id"]
    run = Runs(tmp_path / "data" / "runs", STAND_IN).find(name)
    assert run.pid is not None
    wait_for(lambda: trainer.get(STATUS).json()["progress"])
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    os.kill(run.pid, 9)
    for child in children:
        os.kill(int(child), 9)
    wait_for(lambda: state(trainer, name) == "lost")
    again = trainer.post(START, json={"total_timesteps": 100})
    assert again.status_code == 201


def test_training_can_be_forbidden(serve: Serve) -> None:
    client = serve(training_enabled=False)
    for path, body in ((START, {"total_timesteps": 1}), (STOP, {}), (START, {"dry_run": True})):
        said = client.post(path, json=body)
        assert (said.status_code, said.json()["code"]) == (403, "forbidden")
    assert client.get(STATUS).json()["enabled"] is False


def test_a_dry_run_tells_the_command(trainer: TestClient) -> None:
    body = {"total_timesteps": 500, "curriculum": True, "device": "cpu", "dry_run": True}
    told = trainer.post(START, json=body)
    assert told.status_code == 200  # and not 201: nothing was made
    said = told.json()
    *flags, save_dir, directory, log_dir, same = said["command"][2:]
    assert flags == ["--total-timesteps", "500", "--curriculum", "--device", "cpu"]
    assert (save_dir, log_dir, same) == ("--save-dir", "--log-dir", directory)
    assert trainer.get(RUNS).json() == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"total_timesteps": 0}, 422),
        ({"total_timesteps": "many"}, 422),
        ({"difficulty": "IMPOSSIBLE"}, 422),
        ({"name": "../up"}, 422),
        ({"device": "cpu; rm -rf /"}, 422),
        ({"config": "../../secret.yaml"}, 422),
        ({"resume": "../../x.pt"}, 404),
        ({"command": "sh"}, 422),
    ],
)
def test_what_can_not_be_trained_is_refused(trainer: TestClient, body: dict[str, Any], status: int) -> None:
    assert trainer.post(START, json=body).status_code == status
    assert trainer.get(RUNS).json() == []


def test_a_name_is_never_a_path(tmp_path: Path) -> None:
    runs = Runs(tmp_path / "runs", STAND_IN)
    for name in ("..", "../x", "a/b", "", ".hidden", "x" * 100):
        with pytest.raises(NoTraining):
            runs.find(name)


def test_the_alarm_hears_reward_without_success() -> None:
    honest = [{"mean_reward": step / 30, "success_rate": step / 30} for step in range(30)]
    hacked = [{"mean_reward": step / 30, "success_rate": 0.1} for step in range(30)]
    solved = [{"mean_reward": 1 + step / 300, "success_rate": 1.0} for step in range(30)]
    assert not is_reward_hack(honest)
    assert is_reward_hack(hacked)
    assert not is_reward_hack(solved)
    assert not is_reward_hack(hacked[:5])


def test_progress_is_thinned_and_half_lines_wait(tmp_path: Path) -> None:
    path = tmp_path / "progress.jsonl"
    path.write_text("".join(f'{{"step": {step}}}\n' for step in range(5000)) + '{"step": 50')
    steps = [update["step"] for update in read_progress(tmp_path, most=100)]
    assert (len(steps), steps[0], steps[-1]) == (100, 0, 4999)
