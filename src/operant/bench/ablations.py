"""What the parts of the hierarchical agent are worth: the same learning with one left out or another in its place.

On the fake desktop, where a run takes minutes. Three questions, each with tasks of its own:

* **instruction** (PPO): one of four buttons is named; is it read?
* **pointing** (cloning, since so small a target is not found by chance): pixels only, a button smaller than a cell of
  the map; map, worker, or a Gaussian?
* **curriculum** (PPO): one button, two in order, a field to fill; which strategy gets farthest?
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from operant.agents.hierarchical.agent import HierarchicalAgent
from operant.agents.hierarchical.labeler import HierarchicalLabeler
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.envs.task_environment import TaskEnvironment
from operant.errors import ConfigError
from operant.evaluation.statistics import wilson
from operant.learn.imitation import Cloning, Lessons
from operant.learn.seeding import seed_everything
from operant.learn.threads import use_threads
from operant.rollout.demonstrations import DaggerAgent, DemonstrationWriter
from operant.rollout.lessons import LessonView
from operant.rollout.loop import run_episode
from operant.tasks.draw import Draw
from operant.tasks.template import Template
from operant.testing.fake_desktop import FakeDesktop
from operant.testing.fake_tasks import FillField, PressButton, PressInOrder
from operant.train.config import TrainConfig
from operant.train.run import train
from operant.types import Difficulty

__all__ = ["VARIANTS", "measure_ablations"]

Values = dict[str, Any]


class HitTarget(PressButton):
    """The only button, 18 pixels wide."""

    id = "fake/hit-target-v1"
    instructions = ("Press {target}.", "Hit {target}.")

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        name = draw.word().capitalize()
        draw.given.append(name)
        widgets, log = [f"button:{name}"], [f"pressed {name}"]
        return {"target": name, "widgets": widgets, "log": log, "place": draw.place(60, 36)}


class TwoInOrder(PressInOrder):
    id = "fake/two-in-order-v1"
    difficulty = Difficulty.MEDIUM


class HardField(FillField):
    id = "fake/hard-field-v1"
    difficulty = Difficulty.HARD


ENCODER: Values = {
    "width": 64, "heads": 2, "widgets": 24, "history": 6, "vocabulary": 1024, "text_layers": 1, "joint_layers": 1,
    "instruction_tokens": 32, "reading_tokens": 0,
}  # fmt: skip
KINDS = ("click", "double_click", "type", "key", "wait", "done")
SHOWN, EPOCHS = 600, 40
STAGES: Values = {"strategy": "stages", "min_steps_per_stage": 2000, "window": 50}


@dataclass(frozen=True)
class Variant:
    """One run."""

    tasks: tuple[Template, ...]
    encoder: Values = field(default_factory=dict)
    manager: Values = field(default_factory=dict)
    worker: Values = field(default_factory=dict)
    curriculum: Values = field(default_factory=dict)
    demonstrations: int = 0
    """Cloned instead of PPO, if any."""

    def config(self, steps: int, seed: int, out: Path) -> TrainConfig:
        manager = {"kinds": KINDS, "keys": ("enter", "tab", "esc"), **self.manager}
        built: TrainConfig = TrainConfig.build(
            training={
                "total_timesteps": steps, "seed": seed, "buffer_size": 512, "minibatch_size": 128,
                "learning_rate": 1e-3, "entropy_coefficient": 0.005,
            },
            environment={"progress": 1.0},
            curriculum=self.curriculum,
            run={"save_dir": out / "checkpoints", "log_dir": out / "logs", "threads": 1},
            agent={"encoder": {**ENCODER, **self.encoder}, "manager": manager, "worker": self.worker},
        )  # fmt: skip
        return built


_NAMED, _SMALL = (PressButton(),), (HitTarget(),)
_STAGED = (PressButton(), TwoInOrder(), HardField())
_PIXELS: Values = {"widgets": 0}
_CLICKS: Values = {"kinds": ("click", "done")}
VARIANTS: dict[str, dict[str, Variant]] = {
    "instruction": {
        "with it": Variant(_NAMED),
        "without it": Variant(_NAMED, encoder={"use_instruction": False}),
    },
    "pointing": {
        "map and worker": Variant(_SMALL, _PIXELS, _CLICKS, demonstrations=SHOWN),
        "map, no worker": Variant(_SMALL, _PIXELS, _CLICKS, {"refine": False}, demonstrations=SHOWN),
        "gaussian": Variant(_SMALL, _PIXELS, {**_CLICKS, "pointing": "gaussian"}, demonstrations=SHOWN),
    },
    "curriculum": {
        "none": Variant(_STAGED),
        "stages": Variant(_STAGED, curriculum=STAGES),
        "learning progress": Variant(_STAGED, curriculum={"strategy": "learning_progress", "window": 50}),
        "variance": Variant(_STAGED, curriculum={"strategy": "variance", "window": 50}),
    },
}


def measure_ablations(
    progress: Callable[[str], None],
    questions: Sequence[str] = (),
    *,
    only: str | None = None,
    steps: int = 12_000,
    episodes: int = 100,
    seeds: int = 1,
) -> dict[str, Any]:
    """Variants of those questions (all if none is named): held-out success of the deterministic policy, by task."""
    asked = list(questions) or list(VARIANTS)
    for question in asked:
        if question not in VARIANTS:
            raise ConfigError(f"there is no question {question!r}", hint=f"questions: {', '.join(VARIANTS)}")
    names = {name for question in asked for name in VARIANTS[question]}
    if only not in (None, *names):
        raise ConfigError(f"there is no variant {only!r}", hint=f"variants: {', '.join(sorted(names))}")
    found: dict[str, Any] = {"steps": steps, "seeds": list(range(seeds)), "episodes": episodes, "runs": []}
    for question in asked:
        for name, variant in VARIANTS[question].items():
            for seed in range(seeds) if only in (None, name) else ():
                progress(f"{question}: {name}, seed {seed}")
                found["runs"].append(
                    {
                        "question": question,
                        "variant": name,
                        "seed": seed,
                        **_run(variant, steps, episodes, seed),
                    }
                )
    return found


def _run(variant: Variant, steps: int, episodes: int, seed: int) -> Values:
    with tempfile.TemporaryDirectory(prefix="operant-ablation-") as place:
        config = variant.config(steps, seed, Path(place))
        blank = Path(place) / "blank.pt"
        HierarchicalPolicy(config.agent).save(blank)
        before = _success(blank, variant.tasks, episodes)
        began = time.monotonic()
        final = config.run.save_dir / "final_model.pt"
        if variant.demonstrations:
            _clone(variant, config, final)
        else:
            train(config, tasks=variant.tasks, factory=FakeDesktop.factory, on_progress=lambda line: None)
        seconds = time.monotonic() - began
        after = _success(final, variant.tasks, episodes)
    return {"seconds": round(seconds, 1), "before": before, "after": after}


def _clone(variant: Variant, config: TrainConfig, out: Path) -> None:
    use_threads(1)
    seed_everything(config.training.seed)
    policy = HierarchicalPolicy(config.agent)
    lessons, labeler = Lessons(policy), HierarchicalLabeler(policy.config)
    with FakeDesktop() as desktop:
        for seed in range(variant.demonstrations):
            for template in variant.tasks:
                desktop.reset()
                environment = TaskEnvironment(desktop, with_tree=True)
                writer = DemonstrationWriter(out.parent / "demonstrations", by_learner=False)
                run_episode(DaggerAgent(labeler), environment, template.instance(seed), writer, seed=seed)
                lessons.add(template.id, LessonView(labeler, None).read(writer.directory).arrays)
    Cloning(policy, seed=config.training.seed).learn(lessons, epochs=EPOCHS)
    policy.save(out)


def _success(checkpoint: Path, tasks: Sequence[Template], episodes: int) -> dict[str, Values]:
    agent = HierarchicalAgent(checkpoint)
    rates = {}
    for template in tasks:
        won = 0
        with FakeDesktop() as desktop:
            for seed in range(episodes):
                desktop.reset()
                environment = TaskEnvironment(desktop, with_tree=agent.policy.perception.with_tree)
                won += run_episode(agent, environment, template.instance(seed, "heldout"), seed=seed).success
        low, high = wilson(won, episodes)
        rates[template.id] = {"success": won / episodes, "low": round(low, 3), "high": round(high, 3)}
    return rates
