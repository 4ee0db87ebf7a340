"""``operant train vlm``: train a vision-language agent on desktops."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from operant.cli.data_flags import DATA_DIR
from operant.cli.desktop_flags import (
    Actions,
    DesktopProfile,
    LogLevel,
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
from operant.cli.task_flags import SUITE, TaskIds, task_ids

if TYPE_CHECKING:
    from operant.config.vlm_training import VLMTrainingConfig

app = typer.Typer()


@app.command()
def vlm(
    config: Annotated[Path, typer.Option(help="Settings: model, environment, actor, training.")],
    suite: Annotated[
        str | None, typer.Option(help=f"{SUITE} (environment.suite)", show_default="as configured")
    ] = None,
    tasks: TaskIds = None,
    output: Annotated[
        Path | None, typer.Option(help="The run's directory.", show_default=f"{DATA_DIR}/vlm")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in that directory.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Build every part with a tiny model, make one update, and stop.")
    ] = False,
    cluster: Annotated[
        str | None,
        typer.Option(help="Run on Ray: local, auto, or ray://HOST:PORT.", show_default="in this process"),
    ] = None,
    mode: Annotated[
        Literal["async", "sync"] | None,
        typer.Option(
            help="Actors go on while the learner learns, or wait for it.", show_default="as configured"
        ),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="Another value, as section.key=value; may be given several times."),
    ] = None,
    device: Annotated[
        str | None,
        typer.Option(
            help="cpu, cuda, cuda:1, mps or auto (model.device).", show_default="$DEVICE, or as configured"
        ),
    ] = None,
    log_level: LogLevel = None,
    screen: Screen = None,
    monitors: Monitors = None,
    profile: DesktopProfile = None,
    network: Network = None,
    proxy: Proxy = None,
    actions: Actions = None,
    provider: ProviderNames = None,
    provider_config: ProviderConfigFile = None,
    path_to_vm: PathToVM = None,
) -> None:
    """Train a vision-language model on sandboxed desktops by reinforcement learning."""
    from operant.config.places import place
    from operant.config.settings import read_environment
    from operant.config.vlm_training import VLMTrainingConfig
    from operant.errors import ConfigError

    output = output or place("vlm")
    overrides = [*(set_ or ()), *_staleness(mode)]
    section = desktop_section(screen, monitors, profile, network, proxy, actions)
    flags = {
        "model.device": device,
        "environment.suite": suite,
        "environment.tasks": task_ids(tasks),
        "desktop": section or None,
        "provider": provider,
        "provider_config": provider_config,
        "path_to_vm": path_to_vm,
    }
    settings = VLMTrainingConfig.load(config, assignments=overrides, flags=flags)
    variables = read_environment(also=[settings.environment.ui_env_token_variable])
    log_at(log_level or variables.get("LOG_LEVEL") or "INFO")
    if mode == "async" and not settings.training.max_staleness:
        raise ConfigError(
            "training.max_staleness is 0, which is synchronous", hint="raise it, or say --mode sync"
        )
    if dry_run:
        from operant.train.vlm.dry_run import dry_run as try_out

        typer.echo(json.dumps(try_out(settings), indent=1))
        return

    try:
        model = _train(settings, output, resume, cluster)
    except KeyboardInterrupt:
        from operant.train.vlm.run_directory import saved_so_far

        saved = saved_so_far(output)
        typer.echo(
            f"stopped; {output} has {saved}: the same command with --resume goes on from there"
            if saved
            else f"stopped before anything was saved in {output}: the same command begins anew",
            err=True,
        )
        raise
    typer.echo(str(model))
    typer.echo(f"operant eval --agent vlm:{model} --suite {settings.environment.suite}", err=True)


def _staleness(mode: str | None) -> list[str]:
    return ["training.max_staleness=0"] if mode == "sync" else []


def _train(settings: VLMTrainingConfig, output: Path, resume: bool, cluster: str | None) -> Path | None:
    def on_progress(line: str) -> None:
        typer.echo(line, err=True)

    from operant.train.vlm.run_directory import check_directory
    from operant.train.vlm.tasks import task_source

    # Importing the model libraries takes seconds: what is wrong without them is told before.
    check_directory(output, resume=resume)
    task_source(settings)
    if cluster is not None:
        from operant.cluster.ray_connection import check_address

        check_address(cluster)
        from operant.cluster.run import ClusterRun
        from operant.tasks.suites import with_absolute_files

        # Ray's workers have other working directories.
        where = {"suite": with_absolute_files(settings.environment.suite)}
        settings = settings.model_copy(update={"environment": settings.environment.model_copy(update=where)})

        return ClusterRun(settings, output, address=cluster, resume=resume, on_progress=on_progress).train()

    from operant.train.vlm.training_run import VLMRun

    run = VLMRun(settings, output, resume=resume, on_progress=on_progress)
    try:
        return run.train()
    finally:
        run.close()
