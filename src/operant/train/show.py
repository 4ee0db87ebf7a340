"""A short training run to watch: random weights, then cloned demonstrations, then PPO, each measured.

Success is measured on held-out instances by the same evaluation as everything else: with random weights, after
cloning and after PPO. Without demonstrations PPO begins from random weights, which takes longer.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from operant.agents.hierarchical.agent import HierarchicalAgent
from operant.agents.hierarchical.config import EncoderConfig, HierarchicalConfig, ManagerConfig
from operant.agents.hierarchical.labeler import HierarchicalLabeler
from operant.agents.hierarchical.policy import HierarchicalPolicy
from operant.envs.rewards import CriteriaProgress, Reward
from operant.envs.vector import DesktopVectorEnv
from operant.evaluation.evaluation_run import EvaluationRun
from operant.evaluation.plan import Asked, plan_episodes
from operant.evaluation.runner import evaluate, settings_of
from operant.evaluation.summary import lines_of, summarise
from operant.learn.seeding import seed_everything
from operant.learn.threads import use_threads
from operant.learn.trainer import PPOTrainer
from operant.pictures.film import write_gif
from operant.rollout.demonstration_collector import collect_demonstrations
from operant.rollout.lessons import LessonView, cache_directory
from operant.rollout.store import find_episodes, read_episode
from operant.tasks.suites import load_suite
from operant.tasks.template import Template
from operant.train.imitation import clone, read_lessons
from operant.train.live import LiveView

__all__ = ["AGENT", "PPO", "Shown", "learn_and_show", "measure"]

#: What the agent of a demonstration may do: the seven meta-actions of the paper and a double click.
AGENT = HierarchicalConfig(
    encoder=EncoderConfig(width=96, widgets=64, history=8, text_layers=1, joint_layers=1),
    manager=ManagerConfig(
        kinds=("click", "double_click", "type", "key", "scroll", "wait", "done"),
        keys=("enter", "tab", "esc", "delete", "ctrl+s", "ctrl+a", "alt+f4"),
    ),
)
PPO: dict[str, Any] = {
    "buffer_size": 512,
    "minibatch_size": 128,
    "update_epochs": 4,
    "learning_rate": 1e-3,
    "entropy_coefficient": 0.005,
}


@dataclass(frozen=True)
class Shown:
    """Success on held-out instances after each part, and what PPO took."""

    before: dict[str, Any]
    #: None without demonstrations.
    cloned: dict[str, Any] | None
    after: dict[str, Any]
    steps: int
    seconds: float
    checkpoint: Path
    gif: Path | None


def learn_and_show(
    tasks: Sequence[str],
    out: Path,
    *,
    minutes: float = 2.0,
    demonstrations: int = 40,
    cloning_minutes: float = 0.75,
    episodes: int = 20,
    num_envs: int = 8,
    seed: int = 0,
    suite: str = "core",
    on_progress: Callable[[str], None] = print,
) -> Shown:
    """Clone demonstrations, learn by PPO for ``minutes``, measure before and after each, and film a success."""
    templates = [template for template in load_suite(suite) if template.id in tasks]
    use_threads(1)
    seed_everything(seed)
    policy = HierarchicalPolicy(AGENT)
    shutil.rmtree(out, ignore_errors=True)
    policy.save(out / "before.pt")
    on_progress(f"success is measured on {episodes} held-out instances of each of {len(templates)} task(s)")
    before = measure(out / "before.pt", templates, episodes, out / "results")
    on_progress(f"random weights: {_rate(before)}")
    cloned = None
    if demonstrations:
        shown = [one.instance(seed, "train") for seed in range(demonstrations) for one in templates]
        on_progress(f"the oracle demonstrates {len(shown)} training instances")
        collect_demonstrations(
            shown, out / "demos", LessonView(HierarchicalLabeler(AGENT), cache_directory())
        )
        lessons = read_lessons(policy, [out / "demos"], on_progress=on_progress)
        clone(policy, lessons, out / "cloned.pt", minutes=cloning_minutes, seed=seed, on_progress=on_progress)
        cloned = measure(out / "cloned.pt", templates, episodes, out / "results")
        on_progress(f"after cloning {len(shown)} demonstrations: {_rate(cloned)}")
    env = DesktopVectorEnv(
        num_envs,
        tasks=templates,
        observations=policy.perception,
        actions=policy.action_coder,
        reward=Reward(terms=[CriteriaProgress(1.0)]),
    )
    began = time.monotonic()
    try:
        with LiveView(env, out, film=True) as view:

            def report(update: Any) -> None:
                view.update(update)
                on_progress(
                    f"{time.monotonic() - began:4.0f} s | {update.step} steps | {update.fps:.0f} a second | "
                    f"success while exploring {update.success_rate:.0%}"
                )
                if time.monotonic() - began > minutes * 60:
                    trainer.stop()

            trainer = PPOTrainer(
                policy,
                env,
                save_dir=out,
                seed=seed,
                listeners=[report],
                watch=view.watch,
                **PPO | ({"learning_rate": 1e-4} if demonstrations else {}),
            )
            trained = trainer.train(total_timesteps=10_000_000)
    finally:
        env.close()
    seconds = time.monotonic() - began
    policy.save(out / "after.pt")
    after = measure(out / "after.pt", templates, episodes, out / "results")
    on_progress(f"after PPO: {_rate(after)}")
    film = _film(out / "results", out / "learned.gif")
    return Shown(before, cloned, after, trained.step, seconds, out / "after.pt", film)


def measure(
    checkpoint: Path, templates: Sequence[Template], episodes: int, results: Path, *, workers: int = 3
) -> dict[str, Any]:
    """The deterministic policy on held-out instances."""
    plan = plan_episodes(templates, range(episodes), split="heldout")
    name = f"hierarchical:{checkpoint}"
    settings = settings_of(name, HierarchicalAgent(checkpoint), max_steps=None, act_s=60.0)
    with EvaluationRun.open(results / checkpoint.stem, settings, plan) as run:
        evaluate(run, plan, lambda: HierarchicalAgent(checkpoint), workers=workers)
        return summarise(run, lines_of(run, [Asked.of(task) for task in plan]))


def _rate(summary: dict[str, Any]) -> str:
    overall = summary["overall"]
    return f"{overall['success']:.0%} of {overall['n']} (95 %: {overall['low']:.0%} to {overall['high']:.0%})"


def _film(results: Path, path: Path) -> Path | None:
    """The shortest success as a moving picture."""
    episodes = [read_episode(directory) for directory in find_episodes(results / "after")]
    found = [episode for episode in episodes if episode.header.get("outcome") == "success"]
    if not found:
        return None
    write_gif(min(found, key=lambda episode: len(episode.steps)), path)
    return path
