"""How much a call may use before it stops: no new episode begins, those under way are played to their end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import TypeVar

from operant.agents.base import Agent, Usage
from operant.errors import ConfigError
from operant.rollout.job_runner import JobList
from operant.rollout.loop import StopSignal
from operant.rollout.player import Job, PlayedEpisode

__all__ = ["Budget", "BudgetedJobs"]

J = TypeVar("J", bound=Job)


class Budget:
    """Counts what one call of a verb that plays uses, tries that were lost included. Safe for threads."""

    def __init__(self, max_cost: float | None = None, max_tokens: int | None = None) -> None:
        self.max_cost = max_cost
        self.max_tokens = max_tokens
        self.spent = Usage()
        self._lock = threading.Lock()

    def check(self, agent: Agent) -> None:
        """``ConfigError`` if dollars can't be counted because a price is not known."""
        if self.max_cost is not None and agent.unpriced:
            raise ConfigError(
                f"--max-cost can't be kept: the price of {agent.unpriced} is unknown",
                hint="give it by --prices FILE (docs/llm_agents.md), or use --max-tokens",
            )

    def add(self, usages: Iterable[Usage | None]) -> None:
        used = Usage.total(usages)
        if used is not None:
            with self._lock:
                self.spent += used

    def exhausted(self) -> str:
        """Why no new episode may begin; empty while one may."""
        spent = self.spent
        if self.max_tokens is not None and spent.tokens >= self.max_tokens:
            return f"{spent.tokens} tokens are used, of {self.max_tokens}"
        if self.max_cost is None or spent == Usage():
            return ""
        if spent.cost is None:
            return "the cost is unknown, so it can't be kept below --max-cost; --max-tokens needs no prices"
        return f"${spent.cost:.4f} are spent, of ${self.max_cost:.4f}" if spent.cost >= self.max_cost else ""


class BudgetedJobs(JobList[J]):
    """Hands out no further job once the budget is used up; counts what each one used, its lost tries included."""

    def __init__(
        self, jobs: Iterable[J], on_end: Callable[[PlayedEpisode[J]], None], budget: Budget | None
    ) -> None:
        super().__init__(jobs, on_end)
        self._budget = budget

    def take(self, stop: StopSignal) -> J | None:
        if self._budget is not None and self._budget.exhausted():
            return None
        return super().take(stop)

    def finish(self, played: PlayedEpisode[J]) -> None:
        if self._budget is not None:
            self._budget.add(one.usage for one in (*played.job.failed_tries, played.result))
        super().finish(played)

    drop = finish
