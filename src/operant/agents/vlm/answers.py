"""What a model says, as actions, and actions in the words that it should use.

A format (``operant.actions``) says how an action is written; the model's family says in what its coordinates
are counted. Malformed answers raise ``ActionParseError``; what becomes of them is the agent's business.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from operant.actions import computer_rl, json_actions, pyautogui_source, ui_tars
from operant.actions.coordinates import Pixels, Thousandths
from operant.actions.payload import check_text, malformed
from operant.agents.vlm.families import Units
from operant.config.vlm import AnswerFormat
from operant.errors import ActionParseError
from operant.types import Action, Point, Size

__all__ = ["Answers", "explanation"]

#: Models that count thousandths write them where a format wants pixels, as if this were the screen.
THOUSAND = Size(1000, 1000)
DIGITS = 4  # of a fraction: a tenth of a pixel on any screen
_OBJECT = re.compile(r"\{.*\}|\[.*\]", re.DOTALL)


@dataclass(frozen=True)
class Answers:
    """One format in one family's units, for pictures of one size."""

    format: AnswerFormat
    units: Units
    shown: Size
    """The size of the picture that the model sees: its pixels are the ones that it counts."""

    def parse(self, text: str) -> list[Action]:
        """The actions of an answer; at least one."""
        found = self._parse(text)
        if not found:
            raise ActionParseError("the answer holds no action", offending=text)
        return found

    def _parse(self, text: str) -> list[Action]:
        match self.format:
            case "ui_tars":
                return ui_tars.parse(text, self._grid, image=self._image)
            case "computer_rl":
                return computer_rl.parse(text, self._grid, relative=self.units is not Units.PIXELS)
            case "pyautogui":
                return pyautogui_source.parse(text, self._grid)
            case "json":
                return json_actions.parse(_places(_read_json(text), self._to_fraction), self.shown)

    def render(self, action: Action) -> str:
        """The action as the model should say it: for demonstrations and for the history."""
        match self.format:
            case "ui_tars":
                return ui_tars.render(action, self._grid, image=self._image)
            case "computer_rl":
                return computer_rl.render(action, self._grid, relative=self.units is not Units.PIXELS)
            case "pyautogui":
                return pyautogui_source.render(action, self._grid)
            case "json":
                form = json_actions.to_json(action)
                form.pop("screen", None)
                return json.dumps(_places(form, self._from_fraction), ensure_ascii=False)

    @property
    def _grid(self) -> Size:
        return THOUSAND if self.units is Units.THOUSANDTHS else self.shown

    @property
    def _image(self) -> Size | None:
        return self.shown if self.units is Units.PIXELS else None

    def _to_fraction(self, x: float, y: float) -> list[float]:
        if self.units is Units.FRACTIONS:
            return [x, y]
        grid = Pixels(self.shown) if self.units is Units.PIXELS else Thousandths()
        point = grid.point(x, y)
        return [point.x, point.y]

    def _from_fraction(self, x: float, y: float) -> list[float]:
        if self.units is Units.FRACTIONS:
            return [round(x, DIGITS), round(y, DIGITS)]
        grid = Pixels(self.shown) if self.units is Units.PIXELS else Thousandths()
        return list(grid.locate(Point(x, y)))


def _read_json(text: str) -> object:
    """The JSON of an answer, with whatever the model said around it left out."""
    found = _OBJECT.search(check_text(text))
    if found is None:
        raise malformed("the answer holds no JSON", text)
    try:
        return json.loads(found[0])
    except (ValueError, RecursionError) as error:
        raise malformed("the answer's JSON is malformed", text) from error


def _places(form: object, convert: Callable[[float, float], list[float]]) -> Any:
    """The same form with its coordinates converted; what has another shape is left for the parser to refuse."""
    if isinstance(form, list):
        return [_places(item, convert) for item in form]
    if not isinstance(form, dict):
        return form

    def place(value: object) -> object:
        if isinstance(value, list) and len(value) == 2 and all(_is_number(number) for number in value):
            return convert(*value)
        return value

    def every(value: object) -> object:
        return [place(item) for item in value] if isinstance(value, list) else value

    changes: dict[str, Callable[[object], object]] = {"point": place, "path": every, "region": every}
    return {name: changes[name](value) if name in changes else value for name, value in form.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_COUNTED = {
    Units.PIXELS: "Coordinates are pixels of the last picture, from the top left.",
    Units.THOUSANDTHS: "Coordinates go from 0 to 1000 across the width and down the height of the screen.",
    Units.FRACTIONS: "Coordinates go from 0 to 1 across the width and down the height of the screen.",
}
_WRITTEN: dict[AnswerFormat, str] = {
    "json": (
        'Answer with one JSON object, such as {"kind": "click", "point": [x, y]}. Kinds: click (point, button,'
        " clicks), move (point), drag (path: [[x, y], [x, y]]), scroll (point, dy), type (text), key (keys:"
        ' ["ctrl", "s"]), wait (duration), done, fail (text), answer (text).'
    ),
    "ui_tars": (
        "Answer with a line 'Thought: ...', if you want, and a line 'Action: ...' with one of:"
        " click(start_box='(x,y)'), left_double(start_box='(x,y)'), right_single(start_box='(x,y)'),"
        " drag(start_box='(x,y)', end_box='(x,y)'), scroll(start_box='(x,y)', direction='down'),"
        " type(content='...'), hotkey(key='ctrl s'), wait(), finished(content='...')."
    ),
    "computer_rl": (
        "Answer with <think>...</think>, if you want, and one line of Python with one of: Agent.click([x, y],"
        " num_clicks=1, button_type='left'), Agent.type([x, y], '...'), Agent.drag_and_drop([x, y], [x, y]),"
        " Agent.scroll([x, y], 'down'), Agent.hotkey(['ctrl', 's']), Agent.wait(), Agent.exit(success=True)."
    ),
    "pyautogui": (
        "Answer with lines of Python that call pyautogui, such as pyautogui.click(x, y),"
        " pyautogui.write('...'), pyautogui.hotkey('ctrl', 's'), pyautogui.scroll(-5),"
        " pyautogui.dragTo(x, y); or with one of the words WAIT, DONE and FAIL."
    ),
}


def explanation(format: AnswerFormat, units: Units) -> str:
    """How to answer, for the model."""
    counted = _COUNTED[units]
    if units is Units.FRACTIONS and format != "json":  # these formats have whole numbers only
        counted = _COUNTED[Units.PIXELS if format == "pyautogui" else Units.THOUSANDTHS]
    return (
        "You operate a computer. You are shown its screen and do the next step of the task. "
        f"{_WRITTEN[format]} {counted}"
    )
