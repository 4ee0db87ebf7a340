"""Runs a candidate's tests on a fresh desktop without a network, and compares what happened with what was stated.

Everything that the call changed is looked for from outside: files, windows, processes and the clipboard. The candidate's
code runs inside the desktop only, in the process that carries out calls.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from operant.apps import App
from operant.building.candidate import CallOutcome, Candidate, FunctionTest, check_result
from operant.calls.admitted import code_files
from operant.calls.catalog import find_function
from operant.calls.declaration import Function
from operant.config.desktop import DesktopConfig
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import (
    ApplicationError,
    BadArguments,
    CallFailed,
    CallTimeout,
    DesktopDied,
    DesktopTimeout,
    InvalidPath,
    OperantError,
)

__all__ = ["TrialReport", "run_trial"]

HOME = "/home/user"
PLACES = (HOME, "/tmp", "/dev/shm")  # where programs of a desktop can write
#: Applications write these on their own, whenever they find the time.
VOLATILE = (f"{HOME}/.cache/", f"{HOME}/.local/share/recently-used.xbel", f"{HOME}/.dbus/", "/tmp/.")
MOST_SHOWN = 200  # characters of a value in a message
FIND_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class TrialReport:
    """What the tests came to on one desktop."""

    runs: list[dict[str, Any]]
    problems: list[str]


@dataclass(frozen=True, slots=True)
class _State:
    """What a call may have changed."""

    files: Mapping[str, str]
    windows: int
    processes: Mapping[int, str]
    clipboard: str


def run_trial(candidate: Candidate, app: App) -> TrialReport:
    """All tests and mutations on one desktop that was started for them; ends at the first that fails."""
    function = candidate.declaration
    config = DesktopConfig(network=False, isolated=True)
    runs: list[dict[str, Any]] = []
    with SandboxDesktop(config, functions=code_files(function.api, function.name, candidate.code)) as desktop:
        for which, test, arguments, expected in _runs(candidate):
            began = time.monotonic()
            try:
                problems = _run(desktop, app, function, test, arguments, expected)
            except (ApplicationError, DesktopDied, DesktopTimeout) as error:
                problems = [f"the desktop can't be used after it: {error.message}"]
            seconds = round(time.monotonic() - began, 3)
            runs.append({"run": which, "arguments": arguments, "seconds": seconds, "passed": not problems})
            if problems:
                return TrialReport(runs, [f"{which}: {why}" for why in problems])
    return TrialReport(runs, [])


def _runs(candidate: Candidate) -> Iterator[tuple[str, FunctionTest, dict[str, Any], CallOutcome]]:
    for number, test in enumerate(candidate.tests, 1):
        yield f"test {number}", test, test.arguments, test.expect
        for n, one in enumerate(test.mutations, 1):
            yield f"test {number}, mutation {n}", test, {**test.arguments, **one.arguments}, one.expect


def _run(
    desktop: SandboxDesktop,
    app: App,
    function: Function,
    test: FunctionTest,
    arguments: dict[str, Any],
    expected: CallOutcome,
) -> list[str]:
    desktop.reset()
    files: dict[str, str | bytes] = {**app.home(), **test.files}
    try:
        for path, content in files.items():
            desktop.files.write(path, content)
        if test.open is not None:
            desktop.launch(app.argv(*test.open), timeout_s=60.0)
    except (ApplicationError, InvalidPath, OSError) as error:
        return [f"it could not be set up: {error}"]
    desktop.call(
        find_function("files.list_folder"), {}
    )  # starts the process, which is no change of the function's
    desktop.settle()
    before = _look(desktop)
    try:
        text = desktop.call(function, arguments)
        said = None
    except CallTimeout as error:
        return [error.message]
    except CallFailed as error:
        text, said = "", error.message
    desktop.settle()
    problems = [*_answer_problems(function, text, said, expected)]
    problems += _change_problems(before, _look(desktop), expected)
    return problems or _later_problems(desktop, expected)


def _answer_problems(function: Function, text: str, said: str | None, expected: CallOutcome) -> Iterator[str]:
    if expected.refused is not None:
        if said is None:
            yield f"it should refuse with {expected.refused!r}, and returned {_shown(text)}"
        elif expected.refused not in said:
            yield f"it should refuse with {expected.refused!r}, and said {_shown(said)}"
        return
    if said is not None:
        yield f"it failed: {_shown(said)}"
        return
    try:
        value = text if function.result == "str" else json.loads(text)
        check_result(function, value)
    except (ValueError, RecursionError):
        yield f"it says that it returns {function.result}, and returned {_shown(text)}"
        return
    except BadArguments as error:
        yield f"it says that it returns {function.result}: {error.message}"
        return
    if expected.result is not None and not _same(value, expected.result):
        yield f"the result is {_shown(value)}, and {_shown(expected.result)} was stated"


def _change_problems(before: _State, after: _State, expected: CallOutcome) -> Iterator[str]:
    stated = {f"{HOME}/{path}" for path in expected.changes}
    changed = {
        path
        for path in {*before.files, *after.files}
        if before.files.get(path) != after.files.get(path) and not path.startswith(VOLATILE)
    }
    for path in sorted(changed - stated):
        # A folder that is made for a stated file is a part of it.
        if not any(one.startswith(f"{path}/") for one in stated):
            yield f"it changes {path}, which is not stated"
    for name, content in expected.changes.items():
        path = f"{HOME}/{name}"
        wanted = None if content is None else _digest(content)
        if after.files.get(path) != wanted:
            yield f"{name} is not as stated afterwards"
        elif path not in changed:
            yield f"{name} is stated as a change and was so before"
    if (grown := after.windows - before.windows) != expected.windows:
        yield f"the number of windows changes by {grown}, and {expected.windows} was stated"
    left = Counter(name for pid, name in after.processes.items() if pid not in before.processes)
    if left != Counter(expected.starts):
        yield f"it leaves {', '.join(left.elements()) or 'no program'} running, which is not as stated"
    wanted_clipboard = before.clipboard if expected.clipboard is None else expected.clipboard
    if after.clipboard != wanted_clipboard:
        yield f"the clipboard holds {_shown(after.clipboard)}, which is not as stated"


def _later_problems(desktop: SandboxDesktop, expected: CallOutcome) -> list[str]:
    for call in expected.then:
        function = find_function(call.function)
        try:
            text = desktop.call(function, call.arguments)
            value = text if function.result == "str" else json.loads(text)
        except (OperantError, ValueError) as error:
            return [f"{call.function} afterwards: {error}"]
        if not _same(value, call.result):
            return [f"{call.function} then returns {_shown(value)}, and {_shown(call.result)} was stated"]
    return []


def _look(desktop: SandboxDesktop) -> _State:
    kinds = desktop.run(
        ["find", *PLACES, "-not", "-type", "f", "-printf", "%y %l %p\\n"], timeout_s=FIND_TIMEOUT_S
    )
    sums = desktop.run(
        ["find", *PLACES, "-type", "f", "-exec", "sha256sum", "{}", "+"], timeout_s=FIND_TIMEOUT_S
    )
    files = {}
    for line in kinds.output.splitlines():
        kind, _, rest = line.partition(" ")
        target, _, path = rest.partition(" /")
        files[f"/{path}"] = f"{kind} {target}"
    for line in sums.output.splitlines():
        digest, _, path = line.partition("  ")
        files[path] = digest
    processes = {one.pid: one.name for one in desktop.processes()}
    return _State(files, len(desktop.windows()), processes, _clipboard(desktop))


def _clipboard(desktop: SandboxDesktop) -> str:
    try:
        return desktop.clipboard.get() or ""
    except OperantError:
        return ""


def _digest(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()


def _same(one: object, other: object) -> bool:
    """Equal as JSON: true is not 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "..."
