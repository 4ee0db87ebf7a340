"""What PPO does, as docs/results.md shows it: from nothing, or for an agent that imitation has taught.

    python scripts/ppo_result.py --out runs/from_scratch
    python scripts/ppo_result.py --out runs/after --config config/after_imitation.yaml --init-from agent.pt --tasks ...

Measures the agent on held-out instances of some templates, trains it by ``operant train hierarchical --config ...``
for at most so many minutes, and measures it again. Ends with JSON and a figure.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.bench.record import provenance
from operant.learn.checkpoint import newest_checkpoint
from operant.learn.logs import PROGRESS
from operant.learn.seeding import seed_everything
from operant.train.config import TrainConfig
from operant.train.show import measure
from operant.train.tasks import choose_tasks

FROM_SCRATCH = Path(__file__).parents[1] / "config" / "from_scratch.yaml"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="Where runs and results go.")
    parser.add_argument("--config", type=Path, default=FROM_SCRATCH, help="Settings of the run.")
    parser.add_argument("--init-from", type=Path, help="A checkpoint to begin with; otherwise from nothing.")
    parser.add_argument("--tasks", help="Templates, separated by commas; otherwise those of the settings.")
    parser.add_argument("--minutes", type=float, default=15.0, help="Of training, at most.")
    parser.add_argument("--episodes", type=int, default=100, help="Held-out instances of each template.")
    parser.add_argument("--seed", type=int, default=0, help="Of training.")
    asked = parser.parse_args()
    config = TrainConfig.load(asked.config)
    wanted = tuple(asked.tasks.split(",")) if asked.tasks else config.environment.tasks
    if not wanted:
        parser.error("name the templates: --tasks, or environment.tasks in the settings")
    environment = config.environment.model_copy(update={"tasks": wanted})
    templates = choose_tasks(config.model_copy(update={"environment": environment}))
    found: dict[str, Any] = {**provenance(), "seed": asked.seed, "templates": [one.id for one in templates]}

    seed_everything(asked.seed)
    begins = (
        HierarchicalPolicy.from_checkpoint(asked.init_from)
        if asked.init_from
        else HierarchicalPolicy(config.agent)
    )
    begins.save(asked.out / "before.pt")
    found["before"] = rates(
        measure(asked.out / "before.pt", templates, asked.episodes, asked.out / "results")
    )
    found["training_s"] = train(
        asked.out,
        asked.minutes,
        ["--config", str(asked.config), "--seed", str(asked.seed)]
        + ["--tasks", ",".join(one.id for one in templates)]
        + (["--init-from", str(asked.init_from)] if asked.init_from else []),
    )
    trained = newest_checkpoint(asked.out / "checkpoints")
    found["after"] = rates(measure(trained, templates, asked.episodes, asked.out / "results"))
    found["curve"] = curve(asked.out / "logs" / PROGRESS)
    (asked.out / "result.json").write_text(json.dumps(found, indent=1) + "\n")
    draw(found, asked.out / "result.png")
    print(asked.out / "result.json")


def train(out: Path, minutes: float, flags: list[str]) -> float:
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


def rates(summary: dict[str, Any]) -> dict[str, Any]:
    return {"overall": summary["overall"], "by_task": summary["by_task"]}


def curve(path: Path) -> list[list[float]]:
    """(step, success of the last episodes, while exploring)."""
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [[line["step"], line["success_rate"]] for line in lines]


def draw(found: dict[str, Any], path: Path) -> None:
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


if __name__ == "__main__":
    main()
