"""Observations as a Gymnasium space: the screen made small, the instruction as bytes, the rest as numbers.

| part          | space                        | what it is                                              |
|---------------|------------------------------|---------------------------------------------------------|
| `screen`      | Box uint8 (height, width, 3) | RGB at the size that was asked for                      |
| `instruction` | Box uint8 (bytes,)           | UTF-8, filled up with zeros                             |
| `state`       | Box [0, 1] (``FIELDS``,)     | pointer, steps, last action, what is held down, windows |
| `tree`        | Box uint8 (bytes,)           | with ``tree_bytes``: shown widgets, one a line, by tabs |
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from operant.envs.instruction import encode_text
from operant.envs.screens import shrink
from operant.errors import ConfigError
from operant.types import ActionKind, Node, Observation

__all__ = ["FIELDS", "ObservationCoder", "describe_tree", "write_state"]

BUTTONS = ("left", "middle", "right")
MODIFIERS = ("shift", "ctrl", "alt", "super")
MANY_WINDOWS = 10.0
MANY_STEPS = 100.0

#: The names of the numbers in ``state``, in their order.
FIELDS: tuple[str, ...] = (
    "pointer_x", "pointer_y", "step_fraction", "steps_left",
    *(f"last_{kind.value}" for kind in ActionKind), "last_none", "last_invalid", "last_x", "last_y",
    *(f"held_{button}" for button in BUTTONS), *(f"held_{key}" for key in MODIFIERS),
    "windows", "minimized", "focused", "focused_x", "focused_y", "focused_width", "focused_height",
)  # fmt: skip
_AT = {name: index for index, name in enumerate(FIELDS)}


class ObservationCoder:
    """The space, and how an observation is written into it."""

    def __init__(
        self, size: tuple[int, int] = (160, 100), instruction_bytes: int = 256, tree_bytes: int = 0
    ) -> None:
        width, height = size
        if width < 1 or height < 1:
            raise ConfigError(f"a screen of {width}x{height} pixels has no area")
        self.width, self.height = width, height
        self.with_tree = tree_bytes > 0
        parts: dict[str, spaces.Space[Any]] = {
            "screen": spaces.Box(0, 255, (height, width, 3), np.uint8),
            "instruction": spaces.Box(0, 255, (instruction_bytes,), np.uint8),
            "state": spaces.Box(0.0, 1.0, (len(FIELDS),), np.float32),
        }
        if self.with_tree:
            parts["tree"] = spaces.Box(0, 255, (tree_bytes,), np.uint8)
        self.space = spaces.Dict(parts)

    def empty(self) -> dict[str, npt.NDArray[Any]]:
        return {name: np.zeros(space.shape, space.dtype) for name, space in self.space.spaces.items()}  # type: ignore[arg-type]

    def encode(
        self, observation: Observation, out: dict[str, npt.NDArray[Any]] | None = None
    ) -> dict[str, npt.NDArray[Any]]:
        """Write it into ``out`` (such as rows of a batch), or into new arrays."""
        out = self.empty() if out is None else out
        shrink(observation.screen, self.width, self.height, out["screen"])
        encode_text(observation.instruction, len(out["instruction"]), out["instruction"])
        write_state(observation, out["state"])
        if self.with_tree:
            encode_text(
                describe_tree(observation.tree) if observation.tree else "", len(out["tree"]), out["tree"]
            )
        return out


def write_state(observation: Observation, out: npt.NDArray[np.float32]) -> None:
    """The numbers of ``FIELDS``."""
    out[:] = 0.0
    rows, columns = observation.screen.shape[:2]
    left = max(0, observation.max_steps - observation.step)
    out[:4] = (
        observation.pointer.x,
        observation.pointer.y,
        min(observation.step / observation.max_steps, 1.0),
        min(left / MANY_STEPS, 1.0),
    )
    last = observation.last_action
    out[_AT["last_none" if last is None else f"last_{last.kind.value}"]] = 1.0
    out[_AT["last_invalid"]] = observation.error is not None
    point = None if last is None else last.point or (last.path[-1] if last.path else None)
    if point is not None:
        out[_AT["last_x"]], out[_AT["last_y"]] = point.x, point.y
    for name in (*observation.held_buttons, *observation.held_keys):
        if f"held_{name}" in _AT:
            out[_AT[f"held_{name}"]] = 1.0
    windows = observation.windows
    out[_AT["windows"]] = min(len(windows) / MANY_WINDOWS, 1.0)
    out[_AT["minimized"]] = min(sum(window.minimized for window in windows) / MANY_WINDOWS, 1.0)
    focused = next((window for window in windows if window.focused), None)
    if focused is not None:
        box = (focused.x / columns, focused.y / rows, focused.width / columns, focused.height / rows)
        out[_AT["focused"]] = 1.0
        out[_AT["focused_x"] :] = np.clip(box, 0.0, 1.0)


def describe_tree(tree: Node) -> str:
    """The shown widgets, one a line: role, name, text, states and box, separated by tabs."""
    lines = []
    for node in tree.walk():
        if node.box is None or not (node.name or node.text or "focusable" in node.states):
            continue
        states = ",".join(sorted(node.states - {"enabled", "sensitive", "showing", "visible"}))
        parts = (node.role, node.name, node.text or "", states, ",".join(map(str, node.box)))
        lines.append("\t".join(" ".join(part.split()) for part in parts))
    return "\n".join(lines)
