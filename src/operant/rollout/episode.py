"""What happened: steps and the episode that they make, whether it runs, was cut short or has ended.

How episodes are written and found is the business of ``store``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from operant.agents.base import Usage
from operant.errors import ResultsError
from operant.rollout import layout
from operant.rollout.observations import ObservationFile
from operant.types import Action, Difficulty, Observation, Outcome

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Episode", "EpisodeResult", "Step"]


@dataclass(frozen=True, slots=True)
class Step:
    """One action and what it led to."""

    number: int
    """From 1."""
    action: Action | None
    """None if what the agent gave was no action."""
    response: str = ""
    reward: float = 0.0
    done: bool = False
    invalid: str | None = None
    """Why nothing was done, if nothing was."""
    info: Mapping[str, Any] = field(default_factory=dict)
    agent_ms: float = 0.0
    desktop_ms: float = 0.0
    state: Mapping[str, Any] = field(default_factory=dict)
    """What else was seen after it: ``pointer`` (fractions), ``held_keys``, ``held_buttons``, ``windows``."""
    record: Mapping[str, Any] = field(default_factory=dict)
    """What the agent wanted kept of it."""
    timestamp: str = ""
    screenshot: Path | None = None
    """A picture of the screen after it, where pictures were kept."""
    turn: int = 0
    """The agent's answer that it belongs to, from 1; 0 in episodes that were recorded before answers were counted."""
    actor: str = ""
    """Who acted, in a team."""
    usage: Usage | None = None
    """What the turn used, kept with its last step."""

    @property
    def desktop(self) -> str:
        """Which of the agent's own desktops it was on; empty for the episode's."""
        return str(self.info.get("desktop", ""))

    @property
    def who(self) -> str:
        """Who acted where, in a team; else empty."""
        return f"{self.actor} on {self.desktop}" if self.actor and self.desktop else self.actor

    @property
    def looked(self) -> bool:
        """Whether it only looked, which spends no step of the environment."""
        return bool(self.info.get("look"))


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """How an episode ended."""

    task: str
    outcome: Outcome
    why: str
    """A sentence: what the criteria found, or what went wrong."""
    reward: float = 0.0
    steps: int = 0
    invalid_steps: int = 0
    waits: int = 0
    """Steps that only waited."""
    agent_s: float = 0.0
    desktop_s: float = 0.0
    total_s: float = 0.0
    agent_lost: bool = False
    """The agent hangs in a call and must not be used again."""
    turns: int = 0
    """Answers of the agent; each may hold several actions."""
    looks: int = 0
    """Screenshots that the agent asked for; they are recorded, but are no steps."""
    usage: Usage | None = None
    """What the agent used; None if it does not count."""
    end: str = ""
    """What ended it: the agent's last action (``done``, ``fail``, ``ask``, ``answer``), ``steps``, ``success``, ``timeout``,
    ``error``, or the agent's own reason such as ``refusal``; empty after an infra or verifier error."""
    calls: int = 0
    """Steps that called a function of an application, whether or not that succeeded."""
    gui_actions: int = 0
    """Steps with pointer or keyboard."""

    @property
    def success(self) -> bool:
        return self.outcome is Outcome.SUCCESS

    @property
    def active_steps(self) -> int:
        """Steps that did something: what a task's difficulty counts. How often one must wait depends on the machine."""
        return self.steps - self.waits


@dataclass(frozen=True)
class Episode:
    """One episode as it lies on disk. ``header`` is all of ``episode.json``."""

    directory: Path
    header: Mapping[str, Any]
    steps: tuple[Step, ...]
    first_screenshot: Path | None
    """A picture of the screen before the first action, where pictures were kept."""

    @property
    def task(self) -> str:
        return str(self.header["task"])

    @property
    def instruction(self) -> str:
        return str(self.header["instruction"])

    @property
    def agent(self) -> str:
        return str(self.header["agent"])

    @property
    def difficulty(self) -> Difficulty:
        return Difficulty(self.header["difficulty"])

    @property
    def apps(self) -> tuple[str, ...]:
        return tuple(self.header["apps"])

    @property
    def seed(self) -> int | None:
        seed = self.header["seed"]
        return None if seed is None else int(seed)

    @property
    def split(self) -> str | None:
        return self.header["split"]  # type: ignore[no-any-return]

    @property
    def outcome(self) -> Outcome | None:
        """None while it runs, and for ever if it was cut short."""
        outcome = self.header.get("outcome")
        return None if outcome is None else Outcome(outcome)

    @property
    def finished(self) -> bool:
        """It ended, and through no fault of the machine: there is nothing to run again."""
        return self.outcome not in (None, Outcome.INFRA_ERROR)

    @property
    def why(self) -> str:
        return str(self.header.get("why", ""))

    @property
    def usage(self) -> Usage | None:
        """What the agent used; None if it did not count."""
        if (kept := self.header.get("usage")) is not None:
            return Usage.from_json(kept)
        return Usage.total(step.usage for step in self.steps)

    @property
    def turns(self) -> int:
        """Answers of the agent; 0 in episodes that were recorded before answers were counted."""
        return max((step.turn for step in self.steps), default=0)

    @property
    def called(self) -> str:
        """Calls and actions with pointer and keyboard in words; empty if nothing was called."""
        calls, hands = self.header.get("calls"), self.header.get("gui_actions", 0)
        return f"calls: {calls}, actions with pointer and keyboard: {hands}" if calls else ""

    @property
    def screenshots(self) -> tuple[Path | None, ...]:
        """Pictures of the screen before the first action and after each, where they were kept as files."""
        return (self.first_screenshot, *(step.screenshot for step in self.steps))

    def picture_names(self) -> tuple[str | None, ...]:
        """What each screen is called: its file, ``step_N.png`` if it has none but was observed, otherwise None."""
        names = [None if path is None else path.name for path in self.screenshots]
        observed = self._observed
        there = 0 if observed is None else len(observed)
        return tuple(name or (f"step_{n}.png" if n < there else None) for n, name in enumerate(names))

    def seen_before(self, number: int) -> int:
        """Which frame was seen before a step: the last one of its desktop."""
        where = self.steps[number - 1].desktop
        earlier = (step.number for step in reversed(self.steps[: number - 1]) if step.desktop == where)
        return next(earlier, number if where else 0)

    def frame(self, number: int) -> npt.NDArray[np.uint8]:
        """The screen after so many actions, RGB."""
        observed = self._observed
        return _picture(self, number) if observed is None else observed.frame(number)

    def observations(self) -> Iterator[Observation]:
        """What the agent saw before its first action, and after each, as it saw it."""
        observed = self._observed
        if observed is None:
            raise ResultsError(
                f"{self.directory} holds screens, but not what else was observed",
                hint="it was recorded by an older version of Operant; play the task again",
            )
        if self.outcome is not None and self.steps and len(observed) <= len(self.steps):
            raise ResultsError(
                f"{observed.path} is cut off: {len(observed)} observations for {len(self.steps)} steps"
            )
        return observed.read(self.header)

    @cached_property
    def _observed(self) -> ObservationFile | None:
        """None for an episode of format 1."""
        if self.header.get("format") == 1:
            return None
        return ObservationFile(self.directory / layout.OBSERVATIONS)


def _picture(episode: Episode, number: int) -> npt.NDArray[np.uint8]:
    import numpy as np
    from PIL import Image

    path = episode.screenshots[number]
    try:
        if path is None:
            raise FileNotFoundError("it was not kept")
        with Image.open(path) as image:
            return np.asarray(image.convert("RGB"))
    except OSError as error:
        raise ResultsError(f"{episode.directory}: no picture of step {number}: {error}") from error
