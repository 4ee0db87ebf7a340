"""Two processes that learn together do what one would do on everything."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from operant.config.learning import PPOConfig
from operant.errors import ConfigError
from operant.learn.buffer import Rollout
from operant.learn.ddp import Peers, join_peers
from operant.learn.ppo import PPOLearner
from operant.testing.toys import ToyPolicy

ONE_STEP = {"update_epochs": 1, "minibatch_size": 1000, "max_grad_norm": 1e9}

# What each process does: learn from its half, then tell its gradients and what it thinks of the others.
LEARN = """
import sys, torch
from operant.config.learning import PPOConfig
from operant.learn.buffer import Rollout
from operant.learn.ddp import join_peers, leave_peers
from operant.learn.ppo import PPOLearner
from operant.testing.toys import ToyPolicy

torch.set_num_threads(1)
directory = sys.argv[1]
peers = join_peers("cpu")
torch.manual_seed(peers.rank)
policy = ToyPolicy()
if peers.leads:
    policy.load_state_dict(torch.load(f"{directory}/policy.pt", weights_only=True))
rollout = Rollout(**torch.load(f"{directory}/rollout{peers.rank}.pt", weights_only=True))
learned = PPOLearner(policy, PPOConfig(update_epochs=1, minibatch_size=1000, max_grad_norm=1e9), peers=peers).update(rollout)
torch.save(
    {
        "gradients": {name: part.grad for name, part in policy.named_parameters()},
        "weights": policy.state_dict(),
        "counts": [learned.gradient_steps, peers.smallest(3 + peers.rank), int(peers.any(peers.rank == 1))],
        "sums": peers.sum(1.0 + peers.rank, 10.0),
    },
    f"{directory}/out{peers.rank}.pt",
)
leave_peers(peers)
"""


def make_rollout(policy: ToyPolicy, count: int) -> Rollout:
    random = torch.Generator().manual_seed(0)
    tasks = torch.nn.functional.one_hot(torch.randint(3, (count,), generator=random), 3).float()
    observations = {"task": tasks, "clock": torch.rand((count, 1), generator=random)}
    sampled = policy.sample(observations, generator=random)
    advantage = 3 + 2 * torch.randn(count, generator=random)
    return Rollout(observations, sampled.actions, sampled.log_prob, sampled.value, advantage, advantage)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_two_processes_have_the_gradients_of_one_on_the_joined_batch(tmp_path: Path) -> None:
    torch.manual_seed(3)
    policy = ToyPolicy()
    rollout = make_rollout(policy, 64)
    torch.save(policy.state_dict(), tmp_path / "policy.pt")
    for rank, rows in enumerate((range(32), range(32, 64))):
        torch.save(vars(rollout.rows(list(rows))), tmp_path / f"rollout{rank}.pt")
    port = str(free_port())
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", LEARN, str(tmp_path)],
            env={
                **os.environ,
                "WORLD_SIZE": "2",
                "RANK": str(rank),
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": port,
            },
        )
        for rank in range(2)
    ]
    try:
        assert [process.wait(timeout=100) for process in processes] == [0, 0]
    finally:
        for process in processes:
            process.kill()
            process.wait()

    PPOLearner(policy, PPOConfig(**ONE_STEP)).update(rollout)
    for rank in range(2):
        told = torch.load(tmp_path / f"out{rank}.pt", weights_only=True)
        assert told["counts"] == [1, 3, 1]
        assert told["sums"] == [3.0, 20.0]
        for name, part in policy.named_parameters():
            assert part.grad is not None
            assert torch.allclose(told["gradients"][name], part.grad, atol=1e-6), name
            assert torch.allclose(told["weights"][name], part, atol=1e-5), name


def test_a_process_on_its_own_needs_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    peers = Peers()
    assert (peers.sum(1.0, 2.0), peers.mean(3.0), peers.smallest(4), peers.any(False)) == (
        [1, 2],
        3,
        4,
        False,
    )
    assert peers.moments(torch.tensor([1.0, 3.0])) == (2.0, 1.0)
    assert join_peers().leads
    monkeypatch.setenv("WORLD_SIZE", "many")
    with pytest.raises(ConfigError, match="are numbers"):
        join_peers()
