"""The settings of the hierarchical agent. A checkpoint carries its own."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from operant.config.base import Config

__all__ = ["KEYS", "KINDS", "EncoderConfig", "HierarchicalConfig", "ManagerConfig", "WorkerConfig"]

#: What the manager can choose to do. All but the last three carry parameters.
KINDS = (
    "click", "double_click", "triple_click", "right_click", "ctrl_click", "shift_click", "drag", "scroll",
    "type", "answer", "key", "wait", "done", "fail",
)  # fmt: skip
#: Keys pressed together are joined by "+".
KEYS = (
    "enter", "tab", "shift+tab", "esc", "space", "backspace", "delete", "up", "down", "left", "right", "home",
    "end", "pageup", "pagedown", "shift+down", "shift+up", "shift+end", "shift+home", "ctrl+home", "ctrl+end",
    "ctrl+a", "ctrl+b", "ctrl+c", "ctrl+d", "ctrl+e", "ctrl+f", "ctrl+g", "ctrl+h", "ctrl+i", "ctrl+l",
    "ctrl+n", "ctrl+o", "ctrl+p", "ctrl+q", "ctrl+r", "ctrl+s", "ctrl+t", "ctrl+u", "ctrl+v", "ctrl+w",
    "ctrl+x", "ctrl+z", "ctrl+0", "ctrl+plus", "ctrl+minus", "ctrl+tab", "ctrl+shift+n", "ctrl+shift+s",
    "ctrl+shift+t", "ctrl+shift+c", "ctrl+shift+v", "ctrl+alt+d", "alt+f4", "alt+tab", "alt+left", "alt+right",
    "alt+up", "f1", "f2", "f3", "f4", "f5", "f9", "f11", "plus", "minus", "*", "/", "=",
)  # fmt: skip


class EncoderConfig(Config):
    """How the three modalities are read."""

    vision: Literal["small", "mobilenet_v3_small", "efficientnet_b0"] = "small"
    """The network that sees the screen. ``small`` is made for CPUs."""
    vision_weights: Path | None = None
    """ImageNet weights to begin with, as torchvision publishes them for that network; none: random ones. Not part of a
    checkpoint, which has weights of its own."""
    text: str = "scratch"
    """``scratch``, or a directory or hub name of a pretrained transformer that reads the instruction."""
    screen: tuple[int, int] = (160, 100)
    """Width and height at which the whole screen is seen."""
    widgets: int = Field(112, ge=0, le=512)
    """How many widgets and windows are read from the accessibility tree; 0 sees pixels only."""
    history: int = Field(16, ge=0, le=64)
    """How many past actions are remembered."""
    instruction_tokens: int = Field(144, ge=4, le=256)
    reading_tokens: int = Field(48, ge=0, le=256)
    """How many words that are shown by widgets can be copied."""
    width: int = Field(128, ge=16, le=1024)
    """Of every embedding."""
    heads: int = Field(4, ge=1)
    text_layers: int = Field(2, ge=1, le=12)
    joint_layers: int = Field(2, ge=1, le=12)
    vocabulary: int = Field(8192, ge=64)
    """Rows of the table that words are hashed into."""
    use_instruction: bool = True
    """False leaves the instruction out, to see what it is worth."""
    dropout: float = Field(0.0, ge=0.0, lt=1.0)

    @model_validator(mode="after")
    def _published(self) -> EncoderConfig:
        if self.vision == "small" and self.vision_weights is not None:
            raise ValueError("vision_weights are for efficientnet_b0 and mobilenet_v3_small, not for small")
        return self

    @property
    def rows(self) -> int:
        """How many things are perceived at most; at least one, which may be nothing."""
        return max(1, self.widgets + self.history)


class ManagerConfig(Config):
    """What can be chosen, and how a place is."""

    kinds: tuple[str, ...] = KINDS
    keys: tuple[str, ...] = KEYS
    scrolls: tuple[int, ...] = (-10, -5, -2, 2, 5, 10)
    """Notches that a scroll can have; positive is down."""
    pointing: Literal["map", "gaussian"] = "map"
    """``map``: a cell of the screen or a widget, then an offset within. ``gaussian``: x and y at once."""


class WorkerConfig(Config):
    """How closely the worker looks."""

    refine: bool = True
    """Correct a point of the map by looking at the screen around it at full resolution."""
    crop: int = Field(64, ge=16, le=256)
    """Width and height of what it looks at, in pixels of the desktop."""
    reach: int = Field(24, ge=1, le=128)
    """How far it can move a point, in pixels of the desktop."""


class HierarchicalConfig(Config):
    """Everything that decides the shape of the network and what it can do."""

    encoder: EncoderConfig = EncoderConfig()
    manager: ManagerConfig = ManagerConfig()
    worker: WorkerConfig = WorkerConfig()

    def architecture(self) -> HierarchicalConfig:
        """The same without where first weights come from: what a checkpoint keeps, and must agree on."""
        return self.model_copy(update={"encoder": self.encoder.model_copy(update={"vision_weights": None})})
