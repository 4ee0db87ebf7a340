"""Whole runs, on fake desktops; and everything that must be said before any desktop starts."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from operant.agents.hierarchical.agent import DEFAULT
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.config.desktop import DesktopConfig
from operant.envs.rewards import Moment, RewardTerm
from operant.errors import (
    CheckpointError,
    ConfigError,
    DesktopDied,
    MissingProgram,
    RewardError,
    Unauthorized,
)
from operant.learn.checkpoint import load_checkpoint
from operant.learn.trainer import TrainingResult
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.train.config import TrainConfig
from operant.train.run import train

from .conftest import Settings


def run(config: TrainConfig, **options: Any) -> TrainingResult:
    return train(config, **{"tasks": FAKE_TEMPLATES, "factory": FakeDesktop.factory, **options})


def test_a_run_leaves_a_model_that_plays_and_curves(settings: Settings) -> None:
    config = settings()
    result = run(config)
    assert result.step >= 32
    assert result.updates == 2
    assert result.checkpoint == config.run.save_dir / "final_model.pt"
    kinds = sorted(name.split(".")[1] for name in os.listdir(config.run.log_dir))
    assert kinds == ["jsonl", "out"]  # progress.jsonl and TensorBoard's events.out
    policy = HierarchicalPolicy.from_checkpoint(result.checkpoint)
    assert policy.config == config.agent


def test_the_final_model_can_be_started_from_and_gone_on_with(settings: Settings) -> None:
    first = run(settings("a"))
    assert first.checkpoint is not None
    other = settings("b", agent=None)
    assert run(other, init_from=first.checkpoint).step >= 32
    longer = settings("a", training={"total_timesteps": 64, "buffer_size": 16, "num_envs": 2})
    result = run(longer, resume=True)
    assert result.step >= 64
    assert result.updates == first.updates + 2


def test_a_run_begins_with_the_agent_that_comes_with_operant(settings: Settings) -> None:
    shipped = HierarchicalPolicy.from_checkpoint(DEFAULT)
    config = settings(training={"learning_rate": 1e-9}, agent=None)
    result = run(config, init_from="default")
    assert result.checkpoint is not None
    trained = HierarchicalPolicy.from_checkpoint(result.checkpoint)
    assert trained.config == shipped.config
    for name, weight in shipped.state_dict().items():
        assert torch.allclose(weight, trained.state_dict()[name], atol=1e-6), name


def test_a_file_says_where_the_run_is_while_it_plays(settings: Settings) -> None:
    config = settings()
    told: list[dict[str, Any]] = []

    class Curious(FakeDesktop):
        def perform(self, action: Any) -> Any:
            path = config.run.log_dir / "status.json"
            if path.exists():
                told.append(json.loads(path.read_text(encoding="utf-8")))
            return super().perform(action)

    run(config, factory=Curious)
    assert told[0]["phase"] == "starting"
    assert {"step", "total", "episodes", "success_rate", "fps", "left_s"} <= told[0].keys()
    assert not (config.run.log_dir / "status.json").exists()


def test_resumed_is_uninterrupted_on_the_vector_environment_too(settings: Settings) -> None:
    """With ``asynchronous: false``; desktops can't be saved, so episodes begin anew at checkpoints."""

    def long(directory: str, total: int) -> TrainConfig:
        return settings(
            directory,
            training={"total_timesteps": total, "asynchronous": False},
            run={"checkpoint_every": 20},
            curriculum={"strategy": "variance", "window": 5},
        )

    run(long("a", 64))
    run(long("b", 32))
    (long("b", 32).run.save_dir / "final_model.pt").unlink()  # as if it had been cut off after the checkpoint
    run(long("b", 64), resume=True)
    one, other = (load_checkpoint(long(name, 64).run.save_dir / "final_model.pt") for name in "ab")
    assert one["progress"]["step"] == other["progress"]["step"] == 64
    assert one["curriculum"] == other["curriculum"]
    for name, weight in one["policy"]["weights"].items():
        assert torch.equal(weight, other["policy"]["weights"][name]), name


def test_desktops_that_die_are_replaced_and_counted(settings: Settings) -> None:
    class Mortal(FakeDesktop):
        def perform(self, action: Any) -> Any:
            self.performed = getattr(self, "performed", 0) + 1
            if self.performed == 3:
                raise DesktopDied("the display is gone")
            return super().perform(action)

    result = run(settings(training={"total_timesteps": 64, "buffer_size": 32}), factory=Mortal)
    assert result.step >= 64
    assert result.discarded > 0


@pytest.mark.parametrize("error", [Unauthorized, MissingProgram, KeyError])
def test_failures_that_nobody_foresaw_do_not_end_the_run(settings: Settings, error: type[Exception]) -> None:
    class Odd(FakeDesktop):
        def windows(self) -> Any:
            self.looked = getattr(self, "looked", 0) + 1
            if self.looked % 5 == 0:
                raise error("the server wants another token")
            return super().windows()

    result = run(settings(training={"total_timesteps": 64, "buffer_size": 32}), factory=Odd)
    assert result.step >= 64
    assert result.discarded > 0


class TestBeforeAnyDesktop:
    def refused(self, config: TrainConfig, error: type[Exception], said: str, **options: Any) -> None:
        def start(_: DesktopConfig) -> Any:
            pytest.fail("a desktop was started")

        with pytest.raises(error, match=said) as told:
            run(config, factory=start, **options)
        assert "\n" not in told.value.message  # type: ignore[attr-defined]
        assert told.value.hint  # type: ignore[attr-defined]

    def test_a_device_that_is_not_there(self, settings: Settings) -> None:
        self.refused(settings(run={"device": "cuda:9"}), ConfigError, "there is no device 'cuda:9' here")

    def test_a_difficulty_without_tasks(self, settings: Settings) -> None:
        environment = {"difficulty": "HARD", "tasks": ("core/calculator-type-sum-v1",)}
        self.refused(settings(environment=environment), ConfigError, "no HARD tasks", tasks=None)

    @pytest.mark.parametrize("name", ["log_dir", "save_dir"])
    def test_a_directory_that_can_not_be_written(self, settings: Settings, tmp_path: Path, name: str) -> None:
        (tmp_path / "file").write_text("", encoding="utf-8")
        config = settings(run={name: tmp_path / "file" / "inside"})
        self.refused(config, ConfigError, f"{name} .* can't be written")

    def test_checkpoints_of_another_run(self, settings: Settings) -> None:
        config = settings()
        config.run.save_dir.mkdir(parents=True)
        (config.run.save_dir / "checkpoint_10.pt").write_bytes(b"")
        self.refused(config, ConfigError, "of another run")
        self.refused(config, CheckpointError, "is empty", resume=True)

    def test_nothing_to_resume(self, settings: Settings) -> None:
        self.refused(settings(), CheckpointError, "no checkpoint to go on from", resume=True)

    def test_a_run_that_is_complete(self, settings: Settings) -> None:
        run(settings())
        self.refused(settings(), ConfigError, "has 32 steps already", resume=True)

    def test_weights_of_another_agent(self, settings: Settings, tmp_path: Path) -> None:
        path = tmp_path / "agent.pt"
        HierarchicalPolicy(settings().agent).save(path)
        other = settings(agent={"worker": {"crop": 32, "reach": 4}})
        self.refused(
            other, CheckpointError, r"other settings: worker\.crop is 16 there and 32 here", init_from=path
        )

    def test_both_ways_to_begin(self, settings: Settings, tmp_path: Path) -> None:
        self.refused(settings(), ConfigError, "not both", resume=True, init_from=tmp_path)


class Unwell(RewardTerm):
    """Well for three episodes, and then NaN."""

    name = "unwell"
    episodes = 0

    def begin(self, moment: Moment) -> None:
        Unwell.episodes += 1

    def score(self, moment: Moment) -> float:
        return float("nan") if Unwell.episodes > 12 else 0.0


class TestRewardTerms:
    def test_terms_are_logged_apart_from_success(self, settings: Settings) -> None:
        terms = [{"use": "action_effect", "weight": 0.5}, {"use": "pointer_nearer", "weight": 0.1}]
        config = settings(environment={"reward_terms": terms})
        run(config)
        lines = (config.run.log_dir / "progress.jsonl").read_text(encoding="utf-8").splitlines()
        told = json.loads(lines[-1])
        assert set(told["reward_terms"]) == {"success", "action_effect", "pointer_nearer"}
        assert 0.0 <= told["success_rate"] <= 1.0

    def test_a_term_that_fails_ends_the_run_and_nothing_is_lost(self, settings: Settings) -> None:
        Unwell.episodes = 0
        config = settings(
            training={"total_timesteps": 4000, "asynchronous": False},
            environment={"reward_terms": [{"use": f"{__name__}:Unwell"}]},
        )
        with pytest.raises(RewardError, match="'unwell' gave nan"):
            run(config)
        (saved,) = config.run.save_dir.glob("checkpoint_*.pt")
        assert HierarchicalPolicy.from_checkpoint(saved).config == config.agent
        Unwell.episodes = -100_000
        longer = settings(training={"total_timesteps": load_checkpoint(saved)["progress"]["step"] + 16})
        assert run(longer, resume=True).step >= 16

    def test_a_term_that_is_not_there_is_told_before_any_desktop_starts(self, settings: Settings) -> None:
        config = settings(environment={"reward_terms": [{"use": "action_efect"}]})
        with pytest.raises(ConfigError, match="no reward term 'action_efect'"):
            run(config, factory=None)
