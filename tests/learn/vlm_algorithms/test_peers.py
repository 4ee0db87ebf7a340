"""Two processes that train one policy do what one does on everything, and end with the same weights."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import torch

from operant.learn.vlm.ppo import PPO
from operant.learn.vlm.trainer import Trainer

from .tabular import TabularPolicy, random_trajectories

TRAIN = """
import sys
sys.path.insert(0, sys.argv[4])
import torch
from tabular import TabularPolicy, random_trajectories
from operant.learn.ddp import leave_peers, meet_peers
from operant.learn.vlm.ppo import PPO
from operant.learn.vlm.trainer import Trainer

torch.set_num_threads(1)
rank, address, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
peers = meet_peers(rank, 2, address, torch.device("cpu"), 60)
policy = TabularPolicy(seed=rank)  # the second takes over what the first has
trainer = Trainer(policy, PPO(epochs=2, decoupled=True), 5, 0.05, micro_batch=2, seed=0, peers=peers, target_kl=10.0)
metrics = trainer.train_step(random_trajectories(TabularPolicy(0)))
torch.save({"weights": trainer.weights(), "critic": trainer.critic.state_dict(), "metrics": metrics}, out)
leave_peers(peers)
"""


def test_two_learn_what_one_would(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    here = str(Path(__file__).parent)
    both = [
        subprocess.Popen(
            [sys.executable, "-c", TRAIN, str(rank), address, str(tmp_path / f"{rank}.pt"), here],
            stderr=subprocess.PIPE,
        )
        for rank in range(2)
    ]
    for process in both:
        _, errors = process.communicate(timeout=90)
        assert process.returncode == 0, errors.decode()
    first, second = (torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2))
    alone = Trainer(
        TabularPolicy(seed=0), PPO(epochs=2, decoupled=True), 5, 0.05, micro_batch=2, seed=0, target_kl=10.0
    )
    expected = alone.train_step(random_trajectories(TabularPolicy(0)))
    assert alone.critic is not None
    for found in (first, second):
        torch.testing.assert_close(found["weights"], alone.weights(), rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(found["critic"], dict(alone.critic.state_dict()), rtol=1e-4, atol=1e-5)
        assert found["metrics"]["examples"] == expected["examples"]
    assert abs(first["metrics"]["loss"] - expected["loss"]) < 1e-4
    assert first["metrics"] == second["metrics"]
