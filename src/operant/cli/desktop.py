"""``operant desktop``: a desktop for a moment or for other machines, and the cleaning up after owners that crashed."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from operant.cli.data_flags import DATA_DIR
from operant.cli.desktop_flags import (
    Monitors,
    Network,
    PathToVM,
    Profile,
    ProviderConfigFile,
    ProviderNames,
    Proxy,
    desktop_section,
)
from operant.cli.output_flags import FileOption, default_picture
from operant.cli.task_flags import SUITE
from operant.extras import missing_package

app = typer.Typer(
    no_args_is_help=True, help="Start desktops, look at them, serve them and clean up after crashed ones."
)

Width = Annotated[int, typer.Option(help="Width of the screen in pixels.")]
Height = Annotated[int, typer.Option(help="Height of the screen in pixels.")]
ProfileName = Annotated[
    str, typer.Option(help="full: menu, panel and icons; bare: a window manager only, and faster.")
]


class Protocol(str, Enum):
    """What ``serve`` speaks."""

    OPERANT = "operant"
    UI_RL = "ui-rl"
    OSWORLD = "osworld"


UNKNOWN = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@app.command(context_settings=UNKNOWN)
def shot(
    command: Annotated[
        list[str] | None, typer.Argument(help="An application to open, with its arguments.")
    ] = None,
    out: Annotated[
        Path | None,
        FileOption(help="Where the picture goes.", show_default=f"{DATA_DIR}/pictures/desktop.png"),
    ] = None,
    width: Width = 1280,
    height: Height = 800,
    profile: ProfileName = "full",
) -> None:
    """Open an application in a fresh desktop and save a picture of it."""
    import numpy as np
    from PIL import Image

    from operant.config.desktop import DesktopConfig
    from operant.desktop.sandbox import SandboxDesktop

    to = out or default_picture("desktop", "--out")
    with SandboxDesktop(DesktopConfig.build(width=width, height=height, profile=profile)) as desktop:
        if command:
            desktop.launch(command)
        to.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.ascontiguousarray(desktop.frame())).save(to)
    typer.echo(str(to))


@app.command(context_settings=UNKNOWN)
def run(
    command: Annotated[list[str], typer.Argument(help="A command with its arguments.")],
    timeout: Annotated[float, typer.Option(help="Seconds that it may take.")] = 60.0,
    profile: ProfileName = "full",
) -> None:
    """Run a command in a fresh desktop and pass on what it prints and its exit code."""
    from operant.config.desktop import DesktopConfig
    from operant.desktop.sandbox import SandboxDesktop

    with SandboxDesktop(DesktopConfig.build(profile=profile)) as desktop:
        result = desktop.run(command, timeout_s=timeout)
    sys.stdout.buffer.write(result.stdout)
    sys.stdout.buffer.flush()
    sys.stderr.buffer.write(result.stderr)
    sys.stderr.buffer.flush()
    raise typer.Exit(result.returncode if result.returncode >= 0 else 128 - result.returncode)


@app.command()
def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but this machine's own needs a token.")
    ] = ("127.0.0.1"),
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Port to listen on; 0 takes a free one. With osworld, of the first desktop.",
            show_default="8765; osworld: 5000",
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="OPERANT_TOKEN",
            help="What clients must show, at least 16 characters; the variable is seen by fewer eyes.",
        ),
    ] = None,
    desktops: Annotated[int, typer.Option(min=1, help="Desktops to keep ready.")] = 2,
    width: Annotated[
        int | None, typer.Option(help="Width of the screen in pixels.", show_default="1280")
    ] = None,
    height: Annotated[
        int | None, typer.Option(help="Height of the screen in pixels.", show_default="800")
    ] = None,
    monitors: Monitors = None,
    profile: Profile = None,
    network: Network = None,
    proxy: Proxy = None,
    provider: ProviderNames = None,
    provider_config: ProviderConfigFile = None,
    path_to_vm: PathToVM = None,
    config: Annotated[Path | None, typer.Option(help="YAML file with a section desktop.")] = None,
    idle: Annotated[
        float, typer.Option(min=1, help="Seconds without a call after which a lease ends.")
    ] = 300.0,
    protocol: Annotated[
        Protocol,
        typer.Option(
            help="operant: whole desktops for operant train vlm. ui-rl: sessions with tasks for clients of UI-RL."
            " osworld: machines for clients of OSWorld, one port each."
        ),
    ] = Protocol.OPERANT,
    suite: Annotated[
        str | None,
        typer.Option(
            help=f"With ui-rl: tasks that are session types, beside data_entry. {SUITE}", show_default="core"
        ),
    ] = None,
    session_type: Annotated[
        str | None,
        typer.Option(
            help="With ui-rl: the type of sessions whose client names none.", show_default="simple_data_entry"
        ),
    ] = None,
    chromium_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="With osworld: where the browser of the first desktop is debugged.",
            show_default="9222",
        ),
    ] = None,
    vlc_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="With osworld: where VLC of the first desktop is asked.",
            show_default="8080",
        ),
    ] = None,
    log_level: Annotated[str, typer.Option(help="DEBUG also shows each call.")] = "INFO",
) -> None:
    """Serve desktops of this machine to others, over HTTP. See environment.ui_env_urls of operant train vlm.

    With --protocol ui-rl it speaks UI-RL's environment protocol, both generations: POST
    /session?type=simple_data_entry, then /session/ID/screenshot, /act and /progress; or /act and /progress alone.
    Session types are tasks of ours, by id (core/browser-fill-field-v1) or by name (browser_fill_field); GET /types
    lists them.

    With --protocol osworld each desktop is a machine with OSWorld's guest server: the first at --port, the next ones
    at the ports after it, 1920x1080, with menu and panel. What OSWorld lacks is below /operant: POST /operant/reset,
    POST /operant/lease, DELETE /operant/lease/NAME.
    """
    if protocol is not Protocol.UI_RL and (suite or session_type):
        raise typer.BadParameter(
            "only sessions of --protocol ui-rl have tasks", param_hint="--suite / --session-type"
        )
    if protocol is not Protocol.OSWORLD and (chromium_port is not None or vlc_port is not None):
        raise typer.BadParameter(
            "only --protocol osworld forwards ports of desktops", param_hint="--chromium-port / --vlc-port"
        )
    try:
        from operant.config.desktop_server import DesktopServerConfig
        from operant.service.desktops.app import guard_settings
        from operant.service.desktops.host import DesktopHost
        from operant.service.desktops.osworld_machines import machine_config
        from operant.service.desktops.osworld_server import serve_osworld
        from operant.service.desktops.server import serve_desktops, serve_ui_rl
        from operant.service.desktops.ui_rl_sessions import UIRLSessions, session_types
    except ImportError as error:
        raise missing_package("serving desktops", error, "service") or error from None
    usual_port = 5000 if protocol is Protocol.OSWORLD else 8765
    guard = guard_settings(host, usual_port if port is None else port, token)
    section = desktop_section(None, monitors, profile, network, proxy)
    section |= {name: value for name, value in (("width", width), ("height", height)) if value is not None}
    flags = {
        "desktop": section or None,
        "provider": provider,
        "provider_config": provider_config,
        "path_to_vm": path_to_vm,
    }
    settings = DesktopServerConfig.load(config, environ={}, flags=flags)
    offer = settings.desktop
    if protocol is not Protocol.UI_RL:
        from operant.desktop.providers import open_provider

        if protocol is Protocol.OSWORLD:
            offer = machine_config(offer)
        with open_provider(settings, offer, desktops) as source:
            if protocol is Protocol.OSWORLD:
                serve_osworld(
                    desktops,
                    guard,
                    offer,
                    chromium_port=9222 if chromium_port is None else chromium_port,
                    vlc_port=8080 if vlc_port is None else vlc_port,
                    idle_s=idle,
                    factory=source.start,
                    level=log_level.upper(),
                )
            else:
                serve_desktops(
                    DesktopHost(desktops, offer, idle_s=idle, factory=source.start),
                    guard,
                    level=log_level.upper(),
                )
        return
    from operant.tasks.suites import load_suite, suite_parts

    # In the order that was asked for: the first task of a short name keeps it.
    parts = dict.fromkeys([*suite_parts(suite or "core"), "data_entry"])
    offered = [template for part in parts for template in load_suite(part)]
    first = session_type or "simple_data_entry"
    sessions = UIRLSessions(desktops, session_types(offered), offer, default_type=first, idle_s=idle)
    serve_ui_rl(sessions, guard, level=log_level.upper())


@app.command()
def reap(provider: ProviderNames = None, provider_config: ProviderConfigFile = None) -> None:
    """Remove what owners that crashed have left behind, and say how much that was.

    With --provider, also its containers, instances or virtual machines.
    """
    from operant.desktop.reaper import reap as remove

    processes, directories = remove()
    typer.echo(f"{processes} processes ended, {directories} directories deleted")
    if provider is not None:
        from operant.config.provider import ProviderSettings
        from operant.desktop.providers import make_provider

        chosen = ProviderSettings.build(provider=provider, provider_config=provider_config)
        with make_provider(chosen.provider, chosen.provider_config) as source:
            typer.echo(f"{source.sweep()} machines of {','.join(chosen.provider)} removed")
