"""Whole runs of a tiny model on fake desktops: they train, stop, go on, and never learn an episode twice."""

from __future__ import annotations

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from operant.agents.vlm.prompt import Prompt
from operant.agents.vlm.trajectory import Generation, Trajectory, Turn
from operant.config.desktop import DesktopConfig
from operant.config.vlm_training import VLMTrainingConfig
from operant.envs.task_environment import TaskEnvironment
from operant.errors import CheckpointError, ConfigError, NoSpaceLeft, TaskError
from operant.learn.vlm.checkpoint import newest
from operant.learn.vlm.entropulse import Entropulse
from operant.learn.vlm.trainer import Trainer
from operant.rollout.loop import run_episode
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.train.vlm.run_directory import saved_so_far
from operant.train.vlm.training_run import VLMRun
from operant.train.vlm.trajectory_store import TrajectoryStore
from operant.types import Outcome, Size

SETTINGS: dict[str, Any] = {
    "model": {"name": "tiny:qwen2_vl", "use_lora": False, "max_pixels": 6000},
    "prompt": {"action_format": "ui_tars", "history": 0, "system": "", "show_progress": False},
    "sampling": {"max_new_tokens": 6},
    "environment": {"tasks": ["fake/press-button-v1"]},
    "actor": {"num_actors": 2, "max_steps_per_episode": 2},
    "training": {
        "algorithm": "reinforce",
        "num_iterations": 2,
        "group_size": 2,
        "groups_per_update": 1,
        "learning_rate": 0.001,
        "checkpoint_every": 1,
        "threads": 1,
    },
}


def settings(**changes: dict[str, Any]) -> VLMTrainingConfig:
    merged = {name: {**section, **changes.get(name, {})} for name, section in SETTINGS.items()}
    return VLMTrainingConfig.build(**merged)  # type: ignore[no-any-return]


def run(directory: Path, config: VLMTrainingConfig | None = None, **more: Any) -> VLMRun:
    return VLMRun(
        config or settings(),
        directory,
        desktops=FakeDesktop,  # type: ignore[arg-type]
        tasks=FAKE_TEMPLATES,
        **more,
    )


def train(directory: Path, config: VLMTrainingConfig | None = None, **more: Any) -> tuple[VLMRun, Path]:
    training = run(directory, config, **more)
    try:
        return training, training.train()
    finally:
        training.close()


def test_a_run_on_two_monitors_of_1920x1080(tmp_path: Path) -> None:
    """The model sees the whole screen, made as small as it was told, and the run notes what its desktops were like."""
    two = {"monitors": "1920x1080,1920x1080", "profile": "full"}
    config = VLMTrainingConfig.build(
        **{**SETTINGS, "desktop": two, "actor": {**SETTINGS["actor"], "keep_episodes": True}}
    )
    training, _ = train(tmp_path, config)
    pictures = list(tmp_path.rglob("episodes/**/*.png"))
    assert pictures
    for path in pictures:
        with Image.open(path) as picture:
            assert picture.size == (3840, 1080)
    written = VLMTrainingConfig.load(tmp_path / "config.yaml")
    assert written == config
    assert (written.desktop.size, written.desktop.chosen_profile) == (Size(3840, 1080), "full")
    assert training.source.draw(np.random.default_rng(0)).profile == "full"


def test_the_note_of_a_run_leaves_the_profile_to_the_tasks_if_it_was_not_chosen(tmp_path: Path) -> None:
    run(tmp_path).close()
    assert VLMTrainingConfig.load(tmp_path / "config.yaml").desktop.chosen_profile is None


def test_a_run_whose_model_may_call_functions(tmp_path: Path) -> None:
    """The prompts that are learned from list them, and a format without words for a call is refused early."""
    calls = {
        "desktop": {"actions": "both"},
        "prompt": {**SETTINGS["prompt"], "action_format": "json"},
        "training": {**SETTINGS["training"], "num_iterations": 1},
    }
    training, model = train(tmp_path / "run", VLMTrainingConfig.build(**{**SETTINGS, **calls}))
    assert training.iteration == 1
    (kept, *_) = training.collection.store.load() or [None]  # type: ignore[attr-defined]
    assert kept is not None
    assert "files.move(source: str, target: str" in str(kept.turns[0].prompt.messages)
    from operant.agents.registry import make_agent

    agent = make_agent(f"vlm:{model}")
    task = replace(FAKE_TEMPLATES[0].instance(0), max_steps=1)
    run_episode(agent, TaskEnvironment(FakeDesktop(DesktopConfig(actions="both"))), task)
    assert "files.move(" in str(agent.turns[0].prompt.messages)  # type: ignore[attr-defined]
    agent.close()
    for actions in ("api", "both"):
        with pytest.raises(ConfigError, match="ui_tars has no words for them") as refused:
            run(tmp_path / "other", VLMTrainingConfig.build(**{**SETTINGS, "desktop": {"actions": actions}}))
        assert "vlm_tiny_calls_cpu.yaml" in (refused.value.hint or "")


def test_an_update_without_a_difference_in_rewards_still_tells_of_its_episodes(tmp_path: Path) -> None:
    """Nothing is learned, as all rewards of each group are alike. Turns and invalid answers are those of the episodes."""
    shown: list[str] = []
    config = settings(training={"num_iterations": 1, "refill_limit": 1, "algorithm": "grpo"})
    train(tmp_path, config, on_progress=shown.append)
    (update,) = lines(tmp_path)
    assert update["examples"] == 0
    assert update["filtered_groups"] >= 1
    assert update["turns"] == 2  # max_steps_per_episode
    assert update["invalid"] > 0
    assert "turns 2.0" in shown[-1]
    assert "groups without a difference" in shown[-1]


def lines(directory: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (directory / "metrics.jsonl").read_text().splitlines()]


def test_a_run_trains_checkpoints_and_leaves_a_model_to_evaluate(tmp_path: Path) -> None:
    from operant.agents.registry import make_agent

    training, model = train(tmp_path, settings(actor={"keep_episodes": True}))
    assert training.iteration == 2
    assert [(line["iteration"], line["phase"]) for line in lines(tmp_path)] == [(1, "rl"), (2, "rl")]
    assert all(line["staleness"] <= 1 and line["max_staleness"] <= 1 for line in lines(tmp_path))
    assert all(line["broadcast_bytes"] > 1e6 for line in lines(tmp_path))
    assert newest(tmp_path / "checkpoints") == tmp_path / "checkpoints" / "version_000002"
    assert list((tmp_path / "tensorboard").iterdir())
    assert len(list((tmp_path / "episodes").iterdir())) >= 4
    agent = make_agent(f"vlm:{model}")
    assert agent.prompt.action_format == "ui_tars"  # type: ignore[attr-defined]
    agent.close()


def test_demonstrations_come_first_and_lora_trains_adapters_only(tmp_path: Path) -> None:
    config = settings(
        model={"use_lora": True, "lora": {"r": 2}},
        training={"demonstrations": 3, "demonstration_epochs": 2, "num_iterations": 1},
    )
    _, model = train(tmp_path, config)
    phases = [line["phase"] for line in lines(tmp_path)]
    assert phases == ["sft", "sft", "rl"]
    assert lines(tmp_path)[0]["examples"] == 3 * 2  # press, and say that it is done
    assert lines(tmp_path)[1]["loss"] < lines(tmp_path)[0]["loss"]
    assert (model / "adapter_model.safetensors").stat().st_size < 200_000
    assert lines(tmp_path)[2]["broadcast_bytes"] < 200_000


def test_a_run_goes_on_where_it_stopped_and_learns_nothing_twice(tmp_path: Path) -> None:
    first, _ = train(tmp_path)
    used = set(first.trainer.used)
    with pytest.raises(ConfigError, match="holds a run already"):
        run(tmp_path)
    config = settings(training={"num_iterations": 3})
    second, _ = train(tmp_path, config, resume=True)
    assert [line["iteration"] for line in lines(tmp_path)] == [1, 2, 3]
    assert used < set(second.trainer.used)
    assert second.trainer.version == 3


def test_episodes_that_ended_before_a_crash_are_learned_after_it(tmp_path: Path) -> None:
    first, _ = train(tmp_path)
    example = _a_trajectory(first)
    whole = [replace(example, id=f"left-{n}", group="fake/press-button-v1#5@90") for n in range(2)]
    half = [replace(example, id="left-half", group="fake/press-button-v1#5@91")]
    known = replace(example, id=first.trainer.used[0], group="fake/press-button-v1#5@92")
    for one in (*whole, *half, known):
        first.collection.store.add(one)
    (first.collection.store.directory / "torn.npz").write_bytes(b"PK\x03\x04 cut short")
    told: list[str] = []
    second = run(tmp_path, settings(training={"num_iterations": 6}), resume=True, on_progress=told.append)
    assert known.id in second.trainer.used
    second.train()
    assert "; 1 more were cut short and are left out" in told[0]
    second.close()
    assert {one.id for one in (*whole, *half)} <= set(second.trainer.used)
    assert second.trainer.used.count(known.id) == 1


def _a_trajectory(training: VLMRun) -> Trajectory:
    size = training.parts.vlm.shown(Size(1280, 800))
    prompt = Prompt.of(np.zeros((size.height, size.width, 3), np.uint8), "Task")
    answer = Generation("x", (300, 301), (-6.0, -6.0), (1, 1))
    return Trajectory("fake/press-button-v1", (Turn(prompt, answer),), Outcome.FAILURE, seed=5)


def test_lost_entropy_brings_a_supervised_phase_and_then_learning_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Entropulse.observe
    falling = iter([3.0, 2.0, 1.0, 3.0, 2.9, 2.8])  # the level after the phase is new
    monkeypatch.setattr(Entropulse, "observe", lambda self, reward, _: watch(self, reward, next(falling)))
    pulse = {"window": 1, "entropy_fraction": 0.9, "min_gain": 0.5, "cooldown": 0, "epochs": 2}
    config = settings(training={"num_iterations": 4, "entropulse": pulse})
    training = run(tmp_path, config)
    assert training.parts.successes is not None
    success = replace(_a_trajectory(training), outcome=Outcome.SUCCESS, id="an earlier success")
    training.parts.successes.add([success.with_rewards([1.0])])
    training.train()
    training.close()
    phases = [line.get("entropulse_phases") for line in lines(tmp_path)]
    assert phases == [None, 1.0, None, None]
    assert lines(tmp_path)[1]["entropulse_examples"] >= 1
    assert training.trainer.version == 5  # four updates and the phase
    again = run(tmp_path, settings(training={"num_iterations": 5, "entropulse": pulse}), resume=True)
    assert again.parts.pulse is not None
    assert again.parts.pulse.phases == 1
    assert again.parts.successes is not None
    assert "an earlier success" in {one.id for one in again.parts.successes.sample(8)}
    again.train()
    again.close()
    assert again.iteration == 5


def test_no_phase_without_a_success_to_learn_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Entropulse, "due", property(lambda self: True))
    training, _ = train(tmp_path, settings(training={"entropulse": {}}))
    assert training.parts.pulse is not None
    assert training.parts.pulse.phases == 0
    assert all("entropulse_phases" not in line for line in lines(tmp_path))


def test_two_learners_in_one_directory_are_refused(tmp_path: Path) -> None:
    first = run(tmp_path)
    with pytest.raises(ConfigError, match="another run is at work"):
        run(tmp_path)
    first.close()


def test_wrong_settings_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="nothing to go on from"):
        run(tmp_path / "a", resume=True)
    with pytest.raises(TaskError, match="no task 'fake/x-v1'"):
        run(tmp_path / "b", settings(environment={"tasks": ["fake/x-v1"]}))
    with pytest.raises(ConfigError, match="did you mean 'ppo'"):
        run(tmp_path / "c", settings(training={"algorithm": "pppo"}))
    with pytest.raises(ConfigError, match=r"training\.options"):
        run(tmp_path / "d", settings(training={"options": {"gama": 1}}))
    with pytest.raises(ConfigError, match="group_size above 1"):
        settings(training={"algorithm": "grpo", "group_size": 1})
    with pytest.raises(ConfigError, match=r"training\.lerning_rate"):
        settings(training={"lerning_rate": 1})
    moved = VLMTrainingConfig.build(model={"name": "x", "action_format": "pyautogui"})
    assert moved.prompt.action_format == "pyautogui"


LESSONS = {"demonstrations": 4, "demonstration_epochs": 3, "num_iterations": 0}


def weights(training: VLMRun) -> dict[str, Any]:
    return training.trainer.weights()


def played(directory: Path) -> list[str]:
    """The demonstrations that were ever played there, in the order in which they ended."""
    ledger = (directory / "demonstrations" / "ledger.jsonl").read_text().splitlines()
    return [json.loads(line)["id"] for line in ledger]


class TestInterruptedColdStart:
    def test_demonstrations_are_kept_as_they_come(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        keep = TrajectoryStore.keep

        def interrupted(store: TrajectoryStore, *one: Any) -> None:
            keep(store, *one)
            if len(played(tmp_path)) == 3:
                raise KeyboardInterrupt

        monkeypatch.setattr(TrajectoryStore, "keep", interrupted)
        config = settings(training={**LESSONS, "demonstrations": 8})
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path, config)
        before = len(played(tmp_path))
        assert 3 <= before <= 5  # others may have ended meanwhile
        assert saved_so_far(tmp_path) == f"{before} demonstrations"
        with pytest.raises(ConfigError, match="holds a run already"):
            run(tmp_path)
        seen: list[list[str]] = []
        step = Trainer.train_step

        def learn(trainer: Trainer, *given: Any, **more: Any) -> Any:
            seen.append(played(tmp_path))
            return step(trainer, *given, **more)

        monkeypatch.setattr(TrajectoryStore, "keep", keep)
        monkeypatch.setattr(Trainer, "train_step", learn)
        told: list[str] = []
        train(tmp_path, config, resume=True, on_progress=told.append)
        assert f"{before} of 8 demonstrations were played before" in told
        assert len(seen[0]) == len(set(seen[0])) == 8  # the rest was played, and none twice

    def test_sft_goes_on_after_its_last_update_as_if_it_had_not_stopped(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole, _ = train(tmp_path / "whole", settings(training=LESSONS))
        step = Trainer.train_step

        def interrupted(trainer: Trainer, *given: Any, **more: Any) -> Any:
            if trainer.version == 2:
                raise KeyboardInterrupt
            return step(trainer, *given, **more)

        monkeypatch.setattr(Trainer, "train_step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path / "cut", settings(training=LESSONS))
        monkeypatch.setattr(Trainer, "train_step", step)
        assert saved_so_far(tmp_path / "cut") == "4 demonstrations and the weights after 2 SFT updates"
        told: list[str] = []
        cut, _ = train(tmp_path / "cut", settings(training=LESSONS), resume=True, on_progress=told.append)
        assert "going on from SFT update 2" in told
        assert [(line["phase"], line["iteration"]) for line in lines(tmp_path / "cut")] == [
            ("sft", 1), ("sft", 2), ("sft", 3),
        ]  # fmt: skip
        assert all(bool((weights(cut)[name] == one).all()) for name, one in weights(whole).items())
        assert saved_so_far(tmp_path / "cut") == "the weights after 3 SFT updates"
        assert not (tmp_path / "cut" / "demonstrations").exists()

    def test_demonstrations_of_other_settings_do_not_count(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*_: Any, **more: Any) -> Any:
            raise KeyboardInterrupt

        monkeypatch.setattr(Trainer, "train_step", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path, settings(training=LESSONS))
        assert len(played(tmp_path)) == 4
        with pytest.raises(KeyboardInterrupt):
            train(tmp_path, settings(training=LESSONS, prompt={"action_format": "pyautogui"}), resume=True)
        assert len(played(tmp_path)) == 8

    def test_an_sft_update_says_whose_success_it_tells(self, tmp_path: Path) -> None:
        told: list[str] = []
        train(tmp_path, settings(training=LESSONS), on_progress=told.append)
        said = [line for line in told if line.startswith("sft ")]
        assert said[0].startswith("sft 1: the demonstrations' success 100%")
        assert "success_rate" not in lines(tmp_path)[0]
        assert lines(tmp_path)[0]["demonstration_success"] == 1.0


def test_a_full_disk_is_told_before_there_is_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(directory: Path, *_: Any, **__: Any) -> None:
        directory.mkdir()
        raise RuntimeError("Error while serializing: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("operant.train.vlm.parts.build_tiny_vlm", full)
    with pytest.raises(NoSpaceLeft, match=r"no space left on .*base_model") as told:
        run(tmp_path / "run")
    assert "--output" in str(told.value.hint)
    assert not list((tmp_path / "run").glob(".base_model*")), "nothing half-made is left"


@pytest.mark.parametrize("when", ["stop", "go_on"])
def test_a_full_disk_stops_the_run_or_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    fsync, calls = os.fsync, []

    def full_once(file: int) -> None:
        calls.append(file)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(file)

    monkeypatch.setattr(os, "fsync", full_once)
    config = settings(training={**LESSONS, "when_disk_full": when})
    if when == "stop":
        with pytest.raises(NoSpaceLeft, match=r"no space left on .*version_000000") as told:
            train(tmp_path, config)
        assert told.value.hint is not None
        assert saved_so_far(tmp_path) == "4 demonstrations and the weights after 1 SFT update"
        train(tmp_path, config, resume=True)
    else:
        train(tmp_path, config)
    assert [line["iteration"] for line in lines(tmp_path)][-1] == 3
    assert saved_so_far(tmp_path) == "the weights after 3 SFT updates"


@pytest.mark.parametrize("when", ["stop", "go_on"])
def test_a_disk_without_space_for_demonstrations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    def full(path: Path, data: bytes, **_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("operant.train.vlm.trajectory_store.write_atomically", full)
    config = settings(training={**LESSONS, "when_disk_full": when})
    if when == "stop":
        with pytest.raises(NoSpaceLeft, match=r"no space left on .*demonstrations/"):
            train(tmp_path, config)
        assert saved_so_far(tmp_path) == ""
    else:
        train(tmp_path, config)
        assert saved_so_far(tmp_path) == "the weights after 3 SFT updates"
