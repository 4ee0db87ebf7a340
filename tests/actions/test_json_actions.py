from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operant.actions import json_actions
from operant.actions.json_actions import from_json, to_json
from operant.errors import ActionNotExpressible, ActionParseError
from operant.types import Action, ActionKind, Point, ScrollUnit, Size

from .strategies import actions, quick, screens

fractions = st.builds(Point, st.floats(0, 1), st.floats(0, 1))


@quick
@given(actions(fractions, Size(1280, 800)), st.none() | screens)
def test_nothing_is_lost(action: Action, screen: Size | None) -> None:
    object.__setattr__(action, "screen", screen)
    form = json.loads(json.dumps(to_json(action), allow_nan=False))
    back = from_json(form)
    assert (back, back.screen) == (action, screen)
    assert json_actions.parse([form, form], Size(1, 1)) == [action, action]


@pytest.mark.parametrize(
    ("action", "form"),
    [
        (Action.done(), {"kind": "done"}),
        (
            Action.scroll(Point(0.5, 1.0), dy=-3.0, unit=ScrollUnit.PIXEL, modifiers=("ctrl",)),
            {"kind": "scroll", "point": [0.5, 1.0], "modifiers": ["ctrl"], "dy": -3.0, "unit": "pixel"},
        ),
        (
            Action(ActionKind.CALL, function="f", args=(1, "a"), kwargs=(("k", [None]),)),
            {"kind": "call", "function": "f", "args": [1, "a"], "kwargs": {"k": [None]}},
        ),
        (
            Action.drag(Point(0, 0), Point(1, 1), screen=Size(800, 600)),
            {"kind": "drag", "path": [[0, 0], [1, 1]], "screen": [800, 600]},
        ),
    ],
)
def test_form(action: Action, form: dict[str, object]) -> None:
    assert to_json(action) == form
    assert from_json(form) == action


def test_other_names_of_keys_are_welcome() -> None:
    assert from_json({"kind": "key", "keys": ["Control_L", "C"]}) == Action.key("ctrl", "C")


@pytest.mark.parametrize(
    ("form", "quoted"),
    [
        ({"kind": "clack"}, "clack"),
        ({"kind": "click", "point": [2, 0.5]}, "[2, 0.5]"),
        ({"kind": "click", "point": [0.5]}, "[0.5]"),
        ({"kind": "click", "point": [float("nan"), 0.5]}, "nan"),
        ({"kind": "click", "pont": [0.5, 0.5]}, "pont"),
        ({"kind": "click", "text": "no"}, "click"),
        ({"kind": "click", "clicks": 1.5}, "1.5"),
        ({"kind": "click", "clicks": True}, "True"),
        ({"kind": "key", "keys": "ctrl"}, "ctrl"),
        ({"kind": "key"}, "key"),
        ({"kind": "call", "function": "f", "args": {}}, "{}"),
        ({"kind": "call", "function": "f", "kwargs": []}, "[]"),
        ({"kind": "screenshot", "region": [[0, 0]]}, "[[0, 0]]"),
        ({"kind": "done", "screen": [0, 5]}, "screen"),
        ({"kind": "done", "screen": [5]}, "[5]"),
        ({"kind": "wait", "duration": 10**400}, "an integer of 1329 bits"),
        ({}, "{}"),
        (None, "None"),
    ],
)
def test_errors_quote_the_part(form: object, quoted: str) -> None:
    with pytest.raises(ActionParseError) as caught:
        from_json(form)
    assert quoted in caught.value.offending


@pytest.mark.parametrize(
    "action",
    [
        Action(ActionKind.CALL, function="f", args=((1, 2),)),
        Action(ActionKind.CALL, function="f", args=(b"x",)),
        Action(ActionKind.CALL, function="f", args=(2**63,)),
        Action(ActionKind.CALL, function="f", args=(float("nan"),)),
        Action(ActionKind.CALL, function="f", kwargs=(("k", 1), ("k", 2))),
        Action.type("\ud800"),
        Action.key("Return"),
        Action.key("nokey"),
    ],
)
def test_what_json_would_lose_is_refused(action: Action) -> None:
    with pytest.raises(ActionNotExpressible):
        to_json(action)
