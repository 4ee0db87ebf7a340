"""The nouns that every layer shares: points, actions, and what a desktop shows.

Everything here is frozen and knows nothing of X11, tasks or models; numpy is the heaviest import.

Coordinates have one contract. Inside Operant a point is a pair of fractions of the whole screen in
``[0, 1]``; pixels exist only at the edges (the X server, other systems' formats). ``Point.from_pixel``
takes the centre of a pixel and ``Point.to_pixel`` takes the pixel that holds the point, so that a
pixel survives the round trip on every screen size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal, get_args

from operant.errors import InvalidAction

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "ACTION_MODES",
    "Action",
    "ActionKind",
    "ActionMode",
    "ActionResult",
    "Button",
    "Caret",
    "Difficulty",
    "Monitor",
    "Node",
    "Observation",
    "Outcome",
    "PastAction",
    "Point",
    "Process",
    "RunResult",
    "ScrollUnit",
    "Size",
    "StepResult",
    "Transition",
    "Window",
]


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height in pixels."""

    width: int
    height: int

    def __post_init__(self) -> None:
        if self.width < 1 or self.height < 1:
            raise InvalidAction(f"a screen of {self.width}x{self.height} pixels has no area")

    def __iter__(self) -> Iterator[int]:
        return iter((self.width, self.height))

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


@dataclass(frozen=True, slots=True)
class Point:
    """A place on the screen, as fractions of its width and height."""

    x: float
    y: float

    def __post_init__(self) -> None:
        for name, value in (("x", self.x), ("y", self.y)):
            if not 0.0 <= value <= 1.0:  # neither is NaN
                raise InvalidAction(
                    f"{name}={value!s:.24} is not a fraction of the screen",
                    hint="coordinates are fractions in [0, 1]; use Point.from_pixel for pixels",
                )

    @classmethod
    def from_pixel(cls, x: float, y: float, size: Size) -> Point:
        """The centre of pixel (x, y); a pixel that is not on the screen is an error."""
        if not (0 <= x < size.width and 0 <= y < size.height):
            raise InvalidAction(
                f"pixel ({x!s:.20}, {y!s:.20}) is off the {size} screen",
                hint=f"x goes from 0 to {size.width - 1}, y from 0 to {size.height - 1}",
            )
        return cls((math.floor(x) + 0.5) / size.width, (math.floor(y) + 0.5) / size.height)

    def to_pixel(self, size: Size) -> tuple[int, int]:
        """The pixel that holds this point."""
        return (
            min(int(self.x * size.width), size.width - 1),
            min(int(self.y * size.height), size.height - 1),
        )


class ActionKind(str, Enum):
    """What an action does. The last four end an episode; the rest touch the desktop."""

    MOVE = "move"
    CLICK = "click"
    MOUSE_DOWN = "mouse_down"
    MOUSE_UP = "mouse_up"
    DRAG = "drag"
    SCROLL = "scroll"
    KEY = "key"
    KEY_DOWN = "key_down"
    KEY_UP = "key_up"
    HOLD = "hold"
    TYPE = "type"
    WAIT = "wait"
    SCREENSHOT = "screenshot"
    CALL = "call"
    DONE = "done"
    FAIL = "fail"
    ASK = "ask"
    ANSWER = "answer"

    @property
    def terminal(self) -> bool:
        return self in (ActionKind.DONE, ActionKind.FAIL, ActionKind.ASK, ActionKind.ANSWER)

    @property
    def uses_hands(self) -> bool:
        """Whether it takes a pointer or a keyboard."""
        without = (ActionKind.WAIT, ActionKind.SCREENSHOT, ActionKind.CALL)
        return not self.terminal and self not in without


#: What an agent may do: use pointer and keyboard (``gui``), call functions of applications (``api``), or both.
ActionMode = Literal["gui", "api", "both"]
ACTION_MODES: tuple[ActionMode, ...] = get_args(ActionMode)


class Button(str, Enum):
    """Pointer buttons, by what people call them."""

    LEFT = "left"
    MIDDLE = "middle"
    RIGHT = "right"
    BACK = "back"
    FORWARD = "forward"


class ScrollUnit(str, Enum):
    """What a scroll amount counts: detents of a wheel, or pixels of content (about 100 a detent)."""

    NOTCH = "notch"
    PIXEL = "pixel"


#: Fields that each kind may carry besides ``kind`` and ``screen``; required ones are marked with "!".
_FIELDS: Mapping[ActionKind, str] = {
    ActionKind.MOVE: "point!",
    ActionKind.CLICK: "point button clicks modifiers",
    ActionKind.MOUSE_DOWN: "point button",
    ActionKind.MOUSE_UP: "point button",
    ActionKind.DRAG: "path! button modifiers duration",
    ActionKind.SCROLL: "point dx dy unit modifiers",
    ActionKind.KEY: "keys!",
    ActionKind.KEY_DOWN: "keys!",
    ActionKind.KEY_UP: "keys!",
    ActionKind.HOLD: "keys! duration!",
    ActionKind.TYPE: "text!",
    ActionKind.WAIT: "duration",
    ActionKind.SCREENSHOT: "region",
    ActionKind.CALL: "function! args kwargs",
    ActionKind.DONE: "",
    ActionKind.FAIL: "text",
    ActionKind.ASK: "text",
    ActionKind.ANSWER: "text!",
}


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that an agent does, whichever format it was said in.

    ``point`` absent means "where the pointer is". A ``path`` of one point drags from where the
    pointer is. ``keys`` are names of ``operant.actions.keys`` pressed together, in order; a positive
    ``dy`` scrolls down and a positive ``dx`` right. ``duration`` is in seconds. A ``call`` names an
    application's API function with literal arguments. ``screen`` is the resolution that the sender's
    pixels referred to, where there were any.

    >>> Action.click(Point(0.5, 0.5), clicks=2).kind
    <ActionKind.CLICK: 'click'>
    """

    kind: ActionKind
    point: Point | None = None
    button: Button = Button.LEFT
    clicks: int = 1
    modifiers: tuple[str, ...] = ()
    path: tuple[Point, ...] = ()
    dx: float = 0.0
    dy: float = 0.0
    unit: ScrollUnit = ScrollUnit.NOTCH
    keys: tuple[str, ...] = ()
    text: str = ""
    duration: float = 0.0
    region: tuple[Point, Point] | None = None
    function: str = ""
    args: tuple[object, ...] = ()
    kwargs: tuple[tuple[str, object], ...] = ()
    screen: Size | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        allowed = _FIELDS[self.kind].split()
        names = {name.rstrip("!") for name in allowed}
        for f in fields(self):
            if f.name in ("kind", "screen") or f.name in names:
                continue
            if getattr(self, f.name) != f.default:
                raise InvalidAction(f"a {self.kind.value} action takes no {f.name}")
        for name in allowed:
            if name.endswith("!") and getattr(self, name[:-1]) in (None, (), "", 0.0):
                raise InvalidAction(f"a {self.kind.value} action needs {name[:-1]}")
        if self.clicks not in (1, 2, 3):
            raise InvalidAction(f"clicks={self.clicks!r}", hint="an action clicks 1 to 3 times")
        if not 0.0 <= self.duration <= MAX_DURATION_S:
            raise InvalidAction(
                f"duration={self.duration!s:.24} s", hint=f"durations go from 0 to {MAX_DURATION_S} s"
            )
        if not (abs(self.dx) <= MAX_SCROLL and abs(self.dy) <= MAX_SCROLL):
            raise InvalidAction(f"a scroll by ({self.dx}, {self.dy})", hint=f"at most {MAX_SCROLL}")

    # Constructors, named as people say them.

    @classmethod
    def move(cls, point: Point, **more: object) -> Action:
        return cls(ActionKind.MOVE, point=point, **more)  # type: ignore[arg-type]

    @classmethod
    def click(cls, point: Point | None = None, **more: object) -> Action:
        return cls(ActionKind.CLICK, point=point, **more)  # type: ignore[arg-type]

    @classmethod
    def drag(cls, *path: Point, **more: object) -> Action:
        return cls(ActionKind.DRAG, path=path, **more)  # type: ignore[arg-type]

    @classmethod
    def scroll(cls, point: Point | None = None, **more: object) -> Action:
        return cls(ActionKind.SCROLL, point=point, **more)  # type: ignore[arg-type]

    @classmethod
    def key(cls, *keys: str, **more: object) -> Action:
        return cls(ActionKind.KEY, keys=keys, **more)  # type: ignore[arg-type]

    @classmethod
    def type(cls, text: str, **more: object) -> Action:
        return cls(ActionKind.TYPE, text=text, **more)  # type: ignore[arg-type]

    @classmethod
    def wait(cls, duration: float = 0.0, **more: object) -> Action:
        return cls(ActionKind.WAIT, duration=duration, **more)  # type: ignore[arg-type]

    @classmethod
    def call(cls, function: str, arguments: Mapping[str, object] | None = None) -> Action:
        return cls(ActionKind.CALL, function=function, kwargs=tuple((arguments or {}).items()))

    @classmethod
    def done(cls) -> Action:
        return cls(ActionKind.DONE)

    @classmethod
    def fail(cls, reason: str = "") -> Action:
        return cls(ActionKind.FAIL, text=reason)


MAX_DURATION_S = 60.0
MAX_SCROLL = 100_000.0


class Difficulty(str, Enum):
    """How long a task is, in actions of its oracle."""

    EASY = "EASY"  # fewer than 8
    MEDIUM = "MEDIUM"  # 8 to 15
    HARD = "HARD"  # more than 15

    @classmethod
    def of_steps(cls, steps: int) -> Difficulty:
        return cls.EASY if steps < 8 else cls.MEDIUM if steps <= 15 else cls.HARD


class Outcome(str, Enum):
    """How an episode ended. Only the first three are verified, and experience to learn from."""

    SUCCESS = "success"
    FAILURE = "failure"
    TRUNCATED = "truncated"
    UNVERIFIED = "unverified"
    """There are no criteria: neither success nor failure, whatever the agent claims."""
    INFRA_ERROR = "infra_error"
    VERIFIER_ERROR = "verifier_error"

    @property
    def is_experience(self) -> bool:
        return self in (Outcome.SUCCESS, Outcome.FAILURE, Outcome.TRUNCATED)


@dataclass(frozen=True, slots=True)
class Monitor:
    """A region of the screen that acts as one physical display."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Window:
    """A top-level window; the geometry is its client area in screen pixels."""

    id: int
    title: str
    wm_class: str
    pid: int | None
    x: int
    y: int
    width: int
    height: int
    focused: bool
    minimized: bool = False
    maximized: bool = False
    instance: str = ""
    """The first half of WM_CLASS; ``wm_class`` is the second."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process of the desktop; the pid is the one that programs inside see."""

    pid: int
    parent: int
    name: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a command printed and how it ended; a negative code is the signal that ended it."""

    returncode: int
    stdout: bytes
    stderr: bytes
    truncated: bool = False

    @property
    def output(self) -> str:
        return self.stdout.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Node:
    """One widget of an accessibility tree. ``box`` is (x, y, width, height) in screen pixels."""

    role: str
    name: str
    states: frozenset[str]
    box: tuple[int, int, int, int] | None
    text: str | None = None
    value: float | None = None
    description: str = ""
    children: tuple[Node, ...] = ()
    url: str | None = None

    def walk(self) -> Iterator[Node]:
        """This node and everything below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()

    def at(self, x: int, y: int) -> Node | None:
        """The smallest widget that holds this pixel, the innermost one of equals."""
        found, area = None, 0
        for node in self.walk():
            if node.box is None:
                continue
            left, top, width, height = node.box
            if (
                left <= x < left + width
                and top <= y < top + height
                and (found is None or width * height <= area)
            ):
                found, area = node, width * height
        return found

    def find(self, role: str | None = None, name: str | None = None) -> Node | None:
        """The first node below (or at) this one with that role and name."""
        for node in self.walk():
            if role in (None, node.role) and name in (None, node.name):
                return node
        return None


@dataclass(frozen=True, slots=True)
class Caret:
    """Where the next key goes within the text that has the focus."""

    text: str
    offset: int
    """How many characters stand before it."""
    selection: tuple[int, int] | None = None
    """Where the selection begins and ends, if there is one."""

    @property
    def selected(self) -> str:
        begin, end = self.selection or (0, 0)
        return self.text[begin:end]


@dataclass(frozen=True, slots=True)
class StepResult:
    """How the screen took an action: how long it was watched, and why watching ended."""

    changed: bool
    """Whether anything was drawn meanwhile. Whether an agent sees a difference: ``TaskEnvironment.changed``."""
    settled: bool
    waited_ms: float
    text: str = ""
    """What a call answered."""


@dataclass(frozen=True, slots=True)
class PastAction:
    """An action that was taken, and what it was aimed at."""

    action: Action
    target: str = ""
    """The name of the widget or window that was under the point, where that was known."""
    changed: bool = True
    """Whether the screen looked different afterwards."""


@dataclass(frozen=True, slots=True, eq=False)
class ActionResult:
    """What became of one action of the agent's last turn."""

    action: Action
    error: str = ""
    """Why it was not performed; empty if it was."""
    skipped: bool = False
    """Not performed because an earlier action of the turn failed; ``error`` says so."""
    text: str = ""
    """What it answered, such as the result of a call."""
    screen: npt.NDArray[np.uint8] | None = None
    """What a screenshot action showed: the screen, or its region, at full resolution."""
    pointer: Point | None = None
    """Where the pointer was afterwards."""


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """What an agent sees before it acts."""

    screen: npt.NDArray[np.uint8]
    """RGB, (height, width, 3), at the desktop's own resolution."""
    instruction: str
    step: int
    """Actions taken so far."""
    max_steps: int
    pointer: Point
    last_action: Action | None = None
    history: tuple[PastAction, ...] = ()
    """All actions so far, the last one last."""
    held_keys: tuple[str, ...] = ()
    held_buttons: tuple[str, ...] = ()
    windows: tuple[Window, ...] = ()
    tree: Node | None = None
    error: str | None = None
    """Why the last action was not performed, if it was not."""
    results: tuple[ActionResult, ...] = ()
    """What became of the actions of the agent's last turn, in order; empty before the first turn."""

    @property
    def answer(self) -> str:
        """What the last action answered, such as the result of a call; empty if nothing."""
        return self.results[-1].text if self.results else ""

    def aimed_at(self, action: Action) -> str:
        """What the thing is called that an action points at; empty if it points at nothing."""
        point = action.point or (action.path[0] if action.path else None)
        if point is None:
            return ""
        height, width = self.screen.shape[:2]
        x, y = point.to_pixel(Size(width, height))
        node = self.tree.at(x, y) if self.tree is not None else None
        if node is not None:
            # Beside a line is aimed at that line: the cursor goes to its end.
            lines = (child for child in node.children if child.role == "line")
            node = next((line for line in lines if line.box and 0 <= y - line.box[1] < line.box[3]), node)
            return node.name or node.text or node.role
        for window in reversed(self.windows):
            if window.x <= x < window.x + window.width and window.y <= y < window.y + window.height:
                return window.title
        return ""


@dataclass(frozen=True, slots=True, eq=False)
class Transition:
    """What an action led to."""

    observation: Observation
    reward: float
    terminated: bool
    """The agent ended the episode."""
    truncated: bool
    """The step cap ended it."""
    outcome: Outcome | None = None
    """How it ended; None while it goes on."""
    info: Mapping[str, Any] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        return self.terminated or self.truncated
