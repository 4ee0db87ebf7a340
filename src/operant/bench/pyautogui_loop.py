"""The usual way, for comparison: PyAutoGUI clicks and mss frames, timed on the display of ``$DISPLAY``.

A script of its own, run by an interpreter that has both (``python pyautogui_loop.py X Y X Y COUNT``), because
PyAutoGUI does not go together with what Operant uses on X11. Prints medians in milliseconds as JSON.
"""

import functools
import json
import statistics
import sys
import time
import types
from collections.abc import Callable

# PyAutoGUI insists on a helper of its own that needs Tk and is of no use here.
sys.modules["mouseinfo"] = types.ModuleType("mouseinfo")
sys.modules["mouseinfo"].MouseInfoWindow = None  # type: ignore[attr-defined]

import mss  # noqa: E402
import pyautogui  # noqa: E402

places = [(int(sys.argv[1]), int(sys.argv[2])), (int(sys.argv[3]), int(sys.argv[4]))]
count = int(sys.argv[5])


def timed(function: Callable[[], object]) -> float:
    began = time.perf_counter()
    function()
    return (time.perf_counter() - began) * 1000


with mss.mss() as screen:
    region = screen.monitors[0]
    frames = [timed(lambda: screen.grab(region)) for _ in range(count)]
    both, clicks = [], []
    for index in range(count):
        place = places[index % 2]
        clicks.append(timed(functools.partial(pyautogui.click, *place)))
        both.append(clicks[-1] + timed(lambda: screen.grab(region)))
    pyautogui.PAUSE = 0
    unpaused = [timed(functools.partial(pyautogui.click, *places[i % 2])) for i in range(count)]

print(
    json.dumps(
        {
            "frame_ms": statistics.median(frames),
            "click_ms": statistics.median(clicks),
            "click_without_pause_ms": statistics.median(unpaused),
            "click_frame_ms": statistics.median(both),
        }
    )
)
