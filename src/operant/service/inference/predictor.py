"""One model that answers questions: what is seen and wanted goes in, an action comes out.

The only place that knows how the agents of ``operant.agents`` are asked. Runs in the inference thread and knows
nothing of requests.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from operant.agents.base import Agent, Decision, PrivilegedAgent, TaskView, Usage
from operant.agents.batched import BatchedAgent
from operant.errors import AgentError, InvalidAction, OperantError, RequestForbidden
from operant.types import Action, Observation, Size

__all__ = ["AgentPredictor", "ModelInfo", "Prediction", "PredictionRequest", "Predictor"]


@dataclass(frozen=True, slots=True)
class PredictionRequest:
    """What to do next?"""

    observation: Observation
    deterministic: bool = True
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Prediction:
    """An action, or why there is none."""

    actions: tuple[Action, ...] = ()
    """All of the turn; most agents give one."""
    confidence: float | None = None
    """How likely the model takes its own action; None if it does not say."""
    value: float | None = None
    """What its critic expects; None if it has none."""
    response: str = ""
    error: str = ""
    usage: Usage | None = None

    @property
    def action(self) -> Action | None:
        """The first one."""
        return self.actions[0] if self.actions else None


@dataclass(frozen=True)
class ModelInfo:
    """What is known of a model."""

    name: str
    agent: str
    fingerprint: str = ""
    batched: bool = False
    privileged: bool = False
    sees_widgets: bool = False
    parameters: int | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


class Predictor(ABC):
    """A model, loaded."""

    info: ModelInfo

    @abstractmethod
    def predict(self, questions: Sequence[PredictionRequest]) -> list[Prediction | OperantError]:
        """One answer, or one failure, for each question; one bad question spoils no other."""

    @abstractmethod
    def make_agent(self, *, deterministic: bool) -> Agent:
        """An agent of its own for one task."""

    def close(self) -> None:  # noqa: B027 - most have nothing to let go of
        """Let go of everything."""


class AgentPredictor(Predictor):
    """Any agent. One that answers many at once is asked so; others one after another."""

    def __init__(self, name: str, make: Callable[[], Agent], agent_name: str | None = None) -> None:
        self._make = make
        self._agent = make()
        self._agent.preflight()
        parameters = getattr(self._agent, "parameter_count", None)
        self.info = ModelInfo(
            name,
            agent_name or name,
            self._agent.fingerprint,
            isinstance(self._agent, BatchedAgent),
            isinstance(self._agent, PrivilegedAgent),
            self._agent.sees_widgets,
            parameters if isinstance(parameters, int) else None,
            dict(getattr(self._agent, "details", {}) or {}),
        )

    def predict(self, questions: Sequence[PredictionRequest]) -> list[Prediction | OperantError]:
        if self.info.privileged:
            return [
                RequestForbidden(
                    f"{self.info.name} looks behind the screen, so it can't judge a picture",
                    hint="let it do a whole task: POST /api/v1/agent/complete-task",
                )
            ] * len(questions)
        if isinstance(self._agent, BatchedAgent):
            try:
                return self._together(self._agent, questions)
            except Exception:  # noqa: BLE001 - one of them is to blame: find out which
                return [self._alone(question) for question in questions]
        return [self._alone(question) for question in questions]

    def _together(
        self, agent: BatchedAgent, questions: Sequence[PredictionRequest]
    ) -> list[Prediction | OperantError]:
        said = agent.act_all(
            [question.observation for question in questions],
            deterministic=[question.deterministic for question in questions],
        )
        if len(said) != len(questions):
            raise AgentError(f"{self.info.name} gave {len(said)} answers to {len(questions)} questions")
        return [_answer(one) for one in said]

    def _alone(self, question: PredictionRequest) -> Prediction | OperantError:
        agent, seen = self._agent, question.observation
        height, width = seen.screen.shape[:2]
        try:
            if isinstance(agent, BatchedAgent):
                return _answer(agent.act_all([seen], deterministic=[question.deterministic])[0])
            agent.begin(TaskView(seen.instruction, seen.max_steps, Size(width, height), question.seed))
            return _answer(agent.act(seen))
        except InvalidAction as error:
            return Prediction(error=error.message)
        except OperantError as error:  # such as a model server that does not answer: it says what to do
            return error
        except Exception as error:  # noqa: BLE001 - foreign code may raise anything
            return AgentError(f"{self.info.name} failed: {type(error).__name__}: {str(error)[:200]}")

    def make_agent(self, *, deterministic: bool) -> Agent:
        agent = self._make()
        if isinstance(agent, BatchedAgent):
            agent.deterministic = deterministic
        return agent

    def close(self) -> None:
        self._agent.close()


def _answer(said: Action | Decision) -> Prediction:
    if not isinstance(said, Decision):
        return Prediction((said,))
    record = said.record
    confidence = _number(record.get("confidence"))
    if confidence is None and (log_prob := _number(record.get("log_prob"))) is not None:
        confidence = min(1.0, math.exp(min(0.0, log_prob)))
    value = _number(record.get("value"))
    return Prediction(said.actions, confidence, value, said.response, said.error, said.usage)


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
