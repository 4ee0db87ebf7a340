"""Every format in every family's units: what is rendered is parsed back, and nonsense is refused."""

from __future__ import annotations

import itertools
from typing import get_args

import pytest

from operant.actions import dialect
from operant.agents.vlm.answers import Answers, explanation
from operant.agents.vlm.families import Units
from operant.config.vlm import AnswerFormat
from operant.errors import ActionParseError, InvalidAction
from operant.types import Action, Button, Point, Size

FORMATS = get_args(AnswerFormat)
SHOWN = Size(448, 280)
CASES = list(itertools.product(FORMATS, Units))


@pytest.mark.parametrize(("format", "units"), CASES)
def test_a_place_comes_back_to_within_a_cell(format: AnswerFormat, units: Units) -> None:
    answers = Answers(format, units, SHOWN)
    for x, y in ((0.0, 0.0), (0.5, 0.25), (0.123, 0.987), (1.0, 1.0)):
        action = Action.click(Point(x, y))
        (back,) = answers.parse(answers.render(action))
        assert back.point is not None
        assert abs(back.point.x - x) <= 1 / SHOWN.width
        assert abs(back.point.y - y) <= 1 / SHOWN.height


@pytest.mark.parametrize(("format", "units"), CASES)
def test_other_actions_come_back_as_they_are(format: AnswerFormat, units: Units) -> None:
    answers = Answers(format, units, SHOWN)
    double = Action.click(Point(0.5, 0.5), clicks=2)
    for action in (Action.key("ctrl", "s"), Action.done()):
        assert answers.parse(answers.render(action)) == [action]
    (back,) = answers.parse(answers.render(double))
    assert (back.clicks, back.button) == (2, Button.LEFT)


def test_json_counts_in_the_familys_units() -> None:
    middle = Action.click(Point(0.5, 0.5))
    said = {units: Answers("json", units, SHOWN).render(middle) for units in Units}
    assert said[Units.FRACTIONS] == '{"kind": "click", "point": [0.5, 0.5]}'
    assert said[Units.THOUSANDTHS] == '{"kind": "click", "point": [500, 500]}'
    assert said[Units.PIXELS] == '{"kind": "click", "point": [224, 140]}'


def test_json_may_have_words_around_it() -> None:
    text = 'I will drag it.\n```json\n{"kind": "drag", "path": [[0, 0], [1000, 500]]}\n```'
    (drag,) = Answers("json", Units.THOUSANDTHS, SHOWN).parse(text)
    assert drag.path == (Point(0, 0), Point(1, 0.5))


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(
    "text",
    ["", "hello", "{", '{"kind": "fly"}', "click(", "[]", "\x00", '{"kind": "click", "point": [9e9, 1]}'],
)
def test_nonsense_is_refused_in_every_format(format: AnswerFormat, text: str) -> None:
    with pytest.raises(InvalidAction):
        Answers(format, Units.THOUSANDTHS, SHOWN).parse(text)


def test_no_action_is_no_answer() -> None:
    with pytest.raises(ActionParseError, match=r"no action|nothing|no call"):
        Answers("pyautogui", Units.PIXELS, SHOWN).parse("import pyautogui")


@pytest.mark.parametrize("format", FORMATS)
def test_the_model_is_told_its_units(format: AnswerFormat) -> None:
    units = dialect(format).units
    told = {Units.PIXELS: "pixels", Units.THOUSANDTHS: "0 to 1000"}
    for family, words in told.items():
        if family in units:
            assert words in explanation(format, family)
    assert "shown its screen" in explanation(format, units[0])
