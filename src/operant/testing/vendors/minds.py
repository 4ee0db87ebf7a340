"""What answers behind a server: the oracle of a task on its live desktop, or a fixed list of actions.

A mind says the next actions in canonical form; protocols put them into words. A mind that plays an oracle may put
several actions into one turn only where its rehearsal shows that no look was needed: see ``Rehearsal``.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from operant.errors import AgentError
from operant.tasks.oracle import next_action
from operant.types import Action, ActionKind, Button, Node, Observation, Point, Size, Window

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.tasks.task import Task

__all__ = ["Mind", "OracleMind", "OtherWay", "Rehearsal", "ScriptedMind"]

_KEYBOARD = (ActionKind.KEY, ActionKind.TYPE)
_NEW_FOLDER = "Creating New Folder"  # the title of the file manager's dialog
_MENU_CLICKS = 3  # a right click, a submenu, an entry


@dataclass(frozen=True)
class OtherWay:
    """Actions that do the same as one for which a dialect has no words."""

    name: str
    """Of the difference, for a table."""
    actions: tuple[Action, ...]


class Mind(ABC):
    """Decides what a model would do next."""

    screen: Size = Size(1280, 800)
    """For models that are shown no picture: they count the screen's own pixels."""

    @abstractmethod
    def next(self, *, batches: bool) -> tuple[Action, ...]:
        """The next actions. With ``batches`` more than one may be said at once; an action that ends comes alone."""

    def by_keys(self, action: Action) -> OtherWay | None:
        """Keys that do the same as an action for which a dialect has no words; None if there are none."""
        return None


class ScriptedMind(Mind):
    """Says the given turns in order, then that it is done."""

    def __init__(self, turns: Iterable[Action | Sequence[Action]]) -> None:
        self._turns = [(turn,) if isinstance(turn, Action) else tuple(turn) for turn in turns]

    def next(self, *, batches: bool) -> tuple[Action, ...]:
        return self._turns.pop(0) if self._turns else (Action.done(),)


@dataclass(frozen=True)
class RehearsedAction:
    """One action of an oracle's earlier episode."""

    action: Action
    kept_windows: bool
    """Whether the same windows were there afterwards, with the same focus: nothing opened, closed or took the keyboard."""
    opened: frozenset[str] = frozenset()
    """Titles that windows had afterwards and not before."""


@dataclass(frozen=True)
class Rehearsal:
    """What the oracle did in an earlier episode of the same task and seed.

    It allows honest batches. A keyboard action may follow in the same turn if the action before it changed no
    window: it goes where the keyboard already goes, so no look is needed to aim it. The live oracle decides each
    turn's first action. Where that differs from the rehearsal, the turn holds this one action.
    """

    steps: tuple[RehearsedAction, ...]

    @property
    def most(self) -> int:
        """An oracle that needs more actions than this goes in circles."""
        return 2 * len(self.steps) + 10

    def following(self, index: int, first: Action) -> tuple[Action, ...]:
        """The actions that may come in one turn with the action at this place."""
        if index >= len(self.steps) or self.steps[index].action != first:
            return ()
        found: list[Action] = []
        for before, after in zip(self.steps[index:], self.steps[index + 1 :], strict=False):
            if not before.kept_windows or after.action.kind not in _KEYBOARD:
                break
            found.append(after.action)
        return tuple(found)

    def opens(self, title: str, begin: int, count: int) -> bool:
        """Whether one of ``count`` actions from this place on opened a window of this title."""
        return any(title in step.opened for step in self.steps[begin : begin + count])

    @classmethod
    def of(cls, actions: Sequence[Action], windows: Sequence[Sequence[Window]]) -> Rehearsal:
        """From the actions of an episode and the windows before each of them."""
        changes = list(itertools.pairwise(windows))
        kept = [_same_windows(before, after) for before, after in changes]
        opened = [_titles(after) - _titles(before) for before, after in changes]
        kept += [False] * (len(actions) - len(kept))
        opened += [frozenset()] * (len(actions) - len(opened))
        return cls(tuple(map(RehearsedAction, actions, kept, opened)))


def _same_windows(before: Sequence[Window], after: Sequence[Window]) -> bool:
    def told(windows: Sequence[Window]) -> list[tuple[int, bool]]:
        return sorted((window.id, window.focused) for window in windows)

    return told(before) == told(after)


def _titles(windows: Sequence[Window]) -> frozenset[str]:
    return frozenset(window.title for window in windows)


class OracleMind(Mind):
    """Asks the task's oracle, which sees the desktop from inside, for each turn."""

    def __init__(self, desktop: Desktop, task: Task, rehearsal: Rehearsal | None = None) -> None:
        oracle = task.oracle_for(task.actions_on(desktop))
        if oracle is None:
            raise AgentError(f"{task.id} has no oracle", hint="tasks of a suite have one")
        self._desktop = desktop
        self._oracle = oracle
        self._rehearsal = rehearsal
        self._last: Action | None = None
        self._answer = ""
        self._clicked: Point | None = None
        self.said = 0
        """How many actions it has said so far."""

    def seen(self, observation: Observation) -> None:
        """What came of the last turn. An action that was not performed is not the oracle's last one."""
        height, width = observation.screen.shape[:2]
        self.screen = Size(width, height)
        self._answer = observation.answer
        if any(result.error for result in observation.results) or observation.error:
            self._last = observation.last_action

    def next(self, *, batches: bool) -> tuple[Action, ...]:
        # The oracle's own last action, not the one read back from the dialect: rounding moves points a little.
        if self._rehearsal is not None and self.said > self._rehearsal.most:
            return (
                Action.fail(f"went in circles: {self.said} actions, {len(self._rehearsal.steps)} needed"),
            )
        first = next_action(self._oracle, self._desktop, self._last, self._answer)
        following: tuple[Action, ...] = ()
        if batches and self._rehearsal is not None and not first.kind.terminal:
            following = self._rehearsal.following(self.said, first)
        actions = (first, *following)
        self._last = actions[-1]
        self.said += len(actions)
        if first.kind is ActionKind.CLICK and not first.modifiers:
            self._clicked = first.point
        return actions

    def by_keys(self, action: Action) -> OtherWay | None:
        """Keys for a double click, a Ctrl+click and the desktop's menu.

        On a row of a list or on an icon, a click and a key open what a double click opens. A Ctrl+click adds a row to
        those that are selected; Ctrl+arrows from the row that was clicked or added last, and Ctrl+Space, do it as well.
        Ctrl+Shift+N makes a folder where the desktop's menu would.
        """
        if action.kind is not ActionKind.CLICK or action.point is None:
            return None
        item = _item_at(self._desktop, self.screen, action.point)
        if action.button is Button.RIGHT and item is None:
            return self._new_folder(action.point)
        if action.button is Button.LEFT and item is None and action.clicks == 2:
            return self._word_selected(action.point)
        if action.button is not Button.LEFT or item is None:
            return None
        if action.clicks == 2 and not action.modifiers:
            # Enter would accept a dialog for files; Shift+Space opens the folder that is selected in it.
            opening = Action.key("shift", "space") if item.in_dialog else Action.key("enter")
            return OtherWay("double click as click and key", (Action.click(action.point), opening))
        return self._added(action.point, item) if action.modifiers == ("ctrl",) else None

    def _new_folder(self, point: Point) -> OtherWay | None:
        rehearsal, index = self._rehearsal, self.said - 1
        if rehearsal is None or not rehearsal.opens(_NEW_FOLDER, index, _MENU_CLICKS):
            return None
        keys = Action.key("ctrl", "shift", "n")
        return OtherWay("desktop's menu as Ctrl+Shift+N", (Action.click(point), keys))

    def _word_selected(self, point: Point) -> OtherWay | None:
        if not any(node.role == "text" for node, _ in _nodes_at(self._desktop, self.screen, point)):
            return None
        keys = (Action.key("ctrl", "right"), Action.key("ctrl", "shift", "left"))
        return OtherWay(
            "double click on a word as click, Ctrl+Right, Ctrl+Shift+Left", (Action.click(point), *keys)
        )

    def _added(self, point: Point, item: _Item) -> OtherWay | None:
        begin = _item_at(self._desktop, self.screen, self._clicked)
        if begin is None or begin.height != item.height:
            return None
        self._clicked = point
        rows = round((item.top - begin.top) / item.height)
        arrow = Action.key("ctrl", "down" if rows > 0 else "up")
        keys = ((arrow,) * abs(rows)) + (Action.key("ctrl", "space"),)
        return OtherWay("Ctrl+click as Ctrl+arrows and Ctrl+Space", keys)


@dataclass(frozen=True)
class _Item:
    """A row of a list, or an icon."""

    top: int
    height: int
    in_dialog: bool


def _item_at(desktop: Desktop, screen: Size, point: Point | None) -> _Item | None:
    if point is None:
        return None
    for node, in_dialog in _nodes_at(desktop, screen, point):
        if node.role in ("table cell", "icon") and node.box is not None:
            return _Item(node.box[1], node.box[3], in_dialog)
    return None


def _nodes_at(desktop: Desktop, screen: Size, point: Point) -> Iterator[tuple[Node, bool]]:
    """The widgets at a place, and whether each is in a dialog."""
    x, y = point.to_pixel(screen)
    waiting = [(desktop.accessibility(), False)]
    while waiting:
        node, in_dialog = waiting.pop()
        in_dialog = in_dialog or node.role in ("dialog", "file chooser", "alert")
        if node.box is not None:
            left, top, width, height = node.box
            if left <= x < left + width and top <= y < top + height:
                yield node, in_dialog
        waiting += [(child, in_dialog) for child in node.children]
