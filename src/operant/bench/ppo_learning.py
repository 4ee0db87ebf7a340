"""What PPO does: from random weights, or for an agent that imitation has taught.

Measures the agent on held-out instances of some templates, trains it by ``operant train hierarchical --config ...`` for
at most so many minutes, and measures it again. Leaves JSON and a figure.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.errors import ConfigError
from operant.learn.checkpoint import newest_checkpoint
from operant.learn.logs import PROGRESS
from operant.learn.seeding import seed_everything
from operant.train.config import TrainConfig
from operant.train.show import measure
from operant.train.tasks import choose_tasks

__all__ = ["measure_ppo"]


def measure_ppo(
    out: Path,
    config_file: Path,
    *,
    tasks: Sequence[str] = (),
    init_from: Path | None = None,
    minutes: float = 15.0,
    episodes: int = 100,
    seed: int = 0,
) -> dict[str, Any]:
    """Success on held-out instances before and after, and the curve between. Runs and results go to ``out``."""
    config = TrainConfig.load(config_file)
    wanted = tuple(tasks) or config.environment.tasks
    if not wanted:
        raise ConfigError("no templates are named", hint="--tasks, or environment.tasks in the settings")
    environment = config.environment.model_copy(update={"tasks": wanted})
    templates = choose_tasks(config.model_copy(update={"environment": environment}))
    found: dict[str, Any] = {"seed": seed, "templates": [one.id for one in templates]}

    seed_everything(seed)
    begins = HierarchicalPolicy.from_checkpoint(init_from) if init_from else HierarchicalPolicy(config.agent)
    begins.save(out / "before.pt")
    found["before"] = _rates(measure(out / "before.pt", templates, episodes, out / "results"))
    found["training_s"] = _train(
        out,
        minutes,
        ["--config", str(config_file), "--seed", str(seed)]
        + ["--tasks", ",".join(one.id for one in templates)]
        + (["--init-from", str(init_from)] if init_from else []),
    )
    trained = newest_checkpoint(out / "checkpoints")
    found["after"] = _rates(measure(trained, templates, episodes, out / "results"))
    found["curve"] = _curve(out / "logs" / PROGRESS)
    _draw(found, out / "result.png")
    return found


def _train(out: Path, minutes: float, flags: list[str]) -> float:
    """How long it took. Ctrl-C makes it save and end."""
    places = ["--save-dir", str(out / "checkpoints"), "--log-dir", str(out / "logs")]
    began = time.monotonic()
    command = [sys.executable, "-m", "operant", "train", "hierarchical", *flags, *places]
    with subprocess.Popen(command) as running:
        try:
            running.wait(minutes * 60)
        except subprocess.TimeoutExpired:
            running.send_signal(signal.SIGINT)
    return round(time.monotonic() - began, 1)


def _rates(summary: dict[str, Any]) -> dict[str, Any]:
    return {"overall": summary["overall"], "by_task": summary["by_task"]}


def _curve(path: Path) -> list[list[float]]:
    """(step, success of the last episodes, while exploring)."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [[line["step"], line["success_rate"]] for line in lines]


def _draw(found: dict[str, Any], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    axes.plot(*zip(*found["curve"], strict=True), label="while exploring, training instances")
    for name, place in (("before", 0), ("after", found["curve"][-1][0])):
        rate = found[name]["overall"]
        ends = [[rate["success"] - rate["low"]], [rate["high"] - rate["success"]]]
        axes.errorbar(place, rate["success"], ends, fmt="o", capsize=4, label=f"{name}, held-out")
    axes.set(ylim=(0, 1.02), xlabel="environment steps", ylabel="success")
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)
