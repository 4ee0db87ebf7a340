"""How fast desktops are: starting, resetting, stepping, seeing, clicking, and what they weigh."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from operant.bench.record import median, percentile
from operant.config.desktop import DesktopConfig, Profile
from operant.desktop.pool import DesktopPool
from operant.desktop.protocol import Desktop
from operant.desktop.sandbox import SandboxDesktop
from operant.errors import ApplicationError
from operant.types import Action, Point

__all__ = ["GOALS", "Progress", "measure_desktop", "weight_mb"]

Progress = Callable[[str], None]

#: The goals on two shared cores at 1280x800: (bound, whether smaller is better).
GOALS: dict[str, tuple[float, bool]] = {
    "cold_start_p50_s": (0.6, True),
    "full_over_bare_cold_start": (1.3, True),
    "reset_p50_ms": (60.0, True),
    "reset_app_p50_ms": (400.0, True),
    "step_p50_ms": (15.0, True),
    "steps_per_s_1": (70.0, False),
    "steps_per_s_8": (250.0, False),
    "accessibility_p50_ms": (50.0, True),
    "mb_per_desktop": (70.0, True),
    "full_over_bare_mb": (2.0, True),
    "vs_pyautogui_mss_click_frame": (20.0, False),
}


def measure_desktop(
    progress: Progress, *, scale: float = 1.0, baseline_python: str | None = None
) -> dict[str, Any]:
    """Everything at once. ``scale`` multiplies the number of repetitions."""

    def times(count: int) -> int:
        return max(2, round(count * scale))

    result: dict[str, Any] = {}
    progress("cold starts with Mousepad, bare and full in turn")
    starts = [(_cold_start("bare"), _cold_start("full")) for _ in range(times(10))]
    result["cold_start_p50_s"] = median([bare for bare, _full in starts])
    result["full_cold_start_p50_s"] = median([full for _bare, full in starts])
    result["full_over_bare_cold_start"] = result["full_cold_start_p50_s"] / result["cold_start_p50_s"]
    with SandboxDesktop() as desktop:
        progress("resets")
        result["reset_p50_ms"] = median([_ms(desktop.reset) for _ in range(times(40))])
        progress("resets to a full desktop")
        result["reset_full_p50_ms"] = median([_ms(lambda: _reset_to_full(desktop)) for _ in range(times(20))])
        desktop.reset()
        progress("resets with Mousepad")
        result["reset_app_p50_ms"] = median(
            [_ms(lambda: _reset_with_mousepad(desktop)) for _ in range(times(10))]
        )
        progress("accessibility trees of Mousepad")
        result["accessibility_p50_ms"] = median([_ms(desktop.accessibility) for _ in range(times(30))])
        progress("frames and clicks")
        desktop.reset()
        calculator = CalculatorProbe.open(desktop)
        result["frame_p50_ms"] = median([_ms(desktop.frame) for _ in range(times(200))])
        hands = desktop._open().input
        result["click_p50_ms"] = median(
            [_ms(lambda i=i: hands.perform(calculator.click(i))) for i in range(times(200))]  # type: ignore[misc]
        )
        desktop.settle()
        progress("steps on one desktop")
        began = time.perf_counter()
        steps = [_ms(lambda i=i: desktop.perform(calculator.click(i))) for i in range(times(300))]  # type: ignore[misc]
        result["steps_per_s_1"] = len(steps) / (time.perf_counter() - began)
        result["step_p50_ms"], result["step_p95_ms"] = median(steps), percentile(steps, 0.95)
        progress("steps that may be a paint behind")
        hasty = desktop.config.settle.model_copy(update={"paint_ms": 0.0})
        seat = desktop._open()
        quick = [_ms(lambda i=i: seat.perform(calculator.click(i), hasty)) for i in range(times(300))]  # type: ignore[misc]
        result["step_hasty_p50_ms"] = median(quick)
        progress("steps that change nothing")
        nowhere = Action.move(Point(0.9, 0.95))
        result["step_unchanged_p50_ms"] = median(
            [_ms(lambda: desktop.perform(nowhere)) for _ in range(times(100))]
        )
    progress("steps on eight desktops at once")
    result["steps_per_s_8"] = _steps_together(8, times(100))
    progress("memory of sixteen desktops with Mousepad, bare and full")
    result["mb_per_desktop"] = _memory(16, "bare")
    result["mb_per_full_desktop"] = _memory(16, "full")
    result["full_over_bare_mb"] = result["mb_per_full_desktop"] / result["mb_per_desktop"]
    progress("PyAutoGUI and mss on the same display")
    result.update(_against_pyautogui(times(30), baseline_python))
    return result


@dataclass(frozen=True)
class CalculatorProbe:
    """Galculator's window and three of its buttons: two digits, and the one that clears them now and then."""

    digits: tuple[Point, Point]
    clear: Point

    @classmethod
    def open(cls, desktop: Desktop) -> CalculatorProbe:
        desktop.launch("galculator")
        tree = desktop.accessibility()

        def centre(name: str) -> Point:
            node = tree.find(name=name)
            if node is None or node.box is None:
                raise ApplicationError(f"galculator shows no button {name!r}")
            x, y, width, height = node.box
            return Point.from_pixel(x + width // 2, y + height // 2, desktop.size)

        return cls((centre("7"), centre("8")), centre("AC"))

    def click(self, index: int) -> Action:
        return Action.click(self.clear if index % 10 == 9 else self.digits[index % 2])


def _ms(function: Callable[[], object]) -> float:
    began = time.perf_counter()
    function()
    return (time.perf_counter() - began) * 1000


def _cold_start(profile: Profile) -> float:
    began = time.perf_counter()
    with SandboxDesktop(DesktopConfig(profile=profile)) as desktop:
        desktop.launch("mousepad")
        return time.perf_counter() - began


def _reset_to_full(desktop: SandboxDesktop) -> None:
    desktop.reset("full")
    desktop.frame()  # waits until panel and icons are drawn


def _reset_with_mousepad(desktop: SandboxDesktop) -> None:
    desktop.reset()
    desktop.launch("mousepad")


def _steps_together(count: int, steps: int) -> float:
    """Steps a second of so many desktops, each driven by a thread of its own."""
    with DesktopPool(count) as pool:
        gate = threading.Barrier(count + 1)
        done = threading.Barrier(count + 1)

        def drive() -> None:
            with pool.lease() as desktop:
                calculator = CalculatorProbe.open(desktop)
                gate.wait()
                for index in range(steps):
                    desktop.perform(calculator.click(index))
                done.wait()

        threads = [threading.Thread(target=drive) for _ in range(count)]
        for thread in threads:
            thread.start()
        gate.wait()
        began = time.perf_counter()
        done.wait()
        elapsed = time.perf_counter() - began
        for thread in threads:
            thread.join()
    return count * steps / elapsed


def _sandboxed(desktop: Desktop) -> SandboxDesktop:
    """A pool's desktop, of which this measures what no other kind has."""
    assert isinstance(desktop, SandboxDesktop)
    return desktop


def weight_mb(desktop: SandboxDesktop) -> float:
    """Megabytes of everything inside, and of the process that holds the walls up outside."""
    rollup = Path(f"/proc/{desktop._supervised.process.pid}/smaps_rollup").read_text()
    outside = sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")) / 1024
    return sum(desktop.memory().values()) + outside


def _memory(count: int, profile: Profile) -> float:
    with DesktopPool(count, DesktopConfig(profile=profile)) as pool, contextlib.ExitStack() as stack:
        futures = [pool.prepare(lambda desktop: desktop.launch("mousepad")) for _ in range(count)]
        desktops = [stack.enter_context(future.result()) for future in futures]
        return sum(weight_mb(_sandboxed(desktop)) for desktop in desktops) / count


# The usual way, on the same display.


def find_baseline_python() -> str | None:
    """An interpreter that has PyAutoGUI and mss: the one of ``make bench``, or this one."""
    candidates = [Path(".venv-bench/bin/python"), Path(sys.prefix).parent / ".venv-bench/bin/python"]
    for candidate in (*map(str, candidates), sys.executable):
        if shutil.which(candidate) and _has_pyautogui(candidate):
            return candidate
    return None


def _has_pyautogui(python: str) -> bool:
    code = "import importlib.util as u, sys; sys.exit(not (u.find_spec('pyautogui') and u.find_spec('mss')))"
    return subprocess.run([python, "-c", code], capture_output=True).returncode == 0


def _against_pyautogui(count: int, python: str | None) -> dict[str, Any]:
    """Both on one display without walls, so that an ordinary program can reach it."""
    python = python or find_baseline_python()
    if python is None:
        note = "not measured: no interpreter with pyautogui and mss; `make bench` sets one up"
        return {"vs_pyautogui_mss_click_frame": None, "pyautogui": {"note": note}}
    with SandboxDesktop(DesktopConfig(isolated=False)) as desktop:
        calculator = CalculatorProbe.open(desktop)
        settled = median([_ms(partial(desktop.perform, calculator.click(i))) for i in range(3 * count)])
        # Like for like: neither of them waits for the screen.
        at_once = median(
            [_ms(partial(_click_and_look, desktop, calculator.click(i))) for i in range(3 * count)]
        )
        places = [str(value) for digit in calculator.digits for value in digit.to_pixel(desktop.size)]
        script = Path(__file__).with_name("pyautogui_loop.py")
        display = desktop.run(["printenv", "DISPLAY"]).output.strip()
        theirs = subprocess.run(
            [python, str(script), *places, str(count)],
            # python-xlib wants an authority file, even an empty one.
            env={"PATH": os.environ.get("PATH", os.defpath), "DISPLAY": display, "XAUTHORITY": os.devnull},
            capture_output=True,
            text=True,
            timeout=300,
        )
    if theirs.returncode != 0:
        note = "not measured: " + " ".join(theirs.stderr.split())[-300:]
        return {"vs_pyautogui_mss_click_frame": None, "pyautogui": {"note": note}}
    usual = json.loads(theirs.stdout.splitlines()[-1])  # python-xlib may complain before
    return {
        "vs_pyautogui_mss_click_frame": usual["click_frame_ms"] / at_once,
        "vs_pyautogui_mss_settled": usual["click_frame_ms"] / settled,
        "pyautogui": {**usual, "operant_click_frame_ms": at_once, "operant_click_settled_frame_ms": settled},
    }


def _click_and_look(desktop: SandboxDesktop, click: Action) -> None:
    desktop._open().input.perform(click)
    desktop.frame()
