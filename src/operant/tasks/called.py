"""Oracles by calls, derived from what a task changes: functions for files make the declared effects, and goals of
applications are reached by the calls that they name (``Goal.called``).

Of a file that is written, an agent has to know what stands in it already. So files that share a line with it are read
first.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from operant.apps.moves import Goal, Goals
from operant.apps.view import View
from operant.tasks.changes import Change, Disk
from operant.tasks.criteria import AllOf, Answer, ClipboardEquals, Criterion, FileEquals
from operant.tasks.setup import SetupStep
from operant.types import Action

__all__ = ["called_oracle"]


def called_oracle(setup: Sequence[SetupStep], changes: Sequence[Change]) -> Goals | None:
    """How calls make these changes; None if there is a change that they can't make."""
    by_files = [change for change in changes if change.effect is not None and _called(change) is None]
    asks = any(isinstance(hold, Answer) for change in changes for hold in change.holds)
    goals: list[Goal] = []
    for change in changes:
        called = _called(change)
        if called is not None:
            goals.append(called)
        elif change in by_files:
            if change is by_files[0]:
                made = _file_goals(Disk.of(setup), _after(setup, by_files))
                if made is None:
                    return None
                goals += made
        elif change.goal is not None and (asks or change.holds) and not _only_copied(change.holds):
            return None  # a look that the answer needs, or something that only the screen can do
        goals += [_copied(hold.text) for hold in change.holds if isinstance(hold, ClipboardEquals)]
        if called is None and not all(_beside(hold) for hold in change.holds):
            return None
    return Goals(goals) if goals else None


def _called(change: Change) -> Goal | None:
    return change.goal.called if change.goal is not None else None


def _beside(hold: Criterion) -> bool:
    """Whether calls for files and clipboard bring it about beside an effect, such as a file in the trash."""
    if isinstance(hold, AllOf):
        return all(_beside(one) for one in hold.of)
    return isinstance(hold, FileEquals | ClipboardEquals)


def _only_copied(holds: Sequence[Criterion]) -> bool:
    return bool(holds) and all(isinstance(hold, ClipboardEquals) for hold in holds)


def _copied(text: str) -> Goal:
    return Goal(
        lambda view: view.clipboard() == text, lambda view: Action.call("clipboard.set_text", {"text": text})
    )


# Files.


def _after(setup: Sequence[SetupStep], changes: Iterable[Change]) -> Disk:
    disk = Disk.of(setup)
    for change in changes:
        if change.effect is not None:
            change.effect(disk)
    return disk


def _file_goals(before: Disk, wanted: Disk) -> list[Goal] | None:
    """The goals that lead from one state of the disk to the other."""
    made: list[Goal] = []
    gone = {path for path in before.files if path not in wanted.files}
    new = {path for path in wanted.files if path not in before.files}
    lost = before.folders - wanted.folders
    come = wanted.folders - before.folders
    for old in sorted(lost):  # whole folders under another name or elsewhere
        for target in sorted(come):
            if old in lost and target in come and _below(before, old) == _below(wanted, target) != {}:
                made.append(_moved(old, target))
                gone = {path for path in gone if not path.startswith(old + "/")}
                new = {path for path in new if not path.startswith(target + "/")}
                lost = {path for path in lost if path != old and not path.startswith(old + "/")}
                come = {path for path in come if path != target and not path.startswith(target + "/")}
    deepest = [path for path in come if not any(other.startswith(path + "/") for other in come)]
    made = [*(_folder_made(path) for path in sorted(deepest)), *made]
    for path in sorted(new):
        content = wanted.files[path]
        same = [one for one in before.files if before.files[one] == content]
        same.sort(key=lambda one: (one not in gone, posixpath.basename(one) != posixpath.basename(path)))
        if same and same[0] in gone:
            gone.discard(same[0])
            made.append(_moved(same[0], path))
        elif same and content:
            made.append(_copied_file(same[0], path))
        elif isinstance(content, str):
            made.append(_written(path, content, before))
        else:
            return None
    for path in before.files:
        content = wanted.files.get(path, before.files[path])
        if content != before.files[path]:
            if not isinstance(content, str):
                return None
            made.append(_written(path, content, before))
    topmost = [path for path in lost if posixpath.dirname(path) not in lost]
    left = [path for path in gone if not any(path.startswith(folder + "/") for folder in topmost)]
    return [*made, *(_trashed(path) for path in sorted([*left, *topmost]))]


def _below(disk: Disk, folder: str) -> dict[str, str | bytes]:
    return {
        path[len(folder) :]: content for path, content in disk.files.items() if path.startswith(folder + "/")
    }


def _there(view: View, path: str) -> bool:
    return view.desktop.files.exists(path)


def _folder_made(path: str) -> Goal:
    return Goal(
        lambda view: _there(view, path), lambda view: Action.call("files.make_folder", {"path": path})
    )


def _moved(old: str, new: str) -> Goal:
    action = Action.call("files.move", {"source": old, "target": new})
    return Goal(lambda view: _there(view, new) and not _there(view, old), lambda view: action)


def _copied_file(old: str, new: str) -> Goal:
    action = Action.call("files.copy", {"source": old, "target": new})
    return Goal(lambda view: _there(view, new), lambda view: action)


def _trashed(path: str) -> Goal:
    return Goal(lambda view: not _there(view, path), lambda view: Action.call("files.trash", {"path": path}))


def _written(path: str, text: str, before: Disk) -> Goal:
    """Read the files that share a line with the text, and write it."""
    lines = {line for line in text.splitlines() if line.strip()}
    sources = [
        one
        for one, content in before.files.items()
        if isinstance(content, str) and (one == path or lines & set(content.splitlines()))
    ]
    steps = [Action.call("files.read", {"path": one}) for one in sources]
    steps.append(Action.call("files.write", {"path": path, "text": text}))

    def act(view: View) -> Action:
        # Reading leaves nothing to be seen: only the last action tells which file was read.
        following = steps.index(view.last) + 1 if view.last in steps else 0
        return steps[min(following, len(steps) - 1)]

    return Goal(lambda view: view.read(path) == text, act)
