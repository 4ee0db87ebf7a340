"""What a call costs beyond its function, and whether hostile calls can do anything at all.

The overhead is the time from ``perform`` until the function's answer is there, of functions that do next to nothing;
settling the screen, which every action does, is measured apart. Hostile calls have wrong names, types and sizes; each
must be refused with a typed error, and none may reach the desktop.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable
from typing import Any

from operant.apps import load_app
from operant.bench.record import median, percentile
from operant.calls.catalog import built_in_apis, find_function
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import InvalidAction
from operant.types import Action, ActionKind

__all__ = ["GOALS", "hostile_action", "measure_calls"]

Progress = Callable[[str], None]
#: (bound, whether smaller is better)
GOALS: dict[str, tuple[float, bool]] = {
    "call_overhead_p50_ms": (10.0, True),
    "uno_call_overhead_p50_ms": (10.0, True),
    "devtools_call_overhead_p50_ms": (10.0, True),
    "hostile_crashes": (0.0, True),
    "hostile_executions": (0.0, True),
}
MARK = "made-by-a-hostile-call"


def measure_calls(
    progress: Progress, count: int = 200, hostile: int = 10_000, seed: int = 0
) -> dict[str, Any]:
    """Times of calls on one desktop, and what became of hostile ones."""
    with SandboxDesktop() as desktop:
        progress("first call")
        began = time.perf_counter()
        desktop.perform(Action.call("files.info", {"path": "~"}))
        first_ms = (time.perf_counter() - began) * 1000
        progress(f"{count} calls")
        bare, whole = [], []
        runner = desktop._calls
        assert runner is not None
        info = find_function("files.info")
        for _ in range(count):
            began = time.perf_counter()
            runner.call(info, info.bind(("~",), ()))
            answered = time.perf_counter()
            desktop.perform(Action.call("files.info", {"path": "~"}))
            bare.append((answered - began) * 1000)
            whole.append((time.perf_counter() - answered) * 1000)
        others = {
            **_overhead(desktop, progress, "devtools", "chromium", "chromium.get_page", count),
            **_overhead(desktop, progress, "uno", "libreoffice-calc", "calc.get_workbook_info", count),
        }
        desktop.reset()
        progress(f"{hostile} hostile calls")
        return {
            "calls": count,
            "call_overhead_p50_ms": median(bare),
            "call_overhead_p95_ms": percentile(bare, 0.95),
            "call_with_settling_p50_ms": median(whole),
            "first_call_ms": first_ms,
            **others,
            **_hostile(desktop, hostile, seed),
        }


def _overhead(
    desktop: SandboxDesktop, progress: Progress, way: str, app: str, name: str, count: int
) -> dict[str, Any]:
    """What calls cost that reach an application in this way: beyond the function, and as a whole."""
    if shutil.which(load_app(app).command[0]) is None:
        return {f"{way}_call_overhead_p50_ms": None, f"{way}_call_p50_ms": None}
    progress(f"{count} calls of {name}")
    desktop.reset()
    desktop.launch(load_app(app).argv(), timeout_s=60)
    desktop.perform(Action.call(name))
    runner, function = desktop._calls, find_function(name)
    assert runner is not None
    beyond, whole = [], []
    for _ in range(count):
        began = time.perf_counter()
        runner.call(function, {})
        whole.append((time.perf_counter() - began) * 1000)
        beyond.append(whole[-1] - runner.last_inside_ms)
    return {f"{way}_call_overhead_p50_ms": median(beyond), f"{way}_call_p50_ms": median(whole)}


def _hostile(desktop: SandboxDesktop, count: int, seed: int) -> dict[str, Any]:
    """Refused calls are counted; anything but a typed error is a crash, anything that was done an execution."""
    rng = random.Random(seed)
    crashes = executions = 0
    before = sorted(one.name for one in desktop.files.list())
    programs = sorted(one.name for one in desktop.processes())
    for _ in range(count):
        try:
            action = hostile_action(rng)
            desktop.perform(action)
            executions += 1
        except InvalidAction:
            continue
        except Exception:  # noqa: BLE001 - what is counted here is exactly what was not foreseen
            crashes += 1
    executions += sorted(one.name for one in desktop.files.list()) != before
    executions += sorted(one.name for one in desktop.processes()) != programs
    desktop.check()
    return {"hostile_calls": count, "hostile_crashes": crashes, "hostile_executions": executions}


def hostile_action(rng: random.Random) -> Action:
    """A call that must be refused before anything runs."""
    known = rng.choice([one for api in built_in_apis().values() for one in api.functions if one.parameters])
    kind = rng.randrange(6)
    if kind == 0:  # names that lead elsewhere
        part = rng.choice(
            ["__class__", "__globals__", "__init__.__globals__", "os.system", "_existing", "", "."]
        )
        name = rng.choice(
            [f"{known.api}.{part}", f"{known.full_name}.{part}", part, f"os.{part}", f"api.{part}"]
        )
        return Action(ActionKind.CALL, function=(name or ".") + rng.choice(["\n", " ", "\0", "()"]))
    if kind == 1:  # code in place of a name
        code = rng.choice(
            ["__import__('os').system('touch {}')", "exec('1')", "lambda: 0", "eval", "x" * 100_000]
        )
        return Action(ActionKind.CALL, function=code.format(MARK), args=(f"touch {MARK}",))
    first = known.parameters[0].name
    if kind == 2:  # wrong types
        return Action(ActionKind.CALL, function=known.full_name, kwargs=((first, _wrong(rng)),))
    if kind == 3:  # too large
        large = rng.choice(["x" * 300_000, [["x"] * 200] * 200, {str(n): n for n in range(20_000)}, 10**400])
        return Action(ActionKind.CALL, function=known.full_name, kwargs=((first, large),))
    if kind == 4:  # nested, or holding itself
        deep: list[Any] = []
        for _ in range(rng.choice([20, 5000])):
            deep = [deep]
        endless: dict[str, Any] = {}
        endless["again"] = endless
        return Action(
            ActionKind.CALL, function=known.full_name, kwargs=((first, rng.choice([deep, endless])),)
        )
    extra = rng.choice(["__class__", "self", "**", "shell", "cwd"])  # arguments that there are not
    return Action(ActionKind.CALL, function=known.full_name, kwargs=((extra, f"touch {MARK}"),))


def _wrong(rng: random.Random) -> object:
    return rng.choice([object(), b"bytes", float("nan"), {"a": object()}, {1: 2}, lambda: None, ..., 1j, {1}])
