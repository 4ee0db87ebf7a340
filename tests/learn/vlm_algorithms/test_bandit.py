"""Every algorithm solves a bandit with a delayed reward, also with data that is some versions old."""

from __future__ import annotations

import copy
from collections import deque

import pytest

from operant.learn.vlm import ALGORITHMS, make_algorithm
from operant.learn.vlm.sft import SFT
from operant.learn.vlm.trainer import Trainer

from .tabular import TabularPolicy, TwoTurnBandit

SETTINGS = {
    "rejection_sampling": {"epochs": 2},
    "ppo": {"gamma": 1.0, "epochs": 3},
    "grpo": {"epochs": 2},
    "reinforce": {"epochs": 2},
    "rloo": {"epochs": 2},
}


def learn(
    name: str, updates: int, *, delay: int = 0, **settings: object
) -> tuple[float, float, list[dict[str, float]]]:
    """(success before, after, metrics of each update) with data of a policy that is ``delay`` versions old."""
    policy, bandit = TabularPolicy(3, length=1, spread=0.1), TwoTurnBandit(1)
    algorithm = make_algorithm(name, **(SETTINGS.get(name, {}) | settings))
    trainer = Trainer(policy, algorithm, batch_size=64, micro_batch=64, learning_rate=0.1, seed=0)
    before = bandit.success_rate(policy)
    older: deque[TabularPolicy] = deque([copy.deepcopy(policy)], maxlen=delay + 1)
    history: list[dict[str, float]] = []
    for _ in range(updates):
        version = max(0, trainer.version - delay)
        metrics = trainer.train_step(bandit.collect(older[0], version=version))
        history.append(metrics)
        older.append(copy.deepcopy(policy))
    return before, bandit.success_rate(policy), history


@pytest.mark.parametrize("name", sorted(set(ALGORITHMS) - {"sft"}))
def test_it_improves_a_bandit(name: str) -> None:
    before, after, history = learn(name, 60)
    assert before < 0.1
    assert after > 0.9
    assert history[-1]["success_rate"] > 0.8


def test_sft_learns_what_it_is_shown() -> None:
    policy, bandit = TabularPolicy(3, length=1), TwoTurnBandit(1)
    shown = [one for _ in range(60) for one in bandit.collect(TabularPolicy(7, length=1)) if one.success]
    trainer = Trainer(policy, SFT(epochs=5), learning_rate=0.1)
    first = trainer.train_step(shown)
    assert bandit.success_rate(policy) > 0.9
    assert first["examples"] == 2 * len(shown)


@pytest.mark.parametrize("name", ["ppo", "grpo", "rloo"])
def test_stale_data_is_corrected(name: str) -> None:
    _, after, history = learn(name, 90, delay=4, decoupled=True, importance_cap=2.0)
    assert after > 0.9
    assert max(metrics["staleness"] for metrics in history) == pytest.approx(4.0)
    assert max(abs(metrics.get("importance_weight", 1.0) - 1.0) for metrics in history) > 0.01


def test_replay_helps_when_successes_are_rare() -> None:
    from operant.learn.vlm.grpo import GRPO

    def learn_rare(replay: bool) -> float:
        reached = []
        for seed in range(6):
            policy, bandit = TabularPolicy(3, length=1, spread=0.1), TwoTurnBandit(seed)
            trainer = Trainer(policy, GRPO(replay=replay), batch_size=64, learning_rate=0.1)
            for _ in range(12):
                trainer.train_step(bandit.collect(policy, per_task=3))
            reached.append(bandit.success_rate(policy))
        return sum(reached) / len(reached)

    assert learn_rare(True) > learn_rare(False) + 0.05
