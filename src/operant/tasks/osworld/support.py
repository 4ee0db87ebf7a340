"""What of a task is known here: its steps, getters and metrics; and the programs and files that it wants.

Says why a task is not covered, before anything is started.
"""

from __future__ import annotations

import importlib.util
import posixpath
import shutil
from collections.abc import Iterator
from pathlib import Path

from operant.desktop.osworld.machine_image import CHROME_NAMES, STAND_INS
from operant.extras import install_extra
from operant.tasks.osworld.cache import Cache, assets_of
from operant.tasks.osworld.getters import GETTERS
from operant.tasks.osworld.metrics import METRICS
from operant.tasks.osworld.metrics.accessibility import unknown_attributes
from operant.tasks.osworld.metrics.tables import unknown_rules
from operant.tasks.osworld.steps import STEPS
from operant.tasks.osworld.task_file import TaskFile

__all__ = ["PROGRAM_PATH", "missing_here", "missing_parts", "missing_programs", "uncovered"]

PROGRAM_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
#: Programs that tasks of OSWorld start, and the Debian package of each; None where Debian has none.
PROGRAMS: dict[str, str | None] = {
    "chromium": "chromium",
    "soffice": "libreoffice-calc libreoffice-writer libreoffice-impress libreoffice-gtk3",
    "vlc": "vlc",
    "gimp": "gimp",
    "thunderbird": "thunderbird",
    "code": None,
    "xterm": "xterm",
    "pcmanfm": "pcmanfm",
    "mousepad": "mousepad",
    "atril": "atril",
    "ristretto": "ristretto",
    "gsettings": "libglib2.0-bin",
    "xdg-mime": "xdg-utils",
    "socat": "socat",
    "wmctrl": "wmctrl",
    "pactl": "pulseaudio-utils",
    "ffmpeg": "ffmpeg",
    "git": "git",
    "bc": "bc",
}
NO_SYSTEM = {"timedatectl": "systemd does not run in a desktop"}
#: Keys of GNOME's programs, whose schemas come with them.
SCHEMAS = {
    "org.gnome.shell": "gnome-shell-common",
    "org.gnome.settings-daemon": "gnome-settings-daemon-common",
    "org.gnome.desktop": "gsettings-desktop-schemas",
}
SCHEMA_PLACE = Path("/usr/share/glib-2.0/schemas")


def uncovered(task: TaskFile) -> list[str]:
    """What the task uses that is not known here; empty if all of it is."""
    if not task.feasible:
        return [f"set-up {step.type!r}" for step in task.config if step.type not in STEPS]
    return list(dict.fromkeys(_unknown(task)))


def _unknown(task: TaskFile) -> Iterator[str]:
    for step in (*task.config, *task.postconfig):
        if step.type not in STEPS:
            yield f"set-up {step.type!r}"
    for one in task.evaluations:
        if one.metric not in METRICS:
            yield f"metric {one.metric!r}"
        for source in (one.result, one.expected):
            if source is not None and source.get("type") not in GETTERS:
                yield f"getter {source.get('type')!r}"
        if one.metric == "check_accessibility_tree" and one.expected is not None:
            for name in unknown_attributes(one.expected.get("rules")):
                yield f"accessibility attribute {name!r}"
        if one.metric == "compare_table":
            yield from (f"compare_table rule {name!r}" for name in unknown_rules(one.options))


def missing_here(task: TaskFile, cache: Path) -> list[str]:
    """What this machine lacks for it: programs, and files of the cache."""
    missing = [f"program {name}" for name in missing_programs(task)]
    absent = Cache(cache, task.id).missing(assets_of(task))
    if absent:
        missing.append(f"{len(absent)} files of the cache, such as {absent[0].url}")
    return missing


def missing_programs(task: TaskFile) -> list[str]:
    """Programs that its commands name and that are not installed."""
    found = []
    for name in dict.fromkeys(_programs(task)):
        if name in NO_SYSTEM:
            found.append(f"{name} ({NO_SYSTEM[name]})")
        elif name in PROGRAMS and shutil.which(name, path=PROGRAM_PATH) is None:
            found.append(name)
        elif name in SCHEMAS and not _has_schema(name):
            found.append(f"the settings of {name} ({SCHEMAS[name]})")
    return found


def missing_parts() -> dict[str, str]:
    """Programs and Python packages that tasks want and that are not here, and what brings each."""
    found = {
        name: f"sudo apt-get install -y {package}" if package else "Debian has no package of it"
        for name, package in PROGRAMS.items()
        if shutil.which(name, path=PROGRAM_PATH) is None
    }
    for name in ("openpyxl", "docx", "pptx", "rapidfuzz", "pypdf", "lxml", "cssselect"):
        if importlib.util.find_spec(name) is None:
            found[name] = install_extra("osworld")
    return found


def _has_schema(name: str) -> bool:
    return any(SCHEMA_PLACE.glob(f"{name}*.gschema.xml"))


def _programs(task: TaskFile) -> Iterator[str]:
    commands = [step.parameters.get("command") for step in (*task.config, *task.postconfig)]
    for one in task.evaluations:
        commands += [source.get("command") for source in (one.result, one.expected) if source is not None]
        if one.result is not None and one.result.get("type") == "default_video_player":
            commands.append("xdg-mime")
    for command in commands:
        words = command if isinstance(command, list) else [command] if isinstance(command, str) else []
        for word in (
            " ".join(str(part) for part in words)
            .replace(";", " ")
            .replace("|", " ")
            .replace("(", " ")
            .split()
        ):
            name = posixpath.basename(word)
            if name in ("libreoffice", "localc", "lowriter", "loimpress"):
                yield "soffice"
            elif name in CHROME_NAMES:
                yield "chromium"
            elif name in STAND_INS and name != "python":
                yield STAND_INS[name]
            elif name in PROGRAMS or name in NO_SYSTEM:
                yield name
            else:
                yield from (schema for schema in SCHEMAS if word.startswith(schema))
    for step in task.config:
        if step.type == "open" and str(step.parameters.get("path", "")).endswith(("x", "s", "t", "p")):
            yield "soffice"
