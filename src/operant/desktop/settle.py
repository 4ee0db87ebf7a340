"""When is a step over? When nothing is drawn any more and no program is busy.

Adaptive, never a fixed sleep: wait for the first change, then until the screen has been still for a quiet
window. Where the programs can be watched (a sandbox), a still screen with a busy program behind it is
waited for, and a screen that stays still with every program asleep is let go at once. A toolkit that draws
at most once in a frame sleeps until the next one with the drawing still to come; that is seen and waited for.

``SettleConfig.timer_ms`` makes it surer: a short timer that a program has set since it was last at rest counts as
work. Calculators poll for their result that way, and word processors lay out pages.
"""

from __future__ import annotations

import time

from operant.config.desktop import SettleConfig
from operant.desktop.display import Display
from operant.desktop.program_activity import ProgramActivity
from operant.types import StepResult

__all__ = ["settle"]


def settle(display: Display, config: SettleConfig, programs: ProgramActivity | None) -> StepResult:
    """Watch the display until it has settled or the cap is reached."""
    result = _watch(display, config, programs)
    if programs is not None and config.timer_ms:
        programs.rest()
    return result


def _watch(display: Display, config: SettleConfig, programs: ProgramActivity | None) -> StepResult:
    began = time.monotonic()
    deadline = began + config.cap_ms / 1000
    busy_deadline = began + config.busy_ms / 1000
    quiet = config.quiet_ms / 1000
    changed, changed_at = False, began
    window = config.first_change_ms / 1000
    while True:
        now = time.monotonic()
        if display.wait_damage(min(window, max(0.0, deadline - now))):
            changed, changed_at = True, time.monotonic()
            window = quiet
            if time.monotonic() >= deadline:
                return _result(began, changed, settled=False)
        elif time.monotonic() >= deadline:
            return _result(began, changed, settled=False)
        elif programs is None or time.monotonic() >= busy_deadline:
            return _result(began, changed, settled=True)
        elif not programs.busy(
            due=time.monotonic() < changed_at + config.paint_ms / 1000,
            surely=True,
            within_ms=int(config.timer_ms),
        ):
            if not display.wait_damage(0.0):
                return _result(began, changed, settled=True)
            changed, changed_at = True, time.monotonic()  # it drew while we asked, and then went to sleep
            window = quiet
        else:
            window = quiet


def _result(began: float, changed: bool, *, settled: bool) -> StepResult:
    return StepResult(changed=changed, settled=settled, waited_ms=(time.monotonic() - began) * 1000)
