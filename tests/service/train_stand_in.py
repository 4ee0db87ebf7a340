"""Stands in for a training: writes progress and a checkpoint every moment until it is done or stopped."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("--total-timesteps", type=int, required=True)
parser.add_argument("--save-dir", dest="out", type=Path, required=True)
parser.add_argument("--log-dir", type=Path, required=True)
parser.add_argument("--difficulty")
parser.add_argument("--curriculum", action="store_true")
for flag in ("--suite", "--tasks", "--rollout-steps", "--num-envs"):
    parser.add_argument(flag)
parser.add_argument("--seed", type=int)
parser.add_argument("--init-from")
parser.add_argument("--resume", action="store_true")
asked = parser.parse_args()
checkpoints = [int(path.stem.partition("_")[2]) for path in asked.out.glob("checkpoint_*.pt")]
reached = max(checkpoints, default=0) if asked.resume else 0
times_asked = 0


def stop(*_: object) -> None:
    """Save and end; with an unwilling seed only when it is asked again, and without saving."""
    global times_asked
    times_asked += 1
    if asked.seed == 14:
        if times_asked > 1:
            sys.exit(3)
        return
    (asked.out / f"checkpoint_{reached}.pt").touch()
    sys.exit(0)


if asked.seed == 13:
    print("error: 13 is an unlucky number\nhint: choose another seed", file=sys.stderr)
    sys.exit(1)
signal.signal(signal.SIGTERM, stop)
print("training", os.environ.get("OPERANT_REQUEST_ID", ""), flush=True)
if asked.seed == 16:  # collects its first rollout for ever
    now = {
        "phase": "collecting", "step": 312, "total": asked.total_timesteps, "rollout_step": 56, "rollout_steps": 128,
        "update": 0, "episodes": 14, "discarded": 0, "success_rate": 3 / 14, "counted": 14, "fps": 10.4,
        "left_s": 9585.0, "seconds": 30.0,
    }  # fmt: skip
    (asked.out / "status.json").write_text(json.dumps(now))
    signal.pause()
with open(asked.out / "progress.jsonl", "a") as progress:
    for step in range(reached + 100, asked.total_timesteps + 1, 100):
        share = step / asked.total_timesteps
        update = {
            "step": step,
            "fps": 120.0,
            "mean_reward": share,
            "success_rate": 0.1 if asked.seed == 15 else share,
            "policy_loss": 1 - share,
            "value_loss": float("nan") if step == 100 else 0.5 - share / 3,
            "entropy": 2 - share,
            "stage": "EASY" if share < 0.5 else "MEDIUM",
            "reward_terms": {"success": share / 2, "shaping": share / 4, "step": -0.1},
        }
        progress.write(json.dumps(update) + "\n")
        progress.flush()
        reached = step
        time.sleep(0.03)
(asked.out / "final_model.pt").write_bytes(b"weights")
