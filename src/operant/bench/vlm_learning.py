"""A tiny vision-language model on real desktops: demonstrations, then each of three algorithms.

Each stage is a command of ``operant``. One that is done is not done again, so the same call goes on after an
interruption. Leaves JSON and a figure.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from operant.errors import ConfigError

__all__ = ["ALGORITHMS", "measure_vlm_learning"]

ALGORITHMS: dict[str, list[str]] = {
    "grpo": [],
    "ppo": ["training.algorithm=ppo", "training.group_size=1", "training.groups_per_update=32"],
    "rejection_sampling": ["training.algorithm=rejection_sampling"],
}


def measure_vlm_learning(
    out: Path,
    config: Path,
    *,
    episodes: int = 80,
    seed: int = 0,
    only: Sequence[str] = (),
    assignments: Sequence[str] = (),
) -> dict[str, Any]:
    """Held-out success before, after demonstrations and after each algorithm. Evaluation takes seeds from 0 on."""
    for name in only:
        if name not in ALGORITHMS:
            raise ConfigError(
                f"there is no algorithm {name!r} here", hint=f"algorithms: {', '.join(ALGORITHMS)}"
            )
    stages = LearningStages(out, config, episodes, [*assignments, f"training.seed={seed}"])
    stages.demonstrate()
    for name in only or ALGORITHMS:
        stages.reinforce(name, ALGORITHMS[name])
    stages.evaluate_all()
    _draw(stages.found, out / "result.png")
    return stages.found


class LearningStages:
    """What is done, and what came of it."""

    def __init__(self, out: Path, config: Path, episodes: int, settings: list[str]) -> None:
        self.out = out
        self.config = config
        self.episodes = episodes
        self.settings = settings
        self.found: dict[str, Any] = {
            "suite": "clicks",
            "split": "heldout",
            "settings": settings,
            "stages": {},
        }

    def demonstrate(self) -> None:
        self._train("sft", ["training.num_iterations=0"])

    def reinforce(self, name: str, settings: list[str]) -> None:
        start = [f"model.name={self._model('sft')}", "training.demonstrations=0"]
        self._train(name, [*settings, *start])

    def evaluate_all(self) -> None:
        self._evaluate("before", self.out / "sft" / "base_model")
        for name in ("sft", *ALGORITHMS):
            if (self.out / name / "seconds").exists():
                self._evaluate(name, self._model(name))

    def _model(self, name: str) -> Path:
        return max((self.out / name / "checkpoints").glob("version_*")) / "model"

    def _train(self, name: str, settings: list[str]) -> None:
        directory = self.out / name
        if (directory / "seconds").exists():
            return
        resume = ["--resume"] if (directory / "checkpoints").exists() else []
        changes = [part for setting in (*self.settings, *settings) for part in ("--set", setting)]
        began = time.monotonic()
        _operant("train", "vlm", "--config", str(self.config), "--output", str(directory), *changes, *resume)
        (directory / "seconds").write_text(f"{time.monotonic() - began:.0f}\n")

    def _evaluate(self, name: str, model: Path) -> None:
        place = self.out / "results" / name
        summary = self.out / f"{name}.json"
        if not summary.exists():
            said = _operant(
                *("eval", "--agent", f"vlm:{model}", "--suite", "clicks", "--split", "heldout"),
                *("--episodes", str(self.episodes), "--max-steps", "3", "--result-dir", str(place), "--json"),
            )
            summary.write_text(said)
        found = json.loads(summary.read_text())
        seconds = self.out / name / "seconds"
        self.found["stages"][name] = {
            "overall": found["overall"],
            "by_task": found["by_task"],
            "commit": found["commit"],
            "training_s": float(seconds.read_text()) if seconds.exists() else None,
            "curve": _curve(self.out / name / "metrics.jsonl"),
        }


def _operant(*words: str) -> str:
    print("operant", *words, file=sys.stderr, flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "operant", *words], check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


def _curve(path: Path) -> list[list[float]]:
    """(update, success of its episodes) of a run's reinforcement learning."""
    if not path.exists():
        return []
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [[line["iteration"], line["success_rate"]] for line in lines if line["phase"] == "rl"]


def _draw(found: dict[str, Any], path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (bars, curves) = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    stages = found["stages"]
    for place, (_, stage) in enumerate(stages.items()):
        rate = stage["overall"]
        ends = [[rate["success"] - rate["low"]], [rate["high"] - rate["success"]]]
        bars.bar(place, rate["success"], color="#4477aa")
        bars.errorbar(place, rate["success"], ends, color="black", capsize=4)
    bars.set_xticks(range(len(stages)), [name.replace("_", "\n") for name in stages])
    bars.set(ylim=(0, 1), ylabel="held-out success, 95 %")
    for name, stage in stages.items():
        if stage["curve"]:
            curves.plot(*zip(*stage["curve"], strict=True), label=name)
    curves.set(ylim=(0, 1), xlabel="update", ylabel="success of sampled episodes")
    if curves.lines:
        curves.legend(frameon=False)
    for axes in (bars, curves):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)
