"""The models that there are, the one that answers, and the change from one to another.

A model is an agent by its name, or a checkpoint below the directories that are searched. Names from outside are
only ever looked up in the list; they never become paths.
"""

from __future__ import annotations

import difflib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from loguru import logger

from operant.agents.hosted import VENDORS
from operant.agents.registry import agent_factory, agent_names, checked_device
from operant.config.prices import PriceTable
from operant.errors import (
    AgentError,
    BadCheckpoint,
    MissingDependency,
    OperantError,
    UnknownAgent,
    UnknownModel,
)
from operant.service.inference.predictor import AgentPredictor, Predictor

__all__ = ["Model", "Models"]

CHECKPOINTS = ("*.pt", "*.safetensors")
MOST_LISTED = 1000
MOST_DEEP = 4
NEED_AN_ARGUMENT = frozenset({"vlm", "team", *VENDORS})
STAND_IN = "random"  # needs nothing that may be missing


@dataclass(frozen=True, slots=True)
class Model:
    """One that could answer."""

    name: str
    kind: str
    """``agent`` or ``checkpoint``."""
    path: Path | None = None
    bytes: int | None = None
    modified: float | None = None


class Models:
    """Switching is atomic: a batch is answered wholly by the old model or wholly by the new one."""

    def __init__(
        self,
        first: str,
        directories: Sequence[Path],
        checkpoint_agent: str,
        *,
        more: Sequence[str] = (),
        chosen: bool = True,
        threads: int = 1,
        device: str | None = None,
        prices: PriceTable | None = None,
        factory: Callable[[Model], Predictor] | None = None,
    ) -> None:
        """``more`` are agents beside the installed ones. ``chosen``: the first model was asked for, and none replaces it."""
        self._directories = tuple(directories)
        self._checkpoint_agent = checkpoint_agent
        self._factory = factory or self._load
        self._switching = threading.Lock()
        self._first = first
        self._more = tuple(more)
        self._chosen = chosen
        self._threads = threads
        self._device = None if device is None else checked_device(device)
        self._prices = prices
        self._current: Predictor | None = None
        installed = [name for name in agent_names() if name not in NEED_AN_ARGUMENT]
        self._names = list(dict.fromkeys([*more, *installed]))

    @property
    def current(self) -> Predictor:
        """The model that answers; the first one is loaded when it is first needed."""
        if self._current is None:
            with self._switching:
                if self._current is None:
                    self._current = self._load_first()
        return self._current

    def check(self) -> None:
        """Load the first model now if it was asked for, and try the further ones; an error if one can't be used."""
        if self._chosen:
            _ = self.current
        for name in self._more:
            self.load(name).close()

    def _load_first(self) -> Predictor:
        try:
            return self._factory(self._find(self._first))
        except MissingDependency as error:
            if self._chosen:
                raise
            logger.warning(
                "{}; {} answers instead, which knows nothing; {}, or choose another with --agent",
                error.message,
                STAND_IN,
                error.hint,
            )
            return self._factory(self._find(STAND_IN))

    def predictor(self) -> Predictor:
        return self.current

    @property
    def loaded(self) -> bool:
        return self._current is not None

    def list(self) -> list[Model]:
        """Agents first, then checkpoints, the newest first."""
        names = list(self._names)
        if self._first not in names and not any(self._first == one.name for one in self._checkpoints()):
            names.insert(0, self._first)
        checkpoints = sorted(self._checkpoints(), key=lambda one: -(one.modified or 0.0))
        return [Model(name, "agent") for name in names] + checkpoints[:MOST_LISTED]

    def load(self, name: str) -> Predictor:
        """Another model, beside the one that answers."""
        return self._factory(self._find(name))

    def switch(self, name: str) -> tuple[Predictor, Predictor | None]:
        """Let another model answer from now on; returns it and the one before. Takes as long as loading does."""
        with self._switching:
            loaded = self._factory(self._find(name))
            old, self._current = self._current, loaded
        logger.info("{} answers from now on", name)
        return loaded, old

    def _find(self, name: str) -> Model:
        known = self.list()
        for model in known:
            if model.name == name:
                return model
        near = difflib.get_close_matches(name, [model.name for model in known], 1)
        hint = f"did you mean {near[0]!r}?" if near else "GET /api/v1/agent/models lists them"
        raise UnknownModel(f"there is no model {name[:100]!r}", hint=hint)

    def _checkpoints(self) -> Iterator[Model]:
        for directory in self._directories:
            root = directory.resolve()
            for pattern in CHECKPOINTS:
                for path in directory.rglob(pattern) if directory.is_dir() else ():
                    relative = path.relative_to(directory)
                    # A link that leads out of the directory is not a model.
                    if len(relative.parts) > MOST_DEEP or not path.resolve().is_relative_to(root):
                        continue
                    try:
                        about = path.stat()
                    except OSError:
                        continue
                    yield Model(relative.as_posix(), "checkpoint", path, about.st_size, about.st_mtime)

    def _load(self, model: Model) -> Predictor:
        if model.path is None:
            make = agent_factory(model.name, device=self._device, prices=self._prices)
            return self._limited(AgentPredictor(model.name, make))
        agent = f"{self._checkpoint_agent}:{model.path}"
        try:
            return self._limited(
                AgentPredictor(model.name, agent_factory(agent, device=self._device), self._checkpoint_agent)
            )
        except (MissingDependency, UnknownAgent):
            raise
        except AgentError as error:
            raise BadCheckpoint(f"{model.name} is no checkpoint: {error.message}", hint=error.hint) from error
        except OperantError as error:
            raise BadCheckpoint(f"{model.name} can't be used: {error.message}", hint=error.hint) from error

    def _limited(self, predictor: Predictor) -> Predictor:
        """Networks take every core unless they are told otherwise."""
        if "torch" in sys.modules:
            from operant.learn.threads import use_threads

            use_threads(self._threads)
        return predictor
