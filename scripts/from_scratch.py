"""The first result of docs/results.md: PPO from nothing, without demonstrations, on three easy templates chosen in advance.

    python scripts/from_scratch.py --out runs/from_scratch

Measures an agent that knows nothing on held-out instances, trains it by ``operant train hierarchical --config
config/from_scratch.yaml`` for at most so many minutes, and measures it again. Ends with JSON and a figure.
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
from operant.tasks.suites import load_suite
from operant.train.config import load_config
from operant.train.show import measure

CONFIG = Path(__file__).parents[1] / "config" / "from_scratch.yaml"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="Where runs and results go.")
    parser.add_argument("--minutes", type=float, default=15.0, help="Of training, at most.")
    parser.add_argument("--episodes", type=int, default=100, help="Held-out instances of each template.")
    parser.add_argument("--seed", type=int, default=0, help="Of training.")
    asked = parser.parse_args()
    config = load_config(CONFIG)
    templates = [one for one in load_suite("core") if one.id in config.environment.tasks]
    found: dict[str, Any] = {**provenance(), "seed": asked.seed, "templates": [one.id for one in templates]}

    seed_everything(asked.seed)
    HierarchicalPolicy(config.agent).save(asked.out / "before.pt")
    found["before"] = rates(
        measure(asked.out / "before.pt", templates, asked.episodes, asked.out / "results")
    )
    found["training_s"] = train(asked.out, asked.minutes, asked.seed)
    trained = newest_checkpoint(asked.out / "checkpoints")
    found["after"] = rates(measure(trained, templates, asked.episodes, asked.out / "results"))
    found["curve"] = curve(asked.out / "logs" / PROGRESS)
    (asked.out / "result.json").write_text(json.dumps(found, indent=1) + "\n")
    draw(found, asked.out / "result.png")
    print(asked.out / "result.json")


def train(out: Path, minutes: float, seed: int) -> float:
    """How long it took. Ctrl-C makes it save and end."""
    words = ["train", "hierarchical", "--config", str(CONFIG), "--seed", str(seed)]
    places = ["--save-dir", str(out / "checkpoints"), "--log-dir", str(out / "logs")]
    began = time.monotonic()
    with subprocess.Popen([sys.executable, "-m", "operant", *words, *places]) as running:
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
