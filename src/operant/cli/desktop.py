"""``operant desktop``: a desktop for a moment or for other machines, and the cleaning up after owners that crashed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from operant.errors import MissingDependency

app = typer.Typer(
    no_args_is_help=True, help="Start desktops, look at them, serve them and clean up after crashed ones."
)

Width = Annotated[int, typer.Option(help="Width of the screen in pixels.")]
Height = Annotated[int, typer.Option(help="Height of the screen in pixels.")]
ProfileName = Annotated[
    str, typer.Option(help="full: menu, panel and icons; bare: a window manager only, and faster.")
]
UNKNOWN = {"ignore_unknown_options": True, "allow_interspersed_args": False}


@app.command(context_settings=UNKNOWN)
def shot(
    command: Annotated[
        list[str] | None, typer.Argument(help="An application to open, with its arguments.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Where the picture goes.")] = Path("out/desktop.png"),
    width: Width = 1280,
    height: Height = 800,
    profile: ProfileName = "full",
) -> None:
    """Open an application in a fresh desktop and save a picture of it."""
    import numpy as np
    from PIL import Image

    from operant.config.desktop import DesktopConfig
    from operant.desktop.sandbox import SandboxDesktop

    with SandboxDesktop(DesktopConfig.build(width=width, height=height, profile=profile)) as desktop:
        if command:
            desktop.launch(command)
        out.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.ascontiguousarray(desktop.frame())).save(out)
    typer.echo(str(out))


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
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 8765,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="OPERANT_TOKEN",
            help="What clients must show, at least 16 characters; the variable is seen by fewer eyes.",
        ),
    ] = None,
    desktops: Annotated[int, typer.Option(min=1, help="Desktops to keep ready.")] = 2,
    width: Width = 1280,
    height: Height = 800,
    idle: Annotated[
        float, typer.Option(min=1, help="Seconds without a call after which a lease ends.")
    ] = 300.0,
    log_level: Annotated[str, typer.Option(help="DEBUG also shows each call.")] = "INFO",
) -> None:
    """Serve desktops of this machine to others, over HTTP. See environment.ui_env_urls of operant train vlm."""
    try:
        from operant.config.desktop import DesktopConfig
        from operant.service.desktops.app import guard_settings
        from operant.service.desktops.host import DesktopHost
        from operant.service.desktops.server import serve_desktops
    except ImportError as error:
        raise MissingDependency(
            f"serving desktops needs packages that are not installed ({error.name})",
            hint='pip install "operant[service]"',
        ) from error
    config = guard_settings(host, port, token)
    kept = DesktopHost(desktops, DesktopConfig.build(width=width, height=height), idle_s=idle)
    serve_desktops(kept, config, level=log_level.upper())


@app.command()
def reap() -> None:
    """Remove what owners that crashed have left behind, and say how much that was."""
    from operant.desktop.reaper import reap as remove

    processes, directories = remove()
    typer.echo(f"{processes} processes ended, {directories} directories deleted")
