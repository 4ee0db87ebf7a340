"""The learner: exact micro-batches, nothing twice, exact resumption, and honest refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from operant.agents.vlm.trajectory import Trajectory
from operant.errors import CheckpointError, ConfigError, TrainingDiverged
from operant.learn.vlm import make_algorithm
from operant.learn.vlm.checkpoint import arrays, load_state, newest, prune, write_checkpoint
from operant.learn.vlm.entropulse import Entropulse
from operant.learn.vlm.grpo import GRPO
from operant.learn.vlm.ppo import PPO
from operant.learn.vlm.replay import SuccessReplay
from operant.learn.vlm.sft import SFT
from operant.learn.vlm.trainer import Trainer
from operant.types import Outcome

from .tabular import TabularPolicy, TwoTurnBandit, random_trajectories


def trained(algorithm: object, **settings: object) -> torch.Tensor:
    policy = TabularPolicy(1)
    trainer = Trainer(policy, algorithm, learning_rate=0.05, **settings)  # type: ignore[arg-type]
    for round in range(3):
        trainer.train_step(random_trajectories(policy, round))
    return policy.logits.detach()


@pytest.mark.parametrize("make", [GRPO, PPO, lambda: GRPO(decoupled=True), SFT])
def test_micro_batches_change_nothing(make: object) -> None:
    whole = trained(make(), batch_size=6, micro_batch=6)  # type: ignore[operator]
    parts = trained(make(), batch_size=6, micro_batch=1)  # type: ignore[operator]
    torch.testing.assert_close(whole, parts, atol=1e-5, rtol=1e-5)


def test_nothing_is_trained_on_twice_unless_asked() -> None:
    policy = TabularPolicy(1)
    trajectories = [replace(one, id=str(index)) for index, one in enumerate(random_trajectories(policy))]
    trainer = Trainer(policy, GRPO(), learning_rate=0.05)
    assert trainer.train_step(trajectories)["trajectories"] == 8
    before = policy.logits.detach().clone()
    again = trainer.train_step([*trajectories, trajectories[0]])
    assert again["trajectories"] == again["examples"] == 0
    assert trainer.version == 1
    assert torch.equal(policy.logits, before)
    assert trainer.train_step(trajectories, SFT(), reuse=True)["examples"] > 0


def test_infra_errors_are_no_experience() -> None:
    policy = TabularPolicy(1)
    broken = [replace(one, outcome=Outcome.INFRA_ERROR) for one in random_trajectories(policy)]
    assert Trainer(policy, SFT()).train_step(broken)["examples"] == 0


def test_answers_without_their_tokens_are_refused() -> None:
    policy = TabularPolicy(1)
    (first, *_) = random_trajectories(policy)
    turn = first.turns[0]
    bare = replace(first, turns=(replace(turn, answer=replace(turn.answer, log_probs=())),))
    with pytest.raises(ConfigError, match="without its sampled tokens"):
        Trainer(policy, GRPO()).train_step([bare])
    assert Trainer(policy, SFT()).train_step([bare])["examples"] >= 0
    with pytest.raises(ConfigError, match="did you mean 'grpo'"):
        make_algorithm("gpro")


def test_what_is_not_finite_is_skipped_and_then_an_error() -> None:
    policy = TabularPolicy(1)
    trainer = Trainer(policy, SFT(), learning_rate=0.05)
    before = policy.logits.detach().clone()
    with torch.no_grad():
        policy.logits[0, 0, 0] = float("nan")
    data = random_trajectories(TabularPolicy(1))
    for _ in range(4):
        trainer.train_step(data, reuse=True)
    with pytest.raises(TrainingDiverged, match="not finite 5 times"):
        trainer.train_step(data, reuse=True)
    assert torch.equal(policy.logits.detach().nan_to_num(0)[1:], before[1:])


def test_epochs_end_when_the_policy_has_moved_far() -> None:
    policy = TabularPolicy(1)
    bandit = TwoTurnBandit()
    with torch.no_grad():
        policy.logits.mul_(0.0)
    moved = []
    for target in (None, 1e-4):
        twin = TabularPolicy(1)
        twin.logits.data.zero_()
        trainer = Trainer(twin, GRPO(epochs=50), learning_rate=0.05, target_kl=target)
        bandit.generator.manual_seed(3)
        trainer.train_step(bandit.collect(twin))
        moved.append(twin.logits.detach().abs().max().item())
    assert moved[1] < moved[0] / 3


@pytest.mark.parametrize("name", ["ppo", "grpo"])
def test_a_resumed_run_goes_on_exactly(name: str, tmp_path: Path) -> None:
    settings = {"replay": True} if name == "grpo" else {}

    def run(stop: int | None) -> torch.Tensor:
        policy, bandit = TabularPolicy(1, length=1), TwoTurnBandit(2)
        trainer = Trainer(policy, make_algorithm(name, **settings), learning_rate=0.05, batch_size=16)
        for round in range(6):
            bandit.generator.manual_seed(round)
            trainer.train_step(bandit.collect(policy))
            if round == stop:
                write_checkpoint(tmp_path, trainer.version, trainer.state(), _save(policy))
                policy = TabularPolicy(9, length=1)
                trainer = Trainer(policy, make_algorithm(name, **settings), learning_rate=0.05, batch_size=16)
                found = newest(tmp_path)
                assert found is not None
                policy.logits.data.copy_(torch.load(found / "model", weights_only=True))
                trainer.restore(arrays_of(load_state(found)))
        return policy.logits.detach()

    torch.testing.assert_close(run(2), run(None), atol=0, rtol=0)


def arrays_of(state: dict[str, object]) -> dict[str, object]:
    return {**state, "algorithm": arrays(state["algorithm"])}


def _save(policy: TabularPolicy):  # type: ignore[no-untyped-def]
    return lambda path: torch.save(policy.logits.detach(), path)


def test_checkpoints_are_whole_newest_and_pruned(tmp_path: Path) -> None:
    for version in (1, 2, 10):
        write_checkpoint(tmp_path, version, {"version": version}, lambda path: path.mkdir())
    assert newest(tmp_path) == tmp_path / "version_000010"
    prune(tmp_path, 2)
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["version_000002", "version_000010"]
    (tmp_path / "version_000010" / "state.pt").write_bytes(b"nonsense")
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        load_state(tmp_path / "version_000010")
    with pytest.raises(CheckpointError, match="no checkpoint"):
        load_state(tmp_path)
    assert newest(tmp_path / "nowhere") is None


def test_trajectories_survive_their_plain_form() -> None:
    for one in random_trajectories(TabularPolicy(1)):
        back = Trajectory.from_plain(one.plain())
        assert back.plain() == one.plain()
        assert back.turns[0].answer == one.turns[0].answer


def test_replay_is_bounded_and_forgets_fairly() -> None:
    replay = SuccessReplay(per_task=2)
    (won, *_) = [one for one in random_trajectories(TabularPolicy(1)) if one.success]
    for index in range(50):
        replay.add([replace(won, id=str(index), seed=0), replace(won, id=f"b{index}", seed=1)])
    replay.add([replace(won, id="49", outcome=Outcome.FAILURE)])
    assert len(replay) == 4
    assert len(replay.sample(1)) == 2
    recalled = replay.recall(replace(won, seed=1))
    assert recalled is not None
    assert recalled.seed == 1
    assert replay.recall(replace(won, seed=2)) is None
    twin = SuccessReplay(per_task=2)
    twin.restore(replay.state())
    assert [one.id for one in twin.sample(2)] == [one.id for one in replay.sample(2)]


def test_entropulse_is_due_when_reward_is_flat_and_entropy_gone() -> None:
    pulse = Entropulse(window=3, entropy_fraction=0.5, min_gain=0.02, cooldown=5)

    def feed(count: int, reward: float, entropy: float, gain: float = 0.0) -> None:
        for step in range(count):
            pulse.observe(reward + gain * step, entropy)

    feed(3, 0.2, 1.0)
    feed(6, 0.3, 0.2, gain=0.1)
    assert not pulse.due  # still improving
    feed(6, 0.9, 0.9)
    assert not pulse.due  # flat, but it still explores
    feed(6, 0.9, 0.2)
    assert pulse.due
    twin = Entropulse(window=3, entropy_fraction=0.5, min_gain=0.02, cooldown=5)
    twin.restore(pulse.state())
    assert twin.due
    pulse.done()
    assert not pulse.due
    assert pulse.phases == 1
    feed(3, 0.9, 0.8)
    feed(1, 0.9, 0.1)
    assert not pulse.due  # too soon
    feed(8, 0.9, 0.1)
    assert pulse.due
