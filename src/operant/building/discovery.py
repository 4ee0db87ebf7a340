"""What an application offers to programs, found without any model: D-Bus, GTK's actions, UNO and the command line.

The application is started on a desktop of its own and asked there. What it answers is data of unknown origin: it is
bounded and printed, nothing more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from operant.apps import App
from operant.calls.declaration import Function, Parameter, ValueType
from operant.config.desktop import DesktopConfig
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import ApplicationError, CallFailed

__all__ = ["ActionGroup", "BusObject", "Discovery", "discover"]

HELP_S = 15.0
WINDOW_S = 60.0
MOST_HELP = 12_000  # characters
MOST_REGISTRY = 16 << 20  # bytes
#: Names that come with any application and are not its own.
FOREIGN = ("org.a11y.", "ca.desrt.", "org.gtk.vfs.", "org.freedesktop.")
OFFICE = ("soffice", "libreoffice")
OFFICE_REGISTRY = "/usr/lib/libreoffice/program/services/services.rdb"
SERVICE = re.compile(rb'<service name="([A-Za-z0-9_.]{1,200})"')
TEXT = ValueType("text", written="str")


@dataclass(frozen=True, slots=True)
class BusObject:
    """One object on the session bus."""

    bus: str
    path: str
    interfaces: dict[str, list[str]]
    """The members of each interface, as lines."""


@dataclass(frozen=True, slots=True)
class ActionGroup:
    """GTK's actions of one object; each has a name, the type of its argument and its state."""

    bus: str
    path: str
    actions: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found."""

    name: str
    command: list[str]
    bus_names: list[str] = field(default_factory=list)
    objects: list[BusObject] = field(default_factory=list)
    actions: list[ActionGroup] = field(default_factory=list)
    uno_services: list[str] = field(default_factory=list)
    help: str = ""
    notes: list[str] = field(default_factory=list)
    """What could not be found out, and why."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def text(self) -> str:
        """All of it for people and models."""
        lines = [f"{self.name}: {' '.join(self.command)}", "", "D-Bus"]
        for one in self.objects:
            lines.append(f"  {one.bus} {one.path}")
            for interface, members in one.interfaces.items():
                lines += [f"    {interface}", *(f"      {member}" for member in members)]
        lines += [] if self.objects else ["  nothing of its own"]
        lines += ["", "GTK actions (org.gtk.Actions)"]
        for group in self.actions:
            lines.append(f"  {group.bus} {group.path}")
            lines += [f"    {_action_line(action)}" for action in group.actions]
        lines += [] if self.actions else ["  none"]
        if self.uno_services:
            lines += ["", "UNO services", *_grouped(self.uno_services)]
        said = self.help.strip() or "it prints no help"
        lines += ["", "Command line", *(f"  {line}" for line in said.splitlines())]
        lines += ["", *(f"note: {note}" for note in self.notes)] if self.notes else []
        return "\n".join(lines)


def discover(app: App, config: DesktopConfig | None = None) -> Discovery:
    """Start an application on a desktop of its own and find out what it offers."""
    with SandboxDesktop(config or DesktopConfig()) as desktop:
        for path, content in app.home().items():
            desktop.files.write(path, content)
        return _discover(app, desktop)


def _discover(app: App, desktop: SandboxDesktop) -> Discovery:
    argv = app.argv()
    notes: list[str] = []
    # Before the application runs: one that is running would open another window instead of telling.
    told = _help(desktop, argv[0], notes)
    before = set(_ask(desktop, "bus_names"))
    try:
        desktop.launch(argv, timeout_s=WINDOW_S)
    except ApplicationError as error:
        notes.append(f"it was not asked while it runs: {error.message}")
    names = [
        name for name in _ask(desktop, "bus_names") if name not in before and not name.startswith(FOREIGN)
    ]
    objects = [
        BusObject(name, str(one["path"]), {part["name"]: part["members"] for part in one["interfaces"]})
        for name in names
        for one in _asked(desktop, notes, "describe_service", name=name)
    ]
    places = [(one["bus"], one["path"]) for one in _asked(desktop, notes, "window_objects")]
    places += [(one.bus, one.path) for one in objects if "org.gtk.Actions" in one.interfaces]
    groups: list[ActionGroup] = []
    for bus, path in dict.fromkeys(places):
        found = _asked(desktop, notes, "describe_actions", bus_name=bus, path=path)
        # A window names its bus by a number; the same object under the application's name says more.
        if found and not any(one.path == path and one.actions == found for one in groups):
            groups.append(ActionGroup(bus if not bus.startswith(":") or not names else names[0], path, found))
    return Discovery(app.name, argv, names, objects, groups, _uno(desktop, argv[0], notes), told, notes)


def _ask(desktop: SandboxDesktop, name: str, /, **arguments: str) -> Any:
    """What one of the functions answers that look around inside a desktop; no agent can call them."""
    parameters = tuple(Parameter(one, TEXT) for one in arguments)
    function = Function("discovery", name, parameters, "", "object", 60.0, module="discovery")
    return json.loads(desktop.call(function, arguments))


def _asked(desktop: SandboxDesktop, notes: list[str], name: str, /, **arguments: str) -> list[Any]:
    try:
        return list(_ask(desktop, name, **arguments))
    except CallFailed as error:
        notes.append(error.message)
        return []


def _help(desktop: SandboxDesktop, program: str, notes: list[str]) -> str:
    try:
        result = desktop.run([program, "--help"], timeout_s=HELP_S, limit=1 << 18)
    except ApplicationError as error:
        notes.append(f"no help of the command line: {error.message}")
        return ""
    text = (result.stdout or result.stderr).decode("utf-8", "replace")
    printable = "".join(one for one in text if one.isprintable() or one in "\n\t")
    return printable[:MOST_HELP]


def _uno(desktop: SandboxDesktop, program: str, notes: list[str]) -> list[str]:
    if program not in OFFICE:
        return []
    try:
        raw = desktop.files.read(OFFICE_REGISTRY, MOST_REGISTRY)
    except OSError as error:
        notes.append(f"no list of UNO services: {error}")
        return []
    return sorted({name.decode() for name in SERVICE.findall(raw)})


def _grouped(names: Sequence[str]) -> list[str]:
    """A line for each group, such as ``com.sun.star.sheet``."""
    groups: dict[str, list[str]] = {}
    for name in names:
        group, _, last = name.rpartition(".")
        groups.setdefault(group, []).append(last)
    return [f"  {group}: {', '.join(lasts)}" for group, lasts in groups.items()]


def _action_line(action: dict[str, Any]) -> str:
    argument = f"({action['argument']})" if action.get("argument") else ""
    state = f" = {', '.join(action['state'])}" if action.get("state") else ""
    return f"{action.get('name')}{argument}{state}{'' if action.get('enabled') else '  (disabled)'}"
