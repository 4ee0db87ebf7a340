"""``operant bench ppo|vlm-learning|ablations``: measurements that train. They take minutes to hours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from operant.cli.bench_output import Json, Out, deliver, plain_table, progress_on_stderr
from operant.cli.task_flags import TaskIds, task_ids

__all__ = ["ablations", "ppo", "vlm_learning"]

Runs = Annotated[Path, typer.Option("--runs", help="Where runs, checkpoints, results and the figure go.")]
Seed = Annotated[int, typer.Option(min=0, help="Of training.")]


def ppo(
    runs: Runs,
    config: Annotated[Path, typer.Option(help="Settings of the run.")] = Path("config/from_scratch.yaml"),
    init_from: Annotated[
        Path | None, typer.Option(help="A checkpoint to begin with.", show_default="random weights")
    ] = None,
    tasks: TaskIds = None,
    minutes: Annotated[float, typer.Option(min=0.05, help="Of training, at most.")] = 15.0,
    episodes: Annotated[int, typer.Option(min=1, help="Held-out instances of each template.")] = 100,
    seed: Seed = 0,
    as_json: Json = False,
    out: Out = None,
) -> None:
    """Train by PPO for some minutes; success on held-out instances before and after."""
    from operant.bench.ppo_learning import measure_ppo
    from operant.bench.record import provenance

    found = measure_ppo(
        runs,
        config,
        tasks=task_ids(tasks) or (),
        init_from=init_from,
        minutes=minutes,
        episodes=episodes,
        seed=seed,
    )
    deliver({**provenance(), **found}, as_json, out, plain_table)


def vlm_learning(
    runs: Runs,
    config: Annotated[Path, typer.Option(help="Settings of the runs.")] = Path("config/vlm_tiny_cpu.yaml"),
    episodes: Annotated[int, typer.Option(min=1, help="Held-out episodes of each template.")] = 80,
    seed: Seed = 0,
    only: Annotated[
        list[str] | None, typer.Option(help="Only this algorithm; may be given several times.")
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", help="Passed on to every training run.")] = None,
    as_json: Json = False,
    out: Out = None,
) -> None:
    """Train a tiny vision-language model by demonstrations and three algorithms; goes on after an interruption."""
    from operant.bench.record import provenance
    from operant.bench.vlm_learning import measure_vlm_learning

    found = measure_vlm_learning(
        runs, config, episodes=episodes, seed=seed, only=only or (), assignments=set_ or ()
    )
    deliver({**provenance(), **found}, as_json, out, plain_table)


def ablations(
    question: Annotated[
        list[str] | None,
        typer.Option(help="instruction, pointing or curriculum; may be given several times."),
    ] = None,
    variant: Annotated[str | None, typer.Option(help="Only this one: variants can run side by side.")] = None,
    steps: Annotated[int, typer.Option(min=1, help="Environment steps of each run of PPO.")] = 12_000,
    episodes: Annotated[int, typer.Option(min=1, help="Held-out instances of each task.")] = 100,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each variant.")] = 1,
    as_json: Json = False,
    out: Out = None,
) -> None:
    """Leave out one part of the hierarchical agent after another, on the fake desktop."""
    from operant.bench.ablations import measure_ablations
    from operant.bench.record import provenance

    with progress_on_stderr() as progress:
        found = measure_ablations(
            progress, question or (), only=variant, steps=steps, episodes=episodes, seeds=seeds
        )
    deliver({**provenance(), **found}, as_json, out, plain_table)
