"""``operant serve``: the service."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from operant.cli.agent_flags import PriceFile
from operant.cli.data_flags import DATA_DIR
from operant.cli.desktop_flags import (
    Actions,
    Device,
    FullProfile,
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
from operant.cli.task_flags import SUITE
from operant.extras import missing_package

app = typer.Typer()


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default="127.0.0.1")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on.", show_default="8000")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            help="What clients must show, at least 16 characters; the variable is seen by fewer eyes.",
            show_default="$OPERANT_TOKEN",
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            help="The agent that answers first: a name, VENDOR:MODEL, a YAML file, module:factory, or a checkpoint."
        ),
    ] = None,
    agents: Annotated[
        str | None,
        typer.Option(
            help="Further agents that requests may choose, separated by commas, such as anthropic:MODEL.",
            show_default="none",
        ),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(help=f"Tasks to offer beside the installed suites. {SUITE}", show_default="none"),
    ] = None,
    desktops: Annotated[
        int | None, typer.Option(min=1, help="Sandboxed desktops to keep ready.", show_default="2")
    ] = None,
    osworld_desktops: Annotated[
        int | None,
        typer.Option(min=0, help="More desktops, for clients of OSWorld: one port each.", show_default="0"),
    ] = None,
    osworld_port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port of the first of them.", show_default="5000"),
    ] = None,
    data_dir: Annotated[
        Path | None, typer.Option(help="Where episodes and training runs go.", show_default=DATA_DIR)
    ] = None,
    results_dir: Annotated[
        Path | None, typer.Option(help="Where evaluations are.", show_default="results in the data directory")
    ] = None,
    checkpoints_dir: Annotated[
        Path | None, typer.Option(help="Where models are.", show_default="checkpoints in the data directory")
    ] = None,
    allow_live: Annotated[
        bool, typer.Option("--allow-live", help="Let agents operate the screen of this machine.")
    ] = False,
    auto_approve: Annotated[
        bool, typer.Option("--auto-approve", help="Do so without asking for each action.")
    ] = False,
    prices: PriceFile = None,
    dashboard: Annotated[bool, typer.Option(help="Serve the dashboard at /.")] = True,
    config: Annotated[
        Path | None,
        typer.Option(help="YAML file with any of these settings.", show_default="$OPERANT_CONFIG"),
    ] = None,
    device: Device = None,
    log_level: LogLevel = None,
    screen: Screen = None,
    monitors: Monitors = None,
    profile: FullProfile = None,
    network: Network = None,
    proxy: Proxy = None,
    actions: Actions = None,
    provider: ProviderNames = None,
    provider_config: ProviderConfigFile = None,
    path_to_vm: PathToVM = None,
) -> None:
    """Serve agents and desktops. Other settings come from OPERANT_* variables, .env and --config."""
    try:
        from operant.config.service import ServiceConfig
        from operant.service.server import serve as run
    except ImportError as error:
        raise missing_package("the service", error, "service") or error from None
    flags = {
        "host": host,
        "port": port,
        "token": token,
        "agent": agent,
        "agents": agents,
        "suite": suite,
        "desktops": desktops,
        "osworld_desktops": osworld_desktops,
        "osworld_port": osworld_port,
        "data_dir": data_dir,
        "results_dir": results_dir,
        "checkpoints_dir": checkpoints_dir,
        "allow_live": allow_live or None,
        "auto_approve": auto_approve or None,
        "dashboard": None if dashboard else False,
        "device": device,
        "prices": prices,
        "log_level": log_level,
        "desktop": desktop_section(screen, monitors, profile, network, proxy, actions) or None,
        "provider": provider,
        "provider_config": provider_config,
        "path_to_vm": path_to_vm,
    }
    run(ServiceConfig.load(config, flags=flags))
