"""The training loop: it learns, it saves, it goes on exactly, and nothing ends it silently."""

from __future__ import annotations

import errno
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
import torch

from operant.config.learning import CurriculumConfig
from operant.errors import CheckpointError, ConfigError, DesktopDied, NoSpaceLeft, TrainingDiverged
from operant.learn import PPOTrainer
from operant.learn.checkpoint import load_checkpoint
from operant.learn.curriculum import make_curriculum
from operant.learn.progress import RunStatus, UpdateReport
from operant.testing.toys import ToyEnvironments, ToyPolicy

FAST = {"buffer_size": 64, "minibatch_size": 32, "learning_rate": 0.01, "update_epochs": 2}


def trainer(
    save_dir: Path | None = None, *, env: Any = None, policy: Any = None, **options: Any
) -> PPOTrainer:
    torch.manual_seed(7)
    policy = policy if policy is not None else ToyPolicy()
    env = env if env is not None else ToyEnvironments(4)
    return PPOTrainer(policy, env, save_dir=save_dir, **{**FAST, **options})


@pytest.mark.learning
@pytest.mark.parametrize("options", [{}, {"asynchronous": False}, {"overlap": True}], ids=str)
def test_it_learns(options: dict[str, Any]) -> None:
    reports: list[UpdateReport] = []
    env = ToyEnvironments(4, max_steps=1)
    result = trainer(env=env, listeners=[reports.append], **options).train(total_timesteps=4000)
    assert reports[0].success_rate < 0.7
    assert result.success_rate > 0.9
    assert result.step >= 4000
    assert not result.interrupted
    assert result.skipped == result.discarded == 0
    assert [report.update for report in reports] == list(range(1, result.updates + 1))
    assert reports[-1].updates == result.updates


def test_the_critic_is_taught_before_the_policy() -> None:
    policy = ToyPolicy()
    kinds = policy.kind.weight.clone()
    worth = policy.worth.weight.clone()
    weights = []
    training = trainer(
        policy=policy, critic_warmup=2, listeners=[lambda report: weights.append(policy.kind.weight.clone())]
    )
    training.train(total_timesteps=3 * FAST["buffer_size"])
    assert [torch.equal(one, kinds) for one in weights] == [True, True, False]
    assert not torch.equal(policy.worth.weight, worth)


def test_an_empty_run_and_a_buffer_too_small_are_refused() -> None:
    with pytest.raises(ConfigError, match="nothing to train"):
        trainer().train(total_timesteps=0)
    with pytest.raises(ConfigError, match="smaller than the number of environments"):
        trainer(buffer_size=3)
    with pytest.raises(ConfigError, match="learning_rat is not a setting"):
        trainer(learning_rat=0.1)


class TestSaving:
    def test_checkpoints_are_named_by_the_steps_crossed(self, tmp_path: Path) -> None:
        trainer(tmp_path, checkpoint_every=100).train(total_timesteps=300)
        assert sorted(os.listdir(tmp_path)) == [
            "checkpoint_100.pt",
            "checkpoint_200.pt",
            "checkpoint_300.pt",
            "final_model.pt",
        ]
        assert load_checkpoint(tmp_path / "final_model.pt")["progress"]["step"] == 320

    @pytest.mark.parametrize("when", ["stop", "go_on"])
    def test_a_full_disk_stops_the_run_or_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
    ) -> None:
        fsync, calls = os.fsync, []

        def full_once(file: int) -> None:
            calls.append(file)
            if len(calls) == 2:
                raise OSError(errno.ENOSPC, "No space left on device")
            fsync(file)

        monkeypatch.setattr(os, "fsync", full_once)
        training = trainer(tmp_path, checkpoint_every=100, when_disk_full=when)
        if when == "stop":
            with pytest.raises(NoSpaceLeft, match=r"no space left on .*checkpoint_200"):
                training.train(total_timesteps=300)
        else:
            training.train(total_timesteps=300)
            assert {"checkpoint_300.pt", "final_model.pt"} <= set(os.listdir(tmp_path))
        assert "checkpoint_200.pt" not in os.listdir(tmp_path)
        assert load_checkpoint(tmp_path / "checkpoint_100.pt")["progress"]["step"] == 128

    @pytest.mark.parametrize("whole", [True, False], ids=["saved-mid-episode", "new-episodes"])
    def test_interrupted_and_resumed_is_uninterrupted(self, tmp_path: Path, whole: bool) -> None:
        """To the last bit: weights, optimiser, generators, curriculum and counters."""

        def make(save_dir: Path) -> PPOTrainer:
            curriculum = make_curriculum(
                {"EASY": ["toy/task0-v1"], "MEDIUM": ["toy/task1-v1"], "HARD": ["toy/task2-v1"]},
                CurriculumConfig(strategy="stages", window=20, min_steps_per_stage=100),
            )
            env = ToyEnvironments(4, weights=curriculum) if whole else Unsaved(4, weights=curriculum)
            return trainer(
                save_dir,
                env=env,
                curriculum=curriculum,
                asynchronous=False,
                checkpoint_every=200,
                anneal=True,
            )

        make(tmp_path / "a").train(total_timesteps=900)
        make(tmp_path / "b").train(total_timesteps=900)
        first = make(tmp_path / "c")
        if whole:
            # In the middle of a rollout, far from any checkpoint.
            stop_after(first, 330)
            interrupted = first.train(total_timesteps=900)
            assert interrupted.interrupted
            assert interrupted.checkpoint is not None
            assert interrupted.checkpoint.name == "checkpoint_320.pt"
            cut = interrupted.checkpoint
        else:
            first.train(total_timesteps=900)
            cut = tmp_path / "c" / "checkpoint_400.pt"
        torch.manual_seed(12345)
        make(tmp_path / "c").train(total_timesteps=900, resume=cut)
        runs = [load_checkpoint(tmp_path / name / "final_model.pt") for name in "abc"]
        for run in runs:
            run["progress"].pop("seconds")
        assert same(runs[0], runs[1]), "the run itself is not deterministic"
        assert same(runs[0], runs[2])
        assert runs[0]["curriculum"]["at"] > 0

    def test_a_checkpoint_for_another_policy_is_refused(self, tmp_path: Path) -> None:
        trainer(tmp_path).train(total_timesteps=64)
        other = trainer(tmp_path, policy=ToyPolicy(width=8))
        with pytest.raises(CheckpointError, match="another network"):
            other.train(total_timesteps=128, resume=tmp_path / "final_model.pt")

    def test_a_finished_run_can_be_made_longer(self, tmp_path: Path) -> None:
        trainer(tmp_path).train(total_timesteps=64)
        result = trainer(tmp_path).train(total_timesteps=128, resume=tmp_path / "final_model.pt")
        assert (result.step, result.updates) == (128, 2)


class Unsaved:
    """Toy environments that can't be saved, as desktops can't."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        toys = ToyEnvironments(*arguments, **options)
        self.num_envs, self.reset, self.step = toys.num_envs, toys.reset, toys.step


def stop_after(training: PPOTrainer, steps: int) -> None:
    """Ask to stop once an environment has been told to do so many steps."""
    made = 0

    def watch(index: int, action: Any) -> None:
        nonlocal made
        made += 1
        if made == steps:
            training.stop()

    training.collector.watch = watch


def same(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


class TestWhileItPlays:
    def test_steps_and_episodes_are_counted_in_the_middle_of_a_rollout(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("operant.learn.trainer.STATUS_S", 0.0)
        told: list[RunStatus] = []
        training = trainer(status_listeners=[told.append], env=ToyEnvironments(4, max_steps=1))
        result = training.train(total_timesteps=128)
        first = [status for status in told if status.update == 0]
        assert [status.phase for status in first] == [
            "starting",
            *["collecting"] * (len(first) - 2),
            "learning",
        ]
        playing = [status for status in first if status.phase == "collecting"]
        assert [status.step for status in playing] == [status.rollout_step for status in playing]
        assert playing[0].step < playing[5].step < playing[-1].step == 64
        assert 0 < playing[0].episodes < playing[-1].episodes
        assert all(status.success_rate is not None and status.left_s is not None for status in playing)
        assert (told[0].success_rate, told[0].left_s, told[0].total) == (None, None, 128)
        assert told[-1].step == result.step
        assert told[-1].episodes == result.episodes

    def test_counting_goes_on_where_a_resumed_run_was(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("operant.learn.trainer.STATUS_S", 0.0)
        first = trainer(tmp_path).train(total_timesteps=64)
        told: list[RunStatus] = []
        trainer(tmp_path, status_listeners=[told.append]).train(128, resume=tmp_path / "final_model.pt")
        playing = [status for status in told if status.phase == "collecting"]
        assert 64 < playing[0].step < 72
        assert playing[0].episodes >= first.episodes

    @pytest.mark.parametrize("overlap", [False, True])
    def test_the_first_rollouts_are_short(self, overlap: bool) -> None:
        reports: list[UpdateReport] = []
        options = {"first_rollout": 8, "overlap": overlap, "listeners": [reports.append]}
        result = trainer(**options).train(total_timesteps=250)
        assert [report.step for report in reports] == [8, 24, 56, 120, 184, 248, 312]
        assert reports[-1].updates == result.updates

    def test_a_critic_that_is_warmed_up_gets_whole_rollouts(self) -> None:
        reports: list[UpdateReport] = []
        trainer(first_rollout=8, critic_warmup=1, listeners=[reports.append]).train(total_timesteps=128)
        assert [report.step for report in reports] == [64, 128]

    @pytest.mark.parametrize("overlap", [False, True])
    def test_a_stop_learns_from_what_was_played(self, tmp_path: Path, overlap: bool) -> None:
        training = trainer(tmp_path, overlap=overlap)
        before = {name: part.clone() for name, part in training.policy.state_dict().items()}
        stop_after(training, 30)
        result = training.train(total_timesteps=1000)
        assert result.interrupted
        assert 20 < result.step < 64
        assert result.episodes > 0
        assert result.updates == 1
        assert [path.name for path in tmp_path.iterdir()] == [f"checkpoint_{result.step}.pt"]
        saved = load_checkpoint(tmp_path / f"checkpoint_{result.step}.pt")
        assert saved["progress"]["step"] == result.step
        assert not all(torch.equal(part, before[name]) for name, part in saved["policy"]["weights"].items())
        again = trainer(tmp_path).train(total_timesteps=128, resume=result.checkpoint)
        assert again.step >= 128

    def test_a_second_ctrl_c_in_the_last_update_keeps_what_was_there_before(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        training = trainer(tmp_path)
        stop_after(training, 94)

        def impatient(*_: Any) -> Any:
            raise KeyboardInterrupt

        update = training.ppo.update
        monkeypatch.setattr(
            training.ppo, "update", lambda *given: (impatient if training._stopping else update)(*given)
        )
        with pytest.raises(KeyboardInterrupt):
            training.train(total_timesteps=1000)
        assert load_checkpoint(tmp_path / "checkpoint_64.pt")["progress"]["update"] == 1


class TestTrouble:
    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    @pytest.mark.parametrize("overlap", [False, True])
    def test_ctrl_c_saves_and_ends(self, tmp_path: Path, number: signal.Signals, overlap: bool) -> None:
        before = signal.getsignal(number)

        def press(report: UpdateReport) -> None:
            if report.update == 3:
                os.kill(os.getpid(), number)

        result = trainer(tmp_path, listeners=[press], overlap=overlap).train(total_timesteps=100_000)
        assert result.interrupted
        # What was collected ahead is learned from.
        assert result.updates in ((3, 4) if overlap else (3,))
        assert result.checkpoint is not None
        assert load_checkpoint(result.checkpoint)["progress"]["update"] == result.updates
        assert signal.getsignal(number) is before
        assert not [thread for thread in threading.enumerate() if "operant-collect" in thread.name]

    def test_desktops_that_die_do_not_end_the_run_and_are_counted(self) -> None:
        env = ToyEnvironments(4, lost=range(0, 400, 7))
        result = trainer(env=env).train(total_timesteps=500)
        assert result.discarded > 5
        assert not result.interrupted

    def test_an_environment_that_is_beyond_repair_ends_it_in_words_with_everything_saved(
        self, tmp_path: Path
    ) -> None:
        class Dying(ToyEnvironments):
            def recv(self, count: int | None = None) -> tuple[Any, ...]:
                if len(self.log) > 150:
                    raise DesktopDied("no desktop works any more")
                return super().recv(count)

        with pytest.raises(DesktopDied):
            trainer(tmp_path, env=Dying(4)).train(total_timesteps=1000)
        assert load_checkpoint(tmp_path / "checkpoint_128.pt")["progress"]["update"] == 2

    def test_weights_that_are_not_finite_are_never_saved(self, tmp_path: Path) -> None:
        training = trainer(tmp_path, learning_rate=1e30, target_kl=None, max_grad_norm=1e30)
        with pytest.raises(TrainingDiverged):
            training.train(total_timesteps=10_000)
        for path in tmp_path.glob("*.pt"):
            weights = load_checkpoint(path)["policy"]["weights"].values()
            assert all(bool(torch.isfinite(weight).all()) for weight in weights)
