"""How well a program can be used by an agent: starts it in a fresh desktop, looks, types, waits, resets.

Works on any program of the machine. Every step is bounded in time, and what goes wrong with the program is a finding,
never an exception; only a program that is not there at all raises ``UnknownApplication``.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from operant.config.desktop import DesktopConfig
from operant.desktop.protocol import Desktop
from operant.desktop.sandbox import SandboxDesktop
from operant.desktop.toolkits import Toolkit, mapped_files, recognise_toolkit
from operant.errors import (
    AccessibilityError,
    ApplicationError,
    ApplicationExited,
    ApplicationHung,
    DesktopError,
    UnknownApplication,
    WindowTimeout,
)
from operant.types import Action, Node, Point, Window

__all__ = ["AppCheck", "CheckFinding", "check_app"]

Frame = npt.NDArray[np.uint8]
Level = Literal["ok", "weak", "unusable"]

TREE_S = 5.0  # for a tree; an application that takes longer is slow to observe
SLOW_TREE_S = 1.0
FEW_NAMED, FEW_SHARE = 5, 0.25  # widgets with a name, and their share: with less an agent works by pixels
STEADY_S = 1.0  # without a new window, a program has started
IDLE_S = 1.5  # a caret that blinks does so within this time
CARET = (12, 40)  # pixels: what is smaller and changes is a caret
LATE_S = 0.8  # how long the screen is watched after a step
FRAME_POLL_S = 0.02  # between two looks at the screen
TYPED = "Operant 42"  # word processors would make the first letter a capital one
#: Keys that change little in any program.
STEPS = (Action.key("tab"), Action.key("right"), Action.key("left"), Action.key("tab"))
FIELDS = frozenset({"text", "entry", "terminal", "document text", "editbar", "autocomplete", "paragraph"})
CELLS = frozenset({"table", "table cell"})
FIRST_RUN = (
    "answer it once, and ship the settings file that it writes in App.home(); or find the flag that skips it"
)
DIALOGS = frozenset({"dialog", "alert", "file chooser"})


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """What one check found."""

    check: str
    level: Level
    what: str
    hint: str = ""


@dataclass(slots=True)
class AppCheck:
    """What was measured of one program, and what follows from it. Fields are None where a check was not reached."""

    command: list[str]
    toolkit: str | None = None
    """Name of its toolkit; None if it has none that is known."""
    start_s: float | None = None
    """Until its window was drawn."""
    window: str | None = None
    """Title of its window."""
    wm_class: str | None = None
    size: tuple[int, int] | None = None
    nodes: int | None = None
    """Widgets in its tree."""
    named: int | None = None
    """Those with a name, a description or a text."""
    tree_s: float | None = None
    typed: bool | None = None
    """Whether typed text arrived; None if there was no place to type."""
    restless: int | None = None
    """How often the screen changed while nothing was done."""
    late: int | None = None
    """Steps after which the screen changed although it had settled."""
    late_ms: float | None = None
    """The longest time from a settled step to a change."""
    settle_ms: float | None = None
    """The longest time that a step took to settle."""
    memory_mb: float | None = None
    reset_ms: float | None = None
    left: list[str] = field(default_factory=list)
    """What a reset left behind."""
    findings: list[CheckFinding] = field(default_factory=list)
    frame: Frame | None = field(default=None, repr=False)
    """The screen with the program on it."""

    @property
    def level(self) -> Level:
        """The worst of its findings."""
        return max((one.level for one in self.findings), key=("ok", "weak", "unusable").index, default="ok")

    def add(self, check: str, level: Level, what: str, hint: str = "") -> None:
        self.findings.append(CheckFinding(check, level, what, hint))

    def as_json(self) -> dict[str, Any]:
        found = {
            one.name: getattr(self, one.name)
            for one in dataclasses.fields(self)
            if one.name not in ("frame", "findings")
        }
        named_share = round(self.named / self.nodes, 2) if self.nodes and self.named is not None else None
        findings = [dataclasses.asdict(one) for one in self.findings]
        return {"level": self.level, **found, "named_share": named_share, "findings": findings}


def check_app(
    command: Sequence[str],
    *,
    home: Mapping[str, str | bytes] | None = None,
    config: DesktopConfig | None = None,
    timeout_s: float = 20.0,
) -> AppCheck:
    """Start a program in a fresh desktop and try what agents do. ``home`` are files that it starts with."""
    report = AppCheck(list(command))
    with SandboxDesktop(config) as desktop:
        before = _traces(desktop)
        blank = desktop.frame().copy()
        for path, content in (home or {}).items():
            desktop.files.write(path, content)
        try:
            _probe(desktop, report, timeout_s)
        except ApplicationHung as error:
            report.add("steps", "unusable", f"it stopped answering: {error.message}", "look at its picture")
        except DesktopError as error:
            report.add("desktop", "unusable", f"the desktop broke with it: {error.message}", error.hint or "")
            return report
        _check_reset(desktop, report, before, blank)
    return report


def _probe(desktop: SandboxDesktop, report: AppCheck, timeout_s: float) -> None:
    window = _start(desktop, report, timeout_s)
    report.frame = desktop.frame().copy()
    if window is None:
        return
    toolkit = _recognise(desktop, report, window)
    tree = _check_tree(desktop, report, toolkit)
    still = _check_rest(desktop, report)
    _check_typing(desktop, report, tree)
    report.frame = desktop.frame().copy()
    if still:
        _check_steps(desktop, report)
    report.memory_mb = round(sum(desktop.memory().values()), 1)
    if not desktop.windows():
        report.add("steps", "unusable", "its window closed while it was used", "look at its picture")


# It starts.


def _start(desktop: Desktop, report: AppCheck, timeout_s: float) -> Window | None:
    known = {one.pid for one in desktop.processes()}
    began = time.monotonic()
    try:
        desktop.launch(report.command, timeout_s=timeout_s)
    except UnknownApplication:
        raise
    except ApplicationExited as error:
        report.add(
            "start", "unusable", error.message, "run it by `operant desktop run` to see all that it says"
        )
        return None
    except WindowTimeout as error:
        running = [one.name for one in desktop.processes() if one.pid not in known]
        if running:
            hint = "if it is graphical, it may need longer (--timeout) or a display feature: see `operant desktop run`"
            report.add("start", "unusable", f"{error.message}; running: {', '.join(running[:5])}", hint)
        else:
            hint = "a command without a window is used in a terminal: launch xterm, and type it there"
            report.add("start", "unusable", "it ended without a window", hint)
        return None
    except ApplicationError as error:
        report.add("start", "unusable", error.message, error.hint or "")
        return None
    report.start_s = round(time.monotonic() - began, 2)
    window = _last_window(desktop, began + timeout_s)
    if window is None:
        report.add("window", "unusable", "its window closed by itself", "run it by `operant desktop run`")
        return None
    report.window, report.wm_class, report.size = window.title, window.wm_class, (window.width, window.height)
    report.add("start", "ok", f"window after {report.start_s:.1f} s")
    largest = max(one.width * one.height for one in desktop.windows())
    if window.width * window.height < largest / 2:
        report.add("first run", "weak", f"a small window is in front: {window.title[:60]!r}", FIRST_RUN)
    if window.x + window.width > desktop.size.width or window.y + window.height > desktop.size.height:
        report.add(
            "window", "weak", "its window is larger than the screen", "maximise it, or use a larger screen"
        )
    else:
        report.add(
            "window", "ok", f"{window.title!r}, class {window.wm_class}, {window.width}x{window.height}"
        )
    return window


def _last_window(desktop: Desktop, deadline: float) -> Window | None:
    """The window in front once no more come: splash screens go, and dialogs of a first run appear."""
    seen: set[int] = set()
    since = time.monotonic()
    while time.monotonic() < max(deadline, since + STEADY_S):
        now = {one.id for one in desktop.windows()}
        if now != seen:
            seen, since = now, time.monotonic()
        if seen and time.monotonic() - since > STEADY_S:
            break
        time.sleep(0.05)
    desktop.settle()
    windows = desktop.windows()
    return next((one for one in reversed(windows) if one.focused), windows[-1] if windows else None)


def _recognise(desktop: Desktop, report: AppCheck, window: Window) -> Toolkit | None:
    """The toolkit of the process that shows the window; of a window without a process, that of the newest program."""
    pids = [window.pid] if window.pid else [one.pid for one in reversed(desktop.processes())]
    for pid in pids:
        try:
            found = recognise_toolkit(mapped_files(desktop.files.read_text(f"/proc/{pid}/maps")))
        except OSError:
            continue
        if found is not None:
            report.toolkit = found.name
            report.add("toolkit", "ok", found.title)
            return found
    report.add(
        "toolkit", "weak", "none that is known", "its settings, if it has any, go into your App.home()"
    )
    return None


# It can be observed.


def _check_tree(desktop: Desktop, report: AppCheck, toolkit: Toolkit | None) -> Node | None:
    advice = toolkit.advice if toolkit else "agents see its pixels only"
    began = time.monotonic()
    try:
        tree = desktop.accessibility(timeout_s=TREE_S)
    except AccessibilityError as error:
        report.add("tree", "weak", error.message, "read it with a larger timeout_s, or use its pixels")
        return None
    report.tree_s = round(time.monotonic() - began, 3)
    nodes = [one for one in tree.walk() if one.role != "desktop frame"]
    report.nodes = len(nodes)
    report.named = sum(1 for one in nodes if one.name or one.description or one.text)
    said = f"{report.nodes} widgets, {report.named} with names, in {report.tree_s * 1000:.0f} ms"
    if report.nodes <= 1:
        report.add("tree", "weak", "it shows no widgets", advice)
    elif report.named < FEW_NAMED or report.named < FEW_SHARE * report.nodes:
        hint = "few names: point by pixels, or name places in your App"
        report.add("tree", "weak", said, hint)
    elif report.tree_s > SLOW_TREE_S:
        report.add("tree", "weak", said, "slow: observe pixels at most steps, and the tree when it is needed")
    else:
        report.add("tree", "ok", said)
    dialog = next((one for one in nodes if one.role in DIALOGS and one.name and one.box), None)
    if dialog is not None and not any(one.check == "first run" for one in report.findings):
        report.add("first run", "weak", f"it opens with a dialog: {dialog.name[:60]!r}", FIRST_RUN)
    return tree


# It comes to rest.


def _check_rest(desktop: Desktop, report: AppCheck) -> bool:
    changes = _watch(desktop, IDLE_S)
    report.restless = len(changes)
    if not changes:
        report.add("rest", "ok", "nothing changes while nothing is done")
        return True
    x, y, width, height = changes[-1][1]
    what = f"the screen changed {len(changes)} times in {IDLE_S:g} s without an action, at {x}, {y} ({width}x{height})"
    if width <= CARET[0] and height <= CARET[1]:
        hint = "a caret that blinks: find the program's own setting for it, and put it into App.home()"
    else:
        hint = (
            "an animation or a clock: switch it off in the program's settings, and put them into App.home()"
        )
    report.add("rest", "weak", what, hint)
    return False


def _check_steps(desktop: Desktop, report: AppCheck) -> None:
    late: list[float] = []
    slowest, unsettled = 0.0, 0
    for action in STEPS:
        desktop.perform(action)
        slowest = max(slowest, desktop.last_step.waited_ms)
        unsettled += not desktop.last_step.settled
        changes = _watch(desktop, LATE_S)
        late += [changes[-1][0]] if changes else []
    report.late, report.settle_ms = len(late), round(slowest, 1)
    report.late_ms = round(max(late) * 1000) if late else None
    if unsettled:
        hint = "raise settle.cap_ms, or switch off what keeps drawing"
        report.add("steps", "weak", f"{unsettled} of {len(STEPS)} steps did not settle", hint)
    elif late:
        what = f"after {len(late)} of {len(STEPS)} settled steps the screen changed again, up to {report.late_ms} ms later"
        report.add("steps", "weak", what, "raise settle.quiet_ms for it, or let the agent wait a step")
    else:
        report.add("steps", "ok", f"steps settle within {slowest:.0f} ms")


def _watch(desktop: Desktop, seconds: float) -> list[tuple[float, tuple[int, int, int, int]]]:
    """When the screen changed (seconds from now), and where."""
    found = []
    last, began = desktop.frame(), time.monotonic()
    while time.monotonic() - began < seconds:
        time.sleep(FRAME_POLL_S)
        now = desktop.frame()
        if not np.array_equal(now, last):
            rows, columns = np.nonzero((now != last).any(axis=2))
            x, y = int(columns.min()), int(rows.min())
            box = (x, y, int(columns.max()) - x + 1, int(rows.max()) - y + 1)
            found.append((time.monotonic() - began, box))
            last = now
    return found


# What is typed arrives.


def _check_typing(desktop: Desktop, report: AppCheck, tree: Node | None) -> None:
    field_ = _text_field(tree)
    if field_ is not None and "focused" not in field_.states and field_.box is not None:
        x, y, width, height = field_.box
        at = (x + min(width, 400) // 2, y + min(height, 40) // 2)
        if 0 <= at[0] < desktop.size.width and 0 <= at[1] < desktop.size.height:
            desktop.perform(Action.click(Point.from_pixel(*at, desktop.size)))
    before = desktop.frame().copy()
    after = desktop.perform(Action.type(TYPED))
    if field_ is not None and field_.role in CELLS:
        desktop.perform(Action.key("enter"))  # a cell has its text once the entry is finished
    if _arrived(lambda: desktop.accessibility(timeout_s=TREE_S)):
        report.typed = True
        report.add("typing", "ok", "typed text arrives, and is read back")
    elif field_ is None and not np.array_equal(before, after):
        report.add("typing", "ok", "the screen changes with keys; there is no text field to read back from")
    elif field_ is None:
        report.add("typing", "ok", "no text field in sight: not tried")
    else:
        report.typed = False
        what = f"{TYPED!r} did not arrive in the {field_.role} {field_.name[:40]!r}"
        report.add("typing", "weak", what, "it may filter what it takes; check by `operant bench typing`")


def _text_field(tree: Node | None) -> Node | None:
    """Where to type: what has the focus if it takes text (a sheet does, too), else the largest field in sight."""
    if tree is None:
        return None
    takers = [one for one in tree.walk() if one.box and _takes_text(one)]
    focused = next((one for one in reversed(takers) if "focused" in one.states), None)
    fields = [one for one in takers if one.role in FIELDS]
    return focused or max(fields, key=lambda one: one.box[2] * one.box[3] if one.box else 0, default=None)


def _takes_text(node: Node) -> bool:
    usable = bool(node.states & {"enabled", "sensitive"})
    return node.role == "terminal" or (usable and "editable" in node.states)


def _arrived(read: Callable[[], Node]) -> bool:
    try:
        return any(TYPED in text for node in read().walk() for text in (node.text or "", node.name))
    except AccessibilityError:
        return False


# A reset leaves nothing.


def _traces(desktop: Desktop) -> set[str]:
    """Programs that run and files that are there."""
    programs = {f"process {one.name}" for one in desktop.processes()}
    listed = desktop.run(["find", "/home/user", "/tmp", "/dev/shm", "-mindepth", "1"], timeout_s=10.0).stdout
    return programs | {f"file {path}" for path in listed.decode("utf-8", "replace").splitlines()}


def _check_reset(desktop: Desktop, report: AppCheck, before: set[str], blank: Frame) -> None:
    began = time.monotonic()
    try:
        desktop.reset()
        report.reset_ms = round((time.monotonic() - began) * 1000, 1)
        report.left = sorted(_traces(desktop) - before)
        desktop.settle()
        if not np.array_equal(desktop.frame(), blank):
            report.left.append("pixels on the screen")
    except DesktopError as error:
        report.add("reset", "unusable", f"the desktop could not be reset: {error.message}", error.hint or "")
        return
    if report.left:
        what = f"a reset left {', '.join(report.left[:5])}"
        report.add(
            "reset", "unusable", what, "this is a defect of Operant: please report it with the command"
        )
    else:
        report.add("reset", "ok", f"nothing is left after {report.reset_ms:.0f} ms")
