"""A flat action space and image observations, for learners that know nothing else (stable-baselines3).

``FlatActions`` says a hybrid action as nine whole numbers: kind, column and row of a grid over the screen,
column and row of a second point (the end of a drag, or how far to scroll), key, and the words to type (first,
how many more, Enter). Every number is always valid.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from operant.envs.hybrid_actions import MOST_NOTCHES, HybridActions
from operant.envs.instruction import token_spans
from operant.envs.observations import ObservationCoder
from operant.errors import ConfigError, InvalidAction
from operant.types import Action

__all__ = ["FlatActions", "FlatDesktop"]

WORDS = 8  # the longest span, in tokens


class FlatActions:
    """Whole numbers (``MultiDiscrete``), or numbers in [-1, 1] (``Box``) that are cut into as many steps."""

    def __init__(
        self,
        hybrid: HybridActions | None = None,
        grid: tuple[int, int] = (32, 20),
        *,
        continuous: bool = False,
    ) -> None:
        self.hybrid = hybrid or HybridActions()
        self.grid = grid
        columns, rows = grid
        hybrid_keys, tokens = len(self.hybrid.chords), self.hybrid.max_tokens
        # The words: first token, how many more, Enter or not.
        self.counts = np.array(
            [len(self.hybrid.kinds), columns, rows, columns, rows, hybrid_keys, tokens, WORDS, 2], np.int64
        )
        self.continuous = continuous
        self.space: spaces.Space[Any] = (
            spaces.Box(-1.0, 1.0, (len(self.counts),), np.float32)
            if continuous
            else spaces.MultiDiscrete(self.counts)
        )

    def decode(self, action: Any, instruction: str) -> Action:
        return self.hybrid.decode(self.to_hybrid(action, instruction), instruction)

    def to_hybrid(self, action: Any, instruction: str) -> dict[str, Any]:
        """The same as the hybrid space says it; the words are brought into the instruction."""
        numbers = self._numbers(action)
        kind, column, row, end_column, end_row, key, first, more, enter = (int(number) for number in numbers)
        columns, rows = self.grid
        tokens = max(1, min(len(token_spans(instruction)), self.hybrid.max_tokens))
        first %= tokens
        far = np.array([end_column / max(1, columns - 1), end_row / max(1, rows - 1)]) * 2 - 1
        return {
            "type": kind,
            "point": np.array([(column + 0.5) / columns, (row + 0.5) / rows], np.float32),
            "end": np.array([(end_column + 0.5) / columns, (end_row + 0.5) / rows], np.float32),
            "span": np.array([first, min(first + more, tokens - 1)]),
            "enter": enter,
            "key": key,
            "scroll": (far * MOST_NOTCHES).astype(np.float32),
        }

    def _numbers(self, action: Any) -> npt.NDArray[np.int64]:
        values = np.asarray(action, np.float64)
        if values.shape != self.counts.shape:
            raise InvalidAction(f"a flat action has {len(self.counts)} numbers, not the shape {values.shape}")
        if not np.isfinite(values).all():
            raise InvalidAction(f"a flat action with {values.tolist()}")
        if self.continuous:
            values = np.floor((values.clip(-1.0, 1.0) + 1.0) / 2.0 * self.counts)
        return np.clip(values.astype(np.int64), 0, self.counts - 1)


class FlatDesktop(gymnasium.Wrapper[Any, Any, Any, Any]):
    """A desktop environment with a flat action space. ``observe`` says what is seen:

    ``image``, the screen alone, (height, width, 3); ``dict``, screen, instruction and state; ``vector``, all
    in one row of numbers in [0, 1].
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], actions: FlatActions | None = None, observe: str = "image"
    ) -> None:
        super().__init__(env)
        hybrid = getattr(env.unwrapped, "coding", None)
        if hybrid is None or not isinstance(hybrid.actions, HybridActions):
            raise ConfigError("only an environment with hybrid actions can be made flat")
        self.flat = actions or FlatActions(hybrid.actions)
        self.action_space = self.flat.space
        coder: ObservationCoder = hybrid.observations
        self._observe = {"image": _image, "dict": _parts, "vector": _vector}.get(observe)
        if self._observe is None:
            raise ConfigError(f"{observe!r} is nothing to observe", hint="say image, dict or vector")
        if observe == "image":
            self.observation_space = coder.space["screen"]
        elif observe == "dict":
            self.observation_space = coder.space
        else:
            length = len(_vector(coder.empty()))
            self.observation_space = spaces.Box(0.0, 1.0, (length,), np.float32)
        self._instruction = ""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._instruction = info["instruction"]
        return self._seen(observation), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        hybrid: Any
        try:
            hybrid = self.flat.to_hybrid(action, self._instruction)
        except InvalidAction:
            hybrid = {}  # recorded as invalid by the environment below
        observation, reward, terminated, truncated, info = self.env.step(hybrid)
        return self._seen(observation), float(reward), terminated, truncated, info

    def _seen(self, observation: dict[str, npt.NDArray[Any]]) -> Any:
        assert self._observe is not None
        return self._observe(observation)


def _image(observation: dict[str, npt.NDArray[Any]]) -> Any:
    return observation["screen"]


def _parts(observation: dict[str, npt.NDArray[Any]]) -> Any:
    return observation


def _vector(observation: dict[str, npt.NDArray[Any]]) -> npt.NDArray[np.float32]:
    parts = [
        part.ravel().astype(np.float32) / (255.0 if part.dtype == np.uint8 else 1.0)
        for part in observation.values()
    ]
    return np.concatenate(parts)
