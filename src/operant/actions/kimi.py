"""Kimi K2.5's answers: ``## Action:``, a sentence, ``## Code:`` and fenced pyautogui.

The code may also call ``computer.wait``, ``computer.triple_click`` and ``computer.terminate``, which ends the task.
What coordinates count is a setting of the model; by default they are fractions of the screen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from operant.actions.base import check_carried, check_length
from operant.actions.coordinates import Grid, Units
from operant.actions.dialect import Dialect
from operant.actions.gestures import Movement, fold
from operant.actions.lenient import LenientFields
from operant.actions.payload import MAX_ITEMS, choose, malformed, quoting
from operant.actions.pyautogui_source import CARRIES as SOURCE_CARRIES
from operant.actions.pyautogui_source import VOCABULARY, read_movements, write_source
from operant.actions.python_calls import Call, python_string, read_calls, unfenced
from operant.actions.thinking import escape_thinking, without_thinking
from operant.types import Action, ActionKind

__all__ = ["CARRIES", "DIALECT"]

_NAME = "kimi"
CARRIES: Mapping[ActionKind, str] = {
    **SOURCE_CARRIES,
    ActionKind.WAIT: "duration!",
    ActionKind.FAIL: "text",
    ActionKind.ANSWER: "text",
}
WAIT_S = 1.0
_CODE = re.compile(r"^[ \t]*#{1,4}[ \t]*Code[ \t]*:?[ \t]*$", re.MULTILINE | re.IGNORECASE)
_COMPUTER: Mapping[str, tuple[str, ...]] = {
    "computer.wait": ("seconds",),
    "computer.triple_click": ("x", "y"),
    "computer.terminate": ("status", "answer"),
}
_STATUS = {"success": ActionKind.DONE, "failure": ActionKind.FAIL}


def read(payload: object, grid: Grid) -> list[Action]:
    """The actions of the code after the last heading, or of a text without one."""
    text = without_thinking(payload)
    headings = [found.end() for found in _CODE.finditer(text)]
    source = unfenced(text[headings[-1] if headings else 0 :].strip("\n"))
    movements: list[Movement] = []
    for call in read_calls(source, VOCABULARY):
        with quoting(call.source):
            own = call.function.startswith("computer.")
            movements += [Movement(_own(call, grid))] if own else read_movements(call, grid)
        if len(movements) > MAX_ITEMS:
            raise malformed(f"more than {MAX_ITEMS} actions at once", call.source)
    with quoting(source):
        return fold(movements)


def _own(call: Call, grid: Grid) -> Action:
    parameters = choose("function", call.function, _COMPUTER)
    if len(call.args) > len(parameters):
        raise malformed(f"{call.function} takes at most {len(parameters)} arguments", call.source)
    given = {**dict(zip(parameters, call.args, strict=False)), **call.kwargs}
    fields = LenientFields(given, call.function)
    action = _action(call.function, fields, grid)
    fields.end()
    return action


def _action(name: str, fields: LenientFields, grid: Grid) -> Action:
    if name == "computer.wait":
        return Action.wait(fields.seconds("seconds", WAIT_S))
    if name == "computer.triple_click":
        return Action.click(fields.x_and_y(grid), clicks=3)
    kind = choose("status", fields.text("status").strip().lower(), _STATUS)
    answer = fields.text("answer", "")
    if kind is ActionKind.DONE and answer:
        return Action(ActionKind.ANSWER, text=answer)
    return Action(kind, text=answer)


def write(action: Action, grid: Grid) -> str:
    check_carried(_NAME, action, CARRIES)
    said = (
        f"## Action:\n{action.kind.value}\n## Code:\n```python\n{escape_thinking(_code(action, grid))}\n```"
    )
    return check_length(_NAME, action, said)


def _code(action: Action, grid: Grid) -> str:
    match action.kind:
        case ActionKind.WAIT:
            return f"computer.wait(seconds={action.duration!r})"
        case ActionKind.DONE:
            return "computer.terminate(status='success')"
        case ActionKind.ANSWER:
            return f"computer.terminate(status='success', answer={python_string(action.text)})"
        case ActionKind.FAIL:
            answer = f", answer={python_string(action.text)}" if action.text else ""
            return f"computer.terminate(status='failure'{answer})"
    return write_source(action, grid)


DIALECT = Dialect(
    title="Kimi K2.5",
    way="text",
    carries=CARRIES,
    reader=read,
    writer=write,
    units=(Units.FRACTIONS, Units.PIXELS, Units.THOUSANDTHS, Units.UP_TO_999),
    wording=(
        "Answer with '## Action:', one sentence, '## Code:' and a fenced block of Python that calls pyautogui, such as"
        " pyautogui.click(x=0.5, y=0.5), pyautogui.write('...'), pyautogui.hotkey('ctrl', 's'), pyautogui.scroll(-5),"
        " or computer.wait(seconds=5), computer.terminate(status='success' or 'failure', answer='...')."
    ),
    ends={
        ActionKind.DONE: "computer.terminate(status='success')",
        ActionKind.ANSWER: "computer.terminate(status='success', answer='...')",
        ActionKind.FAIL: "computer.terminate(status='failure')",
    },
    lacks=("question",),
)
