"""``operant mcp``: a desktop for a client of the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from operant.cli.desktop_flags import Actions, FullProfile, Monitors, Network, Proxy, Screen, desktop_section
from operant.cli.output_flags import DirectoryOption
from operant.cli.task_flags import SUITE
from operant.errors import ConfigError
from operant.extras import missing_package

app = typer.Typer()


@app.command()
def mcp(
    ctx: typer.Context,
    http: Annotated[bool, typer.Option("--http", help="Serve streamable HTTP, not pipes.")] = False,
    host: Annotated[
        str, typer.Option(help="With --http: address to listen on; any but this machine's own needs a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="With --http: port to listen on; 0 takes a free one.")
    ] = 8766,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="OPERANT_TOKEN",
            help="With --http: what clients must show, at least 16 characters; the variable is seen by fewer eyes.",
        ),
    ] = None,
    max_desktops: Annotated[
        int, typer.Option(min=1, max=256, help="With --http: most desktops at once, one for each client.")
    ] = 4,
    idle: Annotated[
        float, typer.Option(min=1, help="With --http: seconds without a request after which a session ends.")
    ] = 600.0,
    suite: Annotated[
        str | None,
        typer.Option(help=f"Offer tasks, as prompts and by begin_task. {SUITE}", show_default="none"),
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="Begin this task, by id, and offer submit.", show_default="none")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Which instance of the task.")] = 0,
    split: Annotated[str, typer.Option(help="train or heldout.")] = "train",
    record: Annotated[
        Path | None, DirectoryOption(help="Keep episodes in this directory.", show_default="none are kept")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="YAML file with a section desktop.")] = None,
    log_level: Annotated[str, typer.Option(help="DEBUG also shows each call.")] = "INFO",
    screen: Screen = None,
    monitors: Monitors = None,
    profile: FullProfile = None,
    network: Network = None,
    proxy: Proxy = None,
    actions: Actions = None,
) -> None:
    """Give a client of the Model Context Protocol a sandboxed desktop, over standard input and output or HTTP."""
    from operant.cli.logs import log_at

    log_at(log_level.upper())  # to stderr: standard output belongs to the protocol
    if not http and (given := _given(ctx, "host", "port", "token", "max_desktops", "idle")):
        raise typer.BadParameter("only --http listens for clients", param_hint=given)
    if split not in ("train", "heldout"):
        raise ConfigError(f"there is no split {split!r}", hint="train or heldout")
    try:
        from operant.config.desktop_server import DesktopServerConfig
        from operant.mcp.offer import Offer
        from operant.mcp.stdio import serve_stdio
    except ImportError as error:
        raise missing_package("MCP", error, "mcp") or error from None
    from operant.tasks.suites import load_suite, select

    section = {"profile": "full"} | desktop_section(screen, monitors, profile, network, proxy, actions)
    desktop = DesktopServerConfig.load(config, environ={}, flags={"desktop": section}).desktop
    source = suite or (task.partition("/")[0] if task else "")
    templates = load_suite(source) if source else []
    chosen = select(templates, [task], source)[0].instance(seed, split) if task else None
    offer = Offer(
        desktop,
        () if chosen else tuple(templates),
        source,
        chosen,
        desktop.profile if profile else None,
        record,
    )
    if not http:
        serve_stdio(offer)
        return
    from operant.config.service import ServiceConfig
    from operant.mcp.http import serve_http

    guard = ServiceConfig.build(host=host, port=port, token=token or None)
    serve_http(offer, guard, most=max_desktops, idle_s=idle, level=log_level.upper())


def _given(ctx: typer.Context, *names: str) -> str:
    """The first of these options that was typed; variables do not count."""
    typed = [name for name in names if getattr(ctx.get_parameter_source(name), "name", "") == "COMMANDLINE"]
    return f"--{typed[0].replace('_', '-')}" if typed else ""
