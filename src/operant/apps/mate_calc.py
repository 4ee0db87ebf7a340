"""Mate-calc, the calculator of full desktops: a line to type into, and its result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from operant.apps.base import App
from operant.apps.view import View

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop

__all__ = ["APP", "MateCalc", "MateCalcState"]


@dataclass(frozen=True)
class MateCalcState:
    """What its line says."""

    text: str


class MateCalc(App):
    name = "mate-calc"
    title = "calculator"
    packages = ("mate-calc",)
    toolkit = "gtk3"
    command = ("mate-calc",)
    wm_class = "Mate-calc"
    accessible_name = "mate-calc"

    def state(self, desktop: Desktop) -> MateCalcState:
        line = View(desktop).widget("editbar", app=self.accessible_name)
        return MateCalcState((line.text or "").strip() if line else "")


APP = MateCalc()
