"""Flags about desktops that several verbs share, and the section ``desktop`` that they make."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "Actions",
    "DesktopProfile",
    "Device",
    "FullProfile",
    "LogLevel",
    "Monitors",
    "Network",
    "PathToVM",
    "Profile",
    "ProviderConfigFile",
    "ProviderNames",
    "Proxy",
    "Screen",
    "desktop_section",
]

Screen = Annotated[
    str | None,
    typer.Option(
        help="Size of the screen: WIDTHxHEIGHT.", show_default="1280x800", rich_help_panel="Desktops"
    ),
]
Monitors = Annotated[
    str | None,
    typer.Option(
        help="WIDTHxHEIGHT[+X+Y] of each, separated by commas; side by side unless placed.",
        show_default="one over the whole screen",
        rich_help_panel="Desktops",
    ),
]
_PROFILE: dict[str, Any] = {
    "help": "full: menu, panel and icons; bare: a window manager only.",
    "show_default": "as each task says",
    "rich_help_panel": "Desktops",
}
Profile = Annotated[str | None, typer.Option("--profile", "--desktop-profile", **_PROFILE)]
#: Where no task says what the desktop is like.
FullProfile = Annotated[
    str | None, typer.Option("--profile", "--desktop-profile", **{**_PROFILE, "show_default": "full"})
]
#: Where ``--profile`` is about the time that functions take.
DesktopProfile = Annotated[str | None, typer.Option("--desktop-profile", **_PROFILE)]
Network = Annotated[
    bool | None,
    typer.Option(
        "--network/--no-network",
        help="Whether programs reach the machine's network.",
        show_default="no-network",
        rich_help_panel="Desktops",
    ),
]
Proxy = Annotated[
    str | None,
    typer.Option(
        help="Proxy for programs and browsers: SCHEME://HOST:PORT; needs --network.",
        rich_help_panel="Desktops",
    ),
]
ProviderNames = Annotated[
    str | None,
    typer.Option(
        "--provider",
        metavar="NAME",
        help="Where desktops are: sandbox, remote, osworld, docker, aws, vm; several, separated by commas, are mixed.",
        show_default="sandbox",
        rich_help_panel="Desktops",
    ),
]
ProviderConfigFile = Annotated[
    Path | None,
    typer.Option(
        "--provider-config",
        metavar="FILE",
        help="YAML file with a section for each provider.",
        rich_help_panel="Desktops",
    ),
]
PathToVM = Annotated[
    Path | None,
    typer.Option(
        "--path-to-vm",
        metavar="FILE",
        help="A virtual machine to use, X.vmx or X.qcow2: --provider vm.",
        rich_help_panel="Desktops",
    ),
]
Actions = Annotated[
    str | None,
    typer.Option(
        help="What agents may do: gui (pointer and keyboard), api (calls of functions) or both.",
        show_default="gui",
        rich_help_panel="Desktops",
    ),
]
Device = Annotated[
    str | None,
    typer.Option(
        help="Where networks calculate: cpu, cuda, cuda:1, mps or auto.",
        show_default="$DEVICE, or the agent's own choice",
    ),
]
LogLevel = Annotated[
    str | None,
    typer.Option(help="Least level that is logged, such as DEBUG.", show_default="$LOG_LEVEL, or INFO"),
]


def desktop_section(
    screen: str | None = None,
    monitors: str | None = None,
    profile: str | None = None,
    network: bool | None = None,
    proxy: str | None = None,
    actions: str | None = None,
) -> dict[str, Any]:
    """What was said, to go over the section of a file; None takes away what the file says."""
    section: dict[str, Any] = {}
    if screen is not None or monitors is not None:
        # Without a size, a screen is as large as its monitors.
        section |= {"size": screen, "width": None, "height": None}
    more = {"monitors": monitors, "profile": profile, "network": network, "proxy": proxy}
    more["actions"] = actions
    return section | {name: value for name, value in more.items() if value is not None}
