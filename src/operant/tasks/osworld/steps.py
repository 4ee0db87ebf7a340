"""Steps of set-ups and post-configs: what OSWorld's controllers do to a guest, done to a desktop of ours.

A step that fails raises ``SetupFailed``, the environment's failure; as in OSWorld, commands and windows may fail.
"""

from __future__ import annotations

import posixpath
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from loguru import logger

from operant.config.desktop import DesktopConfig
from operant.desktop.osworld.commands import expand_path
from operant.desktop.osworld.machine_image import prepare_home
from operant.desktop.osworld.wallpaper import change_wallpaper
from operant.desktop.osworld.window_names import find_window, window_of_file
from operant.desktop.protocol import Capability, Desktop
from operant.errors import ApplicationError, InvalidPath, SetupFailed, TaskError
from operant.tasks.osworld import guest
from operant.tasks.osworld.cache import Asset, Cache, as_list, assets_of, download_name, files_of
from operant.tasks.osworld.task_file import TaskFile
from operant.tasks.setup import SetupStep
from operant.types import Action, RunResult, Window

__all__ = ["STEPS", "GuestStep", "PrepareHome", "outputs_of", "setup_of"]

WINDOW_S = 60.0
LAUNCH_S = 20.0
SPLASH = "GIMP Startup"  # goes away by itself
ENDERS = ("pkill", "killall", "kill")
UNTIL_TRIES = 40
UNTIL_PAUSE_S = 0.3
DRAWN_MS = 300
#: What opens a file, by its suffix.
OPENERS = {
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "bmp", "webp"), "ristretto"),
    **dict.fromkeys(("txt", "md", "py", "sh", "json", "log", "html", "css", "js"), "mousepad"),
    **dict.fromkeys(("mp4", "mkv", "avi", "mp3", "wav", "flac"), "vlc"),
    "pdf": "atril",
}
OFFICE = ("docx", "doc", "odt", "xlsx", "xls", "ods", "csv", "pptx", "ppt", "odp")

#: What ``execute`` was told to keep, by name; forgotten with the desktop, renewed with each episode.
_outputs: weakref.WeakKeyDictionary[Desktop, dict[str, bytes]] = weakref.WeakKeyDictionary()


def outputs_of(desktop: Desktop) -> dict[str, bytes]:
    """What steps of this episode kept of their commands' output."""
    return _outputs.setdefault(desktop, {})


class PrepareHome(SetupStep):
    """Check what the task needs, and give the desktop the folders and settings of OSWorld's image."""

    task: str
    """The task."""
    cache: Path
    """Where its files from the web are."""
    assets: tuple[tuple[str, str], ...] = ()
    """Their URLs, and their names in the cache."""
    proxy: bool = False
    """Whether the task wants a proxy."""

    def needs(self) -> frozenset[Capability]:
        return frozenset({Capability.FILES, Capability.COMMANDS, Capability.PROGRAMS, Capability.WINDOWS})

    def apply(self, desktop: Desktop) -> None:
        Cache(self.cache, self.task).check([Asset(url, name) for url, name in self.assets])
        config = getattr(desktop, "config", None)
        if self.proxy and not (isinstance(config, DesktopConfig) and config.proxy):
            raise SetupFailed(
                f"{self.task} wants a proxy, and none is set", hint="--network --proxy http://HOST:PORT"
            )
        _outputs[desktop] = {}
        prepare_home(desktop)


class GuestStep(SetupStep):
    """One step of a task file."""

    type: str
    """Its type, such as ``download``."""
    parameters: dict[str, Any]
    """As the file gives them."""
    task: str
    """The task."""
    cache: Path
    """Where its files from the web are."""
    root: Path
    """The checkout that the task is of."""
    where: str
    """The file and the field, for messages."""

    def needs(self) -> frozenset[Capability]:
        return frozenset({Capability.WINDOW_CONTROL}) if "window" in self.type else frozenset()

    def apply(self, desktop: Desktop) -> None:
        try:
            STEPS[self.type](self, desktop)
        except (TaskError, InvalidPath, KeyError, TypeError) as error:
            raise SetupFailed(f"{self.where}: {error}") from error


def setup_of(task: TaskFile, cache: Path) -> tuple[tuple[SetupStep, ...], tuple[SetupStep, ...]]:
    """The steps before the agent, and those after it."""
    assets = tuple((one.url, one.name) for one in assets_of(task))
    first = PrepareHome(task=task.id, cache=cache, assets=assets, proxy=task.proxy)

    def steps(given: Any) -> list[SetupStep]:
        return [
            GuestStep(
                type=step.type,
                parameters=dict(step.parameters),
                task=task.id,
                cache=cache,
                root=task.path.parents[3],
                where=step.where,
            )
            for step in given
        ]

    return (first, *steps(task.config)), tuple(steps(task.postconfig))


# Files.


def _download(step: GuestStep, desktop: Desktop) -> None:
    cache = Cache(step.cache, step.task)
    for url, path in files_of(step.parameters, "url", step.where):
        data = cache.find(Asset(url, download_name(url, path))).read_bytes()
        desktop.files.write(expand_path(path), data)


def _upload(step: GuestStep, desktop: Desktop) -> None:
    """Files of the checkout; those of the rest of this machine are none of a task's business."""
    for local, path in files_of(step.parameters, "local_path", step.where):
        source = (step.root / local).resolve()
        if step.root.resolve() not in source.parents or not source.is_file():
            raise SetupFailed(f"{step.where}: {local} is no file of {step.root}")
        desktop.files.write(expand_path(path), source.read_bytes())


# Programs.


def _launch(step: GuestStep, desktop: Desktop) -> None:
    before = {(window.id, window.pid) for window in desktop.windows()}  # the display gives ids out again
    command, shell = step.parameters["command"], _flag(step, "shell")
    if not shell and str(as_list(command)[0]).split()[0] in ENDERS:  # or it would end what is launched next
        _run(step, desktop)
        guest.pause(desktop, guest.STILL_S)
        return
    shown = guest.start(desktop, command, shell)
    if shown is None:
        return
    if (
        _wait_for(
            desktop, lambda window: (window.id, window.pid) not in before and window.title != SPLASH, LAUNCH_S
        )
        is None
    ):
        logger.warning("{}: {} showed no window", step.where, shown)
    desktop.settle(DRAWN_MS)


def _execute(step: GuestStep, desktop: Desktop) -> None:
    wanted = step.parameters.get("until") or {}
    for _ in range(UNTIL_TRIES if wanted else 1):
        result = _run(step, desktop)
        if result is None or not wanted or _reached(result, wanted):
            break
        time.sleep(UNTIL_PAUSE_S)
    else:
        raise SetupFailed(f"{step.where}: the command never came to {dict(wanted)}")
    if result is not None:
        for stream in ("stdout", "stderr"):
            if name := step.parameters.get(stream):
                outputs_of(desktop)[str(name)] = getattr(result, stream)


def _run(step: GuestStep, desktop: Desktop) -> RunResult | None:
    try:
        return guest.run(desktop, step.parameters["command"], _flag(step, "shell"))
    except ApplicationError as error:  # as in OSWorld, a command may fail
        logger.warning("{}: {}", step.where, error.message)
        return None


def _reached(result: RunResult, wanted: Mapping[str, Any]) -> bool:
    """Any of the conditions; output has to hold the text."""
    return (
        ("returncode" in wanted and result.returncode == wanted["returncode"])
        or ("stdout" in wanted and str(wanted["stdout"]) in result.output)
        or ("stderr" in wanted and str(wanted["stderr"]) in result.stderr.decode("utf-8", "replace"))
    )


def _open(step: GuestStep, desktop: Desktop) -> None:
    path = expand_path(str(step.parameters["path"]))
    if not desktop.files.exists(path):
        raise SetupFailed(f"{step.where}: there is no file {path}")
    name = posixpath.basename(path)
    suffix = name.rpartition(".")[2].lower()
    if suffix in OFFICE:
        program = ["soffice", "--norestore", "--nologo"]
    else:
        program = [OPENERS.get(suffix, "pcmanfm" if "." not in name else "mousepad")]
    guest.start(desktop, [*program, path], False)
    if _wait_for(desktop, lambda window: window_of_file([window], path) is not None, WINDOW_S) is None:
        raise SetupFailed(f"{step.where}: no window shows {name} after {WINDOW_S:g} s")
    desktop.settle(DRAWN_MS)


# Windows.


def _activate(step: GuestStep, desktop: Desktop) -> None:
    if (window := _named(step, desktop)) is not None:
        desktop.activate_window(window)
        desktop.settle()


def _close(step: GuestStep, desktop: Desktop) -> None:
    if (window := _named(step, desktop)) is not None:
        desktop.close_window(window)
        desktop.settle(DRAWN_MS)


def _named(step: GuestStep, desktop: Desktop) -> Window | None:
    """The window that is meant, the topmost if several are; None, with a word in the log, if there is none."""
    name = str(step.parameters["window_name"])
    strict, by_class = _flag(step, "strict"), _flag(step, "by_class")
    window = find_window(reversed(desktop.windows()), name, strict=strict, by_class=by_class)
    if window is None:
        logger.debug("{}: there is no window {!r}", step.where, name)
    return window


def _wait_for(desktop: Desktop, meant: Callable[[Window], bool], seconds: float) -> Window | None:
    deadline = time.monotonic() + seconds
    while True:
        found = next((window for window in desktop.windows() if window.title and meant(window)), None)
        if found is not None or time.monotonic() > deadline:
            return found
        desktop.perform(Action.wait(0.05))


# The rest.


def _sleep(step: GuestStep, desktop: Desktop) -> None:
    guest.pause(desktop, float(step.parameters["seconds"]))


def _wallpaper(step: GuestStep, desktop: Desktop) -> None:
    path = expand_path(str(step.parameters["path"]))
    if not desktop.files.exists(path):
        raise SetupFailed(f"{step.where}: there is no file {path}")
    change_wallpaper(desktop, path)
    desktop.settle(DRAWN_MS)


def _open_tabs(step: GuestStep, desktop: Desktop) -> None:
    """A browser that runs takes the pages as tabs."""
    urls = [str(url) for url in as_list(step.parameters.get("urls_to_open"))]
    if any(url.startswith("-") for url in urls):
        raise SetupFailed(f"{step.where}: an address can't begin with a dash")
    guest.start(desktop, ["google-chrome", *urls], False)
    desktop.settle(DRAWN_MS)


def _flag(step: GuestStep, name: str) -> bool:
    return str(step.parameters.get(name, False)).lower() == "true"


#: type -> what it does to a desktop
STEPS: dict[str, Callable[[GuestStep, Desktop], None]] = {
    "download": _download,
    "upload_file": _upload,
    "launch": _launch,
    "execute": _execute,
    "command": _execute,
    "open": _open,
    "activate_window": _activate,
    "close_window": _close,
    "sleep": _sleep,
    "change_wallpaper": _wallpaper,
    "chrome_open_tabs": _open_tabs,
}
