"""``operant train``: let an agent learn on sandboxed desktops."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from operant.cli.data_flags import DATA_DIR
from operant.cli.desktop_flags import (
    Actions,
    DesktopProfile,
    Monitors,
    Network,
    PathToVM,
    ProviderConfigFile,
    ProviderNames,
    Proxy,
    Screen,
    desktop_section,
)
from operant.cli.logs import log_at
from operant.cli.output_flags import FileOption
from operant.cli.task_flags import SUITE, Only, Suite, TaskIds, task_ids
from operant.cli.train_vlm import vlm
from operant.errors import ConfigError

app = typer.Typer(no_args_is_help=True)
app.command()(vlm)

InitFrom = Annotated[
    str | None,
    typer.Option(
        metavar="FILE|default",
        help="Begin with the weights of this checkpoint, or of the agent that comes with Operant (default).",
        show_default="new weights",
    ),
]


@app.callback()
def train() -> None:
    """Train an agent by reinforcement learning; Ctrl-C saves, and --resume goes on."""


class WithBareCurriculum(TyperCommand):
    """``--curriculum`` without a name means the stages."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        full: list[str] = []
        for place, word in enumerate(args):
            full.append(word)
            if word == "--curriculum" and (place + 1 == len(args) or args[place + 1].startswith("-")):
                full.append("stages")
        return super().parse_args(ctx, full)


@app.command(cls=WithBareCurriculum)
def hierarchical(
    total_timesteps: Annotated[
        int | None, typer.Option(help="Environment steps of the whole run.", show_default="100000")
    ] = None,
    rollout_steps: Annotated[
        int | None,
        typer.Option(help="Steps between updates, over all desktops (buffer_size).", show_default="2048"),
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="Step size of Adam.", show_default="0.0003")
    ] = None,
    difficulty: Annotated[
        str | None, typer.Option(help="Only EASY, MEDIUM or HARD tasks; with stages, where to begin.")
    ] = None,
    suite: Annotated[str | None, typer.Option(help=SUITE, show_default="core")] = None,
    tasks: TaskIds = None,
    curriculum: Annotated[
        str | None,
        typer.Option(
            help="none, stages, learning_progress or variance; without a name, stages.", show_default="none"
        ),
    ] = None,
    num_envs: Annotated[
        int | None, typer.Option(help="Desktops that are played on at once.", show_default="8")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Decides tasks, actions and first weights.", show_default="0")
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, cuda:1, mps or auto.", show_default="$DEVICE, or cpu")
    ] = None,
    save_dir: Annotated[
        Path | None, typer.Option(help="Where checkpoints go.", show_default=f"{DATA_DIR}/checkpoints")
    ] = None,
    log_dir: Annotated[
        Path | None,
        typer.Option(help="Where TensorBoard's files and films go.", show_default=f"{DATA_DIR}/logs"),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the newest checkpoint in --save-dir.")
    ] = False,
    init_from: InitFrom = None,
    visualize: Annotated[
        bool, typer.Option("--visualize", help="Serve a page to watch the run, and film it.")
    ] = False,
    profile: Annotated[
        bool, typer.Option("--profile", help="Write a cProfile file to --log-dir, and print its head.")
    ] = False,
    config: Annotated[
        Path | None, typer.Option(help="YAML file.", show_default="config/config.yaml, if it is there")
    ] = None,
    screen: Screen = None,
    monitors: Monitors = None,
    desktop_profile: DesktopProfile = None,
    network: Network = None,
    proxy: Proxy = None,
    actions: Actions = None,
    provider: ProviderNames = None,
    provider_config: ProviderConfigFile = None,
    path_to_vm: PathToVM = None,
) -> None:
    """Train the hierarchical agent with PPO. Flags win over the environment, and that over the file."""
    from operant.train.config import TrainConfig

    flags: dict[str, Any] = {
        "training.total_timesteps": total_timesteps,
        "training.buffer_size": rollout_steps,
        "training.learning_rate": learning_rate,
        "training.num_envs": num_envs,
        "training.seed": seed,
        "environment.difficulty": difficulty,
        "environment.tasks": task_ids(tasks),
        "environment.suite": suite,
        "curriculum.strategy": curriculum,
        "run.device": device,
        "run.save_dir": save_dir,
        "run.log_dir": log_dir,
        "run.visualize": visualize or None,
        "desktop": desktop_section(screen, monitors, desktop_profile, network, proxy, actions) or None,
        "provider": provider,
        "provider_config": provider_config,
        "path_to_vm": path_to_vm,
    }
    settings = TrainConfig.load(config, flags=flags)
    log_at(settings.run.log_level)

    from operant.desktop.providers import open_provider
    from operant.train.profiling import profiled
    from operant.train.run import train as run

    with (
        open_provider(settings, settings.desktop, settings.training.num_envs) as source,
        _watched(settings.run.log_dir, settings.run.port) if settings.run.visualize else nullcontext(),
        profiled(settings.run.log_dir, _say) if profile else nullcontext(),
    ):
        result = run(settings, resume=resume, init_from=init_from, factory=source.start, on_progress=_say)
    typer.echo(
        f"{'interrupted' if result.interrupted else 'trained'}: {result.step} steps, {result.episodes} episodes, "
        f"{result.success_rate:.1%} success over the last ones, {result.seconds:.0f} s, {result.checkpoint}"
    )
    if result.interrupted:
        instead = "" if init_from is None else " in place of --init-from"
        typer.echo(f"the same command with --resume{instead} goes on from there", err=True)
        raise typer.Exit(130)


Demos = Annotated[
    list[Path], typer.Option(help="Directory of demonstrations; may be given several times.", exists=True)
]


@app.command()
def clone(
    demos: Demos,
    out: Annotated[Path, FileOption(help="Where the checkpoint goes.")],
    suite: Annotated[
        str | None,
        typer.Option(
            help=f"Learn only demonstrations of these tasks. {SUITE}", show_default="all that are there"
        ),
    ] = None,
    updates: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many updates to learn: the same result on a slow machine as on a fast one.",
            show_default="as many as the minutes allow",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(min=0.01, help="How long to learn at most.", show_default="15, or none with --updates"),
    ] = None,
    learning_rate: Annotated[float, typer.Option(min=1e-9, max=1.0, help="The highest step size.")] = 1e-3,
    init_from: InitFrom = None,
    seed: Annotated[int, typer.Option(help="Decides first weights and the order of lessons.")] = 0,
    threads: Annotated[int, typer.Option(min=1, help="Processor threads.")] = 2,
) -> None:
    """Clone the behaviour that demonstrations show (see operant demos collect)."""
    from operant.learn.seeding import seed_everything
    from operant.learn.threads import use_threads
    from operant.train.imitation import clone as learn
    from operant.train.imitation import load_or_make, read_lessons
    from operant.train.tasks import training_templates

    only = None if suite is None else {template.id for template in training_templates(suite)}
    use_threads(threads)
    seed_everything(seed)
    policy = load_or_make(init_from)
    lessons = read_lessons(policy, demos, only=only, on_progress=_say)
    loss = learn(
        policy, lessons, out,
        minutes=15.0 if minutes is None and updates is None else minutes, updates=updates,
        learning_rate=learning_rate, seed=seed, on_progress=_say,
    )  # fmt: skip
    _say(f"{out} | loss {loss:.3f} | {policy.parameter_count} parameters")


@app.command()
def dagger(
    demos: Demos,
    out: Annotated[Path, FileOption(help="Where the checkpoint goes.")],
    init_from: InitFrom = None,
    minutes: Annotated[float, typer.Option(min=0.01, help="How long to learn.")] = 60.0,
    learning_rate: Annotated[float, typer.Option(min=1e-9, max=1.0, help="The highest step size.")] = 1e-3,
    beta: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of the oracle's steps at first.")
    ] = 0.5,
    suite: Suite = "core",
    difficulty: Annotated[str | None, typer.Option(help="Only EASY, MEDIUM or HARD.")] = None,
    tasks: TaskIds = None,
    only: Only = "",
    seed: Annotated[int, typer.Option(min=0, help="The first seed of the instances.")] = 10_000,
    workers: Annotated[int, typer.Option(min=1, help="Desktops at once.")] = 2,
    threads: Annotated[int, typer.Option(min=1, help="Processor threads of each process.")] = 1,
) -> None:
    """Let the learner play while the oracles say what they would have done, and learn from that (DAgger).

    Playing and learning go on at the same time, each in a process of its own.
    """
    from operant.learn.threads import use_threads
    from operant.train.imitation import dagger as learn
    from operant.train.imitation import load_or_make
    from operant.train.tasks import training_templates

    use_threads(threads)
    templates = training_templates(suite, difficulty, only, ids=task_ids(tasks) or (), oracle=True)
    learn(
        load_or_make(init_from), suite, templates, demos, out,
        minutes=minutes, learning_rate=learning_rate, beta=beta, first_seed=seed, workers=workers,
        threads=threads, on_progress=_say,
    )  # fmt: skip


@contextmanager
def _watched(log_dir: Path, port: int) -> Iterator[None]:
    """A page to watch the run on, in a process of its own."""
    log_dir.mkdir(parents=True, exist_ok=True)
    page = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "operant.service.training.page",
            str(log_dir.resolve()),
            str(port),
            str(os.getpid()),
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is meant for the training
    )
    try:
        address = page.stdout.readline().strip() if page.stdout else ""
        if address:
            _say(f"watch it at {address}")
        else:
            said = (page.communicate()[1].strip().splitlines() or [""])[-1]
            if "No module named" in said:
                raise ConfigError(
                    f"--visualize needs the service: {said}", hint='pip install "operant[service]"'
                )
            raise ConfigError(
                f"the page of the run does not start: {said}", hint="run.port: 0 takes a free port"
            )
        yield
    finally:
        page.terminate()
        page.communicate(timeout=10)


def _say(line: str) -> None:
    typer.echo(line, err=True)
