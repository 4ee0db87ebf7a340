"""One training run, from settings to the final model: checks first, then desktops, then learning.

``train`` raises whatever is wrong with settings, directories, devices, tasks and checkpoints before any desktop starts.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loguru import logger

from operant.config.writable import check_writable
from operant.envs.desktop_env import DesktopFactory, start_desktop
from operant.envs.reward_terms import make_term
from operant.envs.rewards import (
    CriteriaProgress,
    InvalidPenalty,
    Reward,
    RewardHackAlarm,
    RewardTerm,
    StepCost,
)
from operant.envs.vector import DesktopVectorEnv
from operant.envs.weighted_source import WeightedSource
from operant.errors import ConfigError, MissingDependency
from operant.train.config import EnvironmentConfig, TrainConfig
from operant.train.live import LiveView
from operant.train.preflight import check_new_run, first_weights
from operant.train.tasks import choose_tasks, stages_of, starting_stage

if TYPE_CHECKING:
    from operant.agents.hierarchical.policy import HierarchicalPolicy
    from operant.agents.trainable import TrainablePolicy
    from operant.learn.progress import RunStatus, UpdateReport
    from operant.learn.trainer import TrainingResult
    from operant.tasks.template import Template

__all__ = ["train"]


def train(
    config: TrainConfig,
    *,
    resume: bool = False,
    init_from: str | Path | None = None,
    policy: TrainablePolicy | None = None,
    tasks: tuple[Template, ...] | None = None,
    factory: DesktopFactory = start_desktop,
    on_progress: Callable[[str], None] = logger.info,
) -> TrainingResult:
    """Train a hierarchical agent, or a ``policy`` of one's own that has its ``perception`` and ``action_coder``.

    ``init_from`` is a checkpoint, or ``default``: the agent that comes with Operant.
    """
    if resume and init_from is not None:
        raise ConfigError("a run is resumed or started from other weights, not both", hint="leave one out")
    if importlib.util.find_spec("torch") is None:
        raise MissingDependency("PyTorch is not installed", hint="pip install 'operant[learn]'")
    config.check()
    templates = choose_tasks(config) if tasks is None else tasks
    reward = _reward(config.environment, config.training.gamma)

    from operant.agents.device import pick_device
    from operant.learn.curriculum import make_curriculum
    from operant.learn.ddp import join_peers, leave_peers
    from operant.learn.logs import ConsoleLog, ProgressLog, StatusLog, TensorBoardLog, unless_disk_full
    from operant.learn.seeding import seed_everything
    from operant.learn.threads import use_threads
    from operant.learn.trainer import PPOTrainer

    device = pick_device(config.run.device)
    check_writable(config.run.log_dir, "log_dir")
    check_writable(config.run.save_dir, "save_dir")
    if not resume:
        check_new_run(config.run.save_dir)
    use_threads(config.run.threads)
    seed_everything(config.training.seed)
    checkpoint = _checkpoint_to_resume(config) if resume else None
    agent: Any = policy if policy is not None else _make_agent(config, checkpoint or first_weights(init_from))
    first = starting_stage(config)
    curriculum = make_curriculum(
        stages_of(templates), config.curriculum, start=None if first is None else first.value
    )

    for directory in (config.run.log_dir, config.run.save_dir):
        directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as closing:
        peers = join_peers(device.type if device.index is None else str(device))
        closing.callback(leave_peers, peers)
        env = DesktopVectorEnv(
            config.training.num_envs,
            source=WeightedSource(templates, curriculum, profile=config.desktop.chosen_profile),
            observations=agent.perception,
            actions=agent.action_coder,
            reward=reward,
            end_on_success=config.environment.end_on_success,
            desktop=config.desktop,
            factory=factory,
            spares=config.environment.spares,
            in_order=not config.training.asynchronous,
        )
        closing.callback(env.close)
        listeners: list[Callable[[UpdateReport], None]] = []
        status_listeners: list[Callable[[RunStatus], None]] = []
        watch = None
        if peers.leads:
            console = ConsoleLog(config.training.total_timesteps)
            closing.callback(console.close)
            board = TensorBoardLog(
                config.run.log_dir,
                frame=lambda: env.observations[0].screen if env.observations else None,
            )
            closing.callback(board.close)
            lines = ProgressLog(config.run.log_dir)
            closing.callback(lines.close)
            now = StatusLog(config.run.log_dir)
            closing.callback(now.close)
            kept = [unless_disk_full(log, config.run.log_dir) for log in (board, lines)]
            view = closing.enter_context(LiveView(env, config.run.log_dir, film=config.run.visualize))
            watch = view.watch
            listeners = [console, *kept, _alarm(), view.update]
            status_listeners = [
                console.status,
                view.status,
                unless_disk_full(now.status, config.run.log_dir),
            ]
        trainer = PPOTrainer(
            agent,
            env,
            config.training,
            curriculum=curriculum,
            save_dir=config.run.save_dir,
            checkpoint_every=config.run.checkpoint_every,
            seed=config.training.seed,
            listeners=listeners,
            status_listeners=status_listeners,
            watch=watch,
            peers=peers,
            when_disk_full=config.run.when_disk_full,
        )
        return trainer.train(config.training.total_timesteps, resume=checkpoint)


def _checkpoint_to_resume(config: TrainConfig) -> Path:
    from operant.learn.checkpoint import load_checkpoint, newest_checkpoint

    path = newest_checkpoint(config.run.save_dir)
    step = int(load_checkpoint(path)["progress"]["step"])
    if step >= config.training.total_timesteps:
        raise ConfigError(
            f"{path} has {step} steps already", hint="ask for more of them with --total-timesteps"
        )
    return path


def _make_agent(config: TrainConfig, weights: Path | None) -> HierarchicalPolicy:
    from operant.agents.hierarchical.policy import HierarchicalPolicy

    if weights is None:
        return HierarchicalPolicy(config.agent)
    return HierarchicalPolicy.from_checkpoint(weights, config.agent)


def _reward(config: EnvironmentConfig, gamma: float) -> Reward:
    terms: list[RewardTerm] = []
    if config.step_cost:
        terms.append(StepCost(config.step_cost))
    if config.invalid_penalty:
        terms.append(InvalidPenalty(config.invalid_penalty))
    if config.progress:
        terms.append(CriteriaProgress(config.progress, gamma))
    terms += [make_term(one.use, one.weight, gamma=gamma) for one in config.reward_terms]
    return Reward(terms)


def _alarm() -> Callable[[UpdateReport], None]:
    """Warns when shaping is earned and nothing is achieved."""
    alarm = RewardHackAlarm()

    def listen(report: UpdateReport) -> None:
        for ended in report.ended:
            if not ended.discard and ended.terms:
                alarm.record(ended.terms, success=ended.success)

    return listen
