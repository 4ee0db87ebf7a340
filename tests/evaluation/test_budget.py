"""What evaluations use: counted in summaries, bounded by budgets, and slow answers hold up no one else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from operant.agents.base import Agent, Decision, Usage
from operant.evaluation.budget import Budget
from operant.evaluation.summary import lines_of, summarise
from operant.evaluation.tables import used_text
from operant.tasks.task import Task
from operant.types import Action, Observation

Play = Callable[..., Any]


class Costly(Agent):
    cost: float | None = 0.25

    def act(self, observation: Observation) -> Decision:
        return Decision((Action.done(),), usage=Usage(80, 40, 20, 1, self.cost))


class Unpriced(Costly):
    cost = None


def test_what_was_used_is_summed_up(play: Play, tasks: list[Task]) -> None:
    run = play(Costly, tasks).run
    used = summarise(run, lines_of(run))["overall"]["usage"]
    count = len(tasks)
    assert used == {
        "input_tokens": 80 * count, "cached_tokens": 40 * count, "output_tokens": 20 * count, "requests": count,
        "cost": 0.25 * count, "written_tokens": 0,
    }  # fmt: skip
    assert "$2.0000" in used_text(used)
    assert used_text({**used, "cost": None}).endswith("cost unknown")


def test_agents_that_do_not_count_have_no_usage(play: Play, tasks: list[Task]) -> None:
    run = play("done", tasks[:1]).run
    assert summarise(run, lines_of(run))["overall"]["usage"] is None


@pytest.mark.parametrize("limits", [{"max_cost": 0.6}, {"max_tokens": 250}])
def test_a_budget_lets_no_further_episode_begin_and_the_same_call_goes_on(
    play: Play, tasks: list[Task], limits: dict[str, Any]
) -> None:
    first = Budget(**limits)
    assert len(play(Costly, tasks, workers=1, budget=first).told) == 3
    assert first.exhausted()
    assert len(play(Costly, tasks, workers=1, budget=Budget(**limits)).told) == 3
    last = Budget(**limits)
    assert len(play(Costly, tasks, workers=1, budget=last).told) == 2
    assert not last.exhausted()


def test_a_cost_that_is_unknown_stops_too(play: Play, tasks: list[Task]) -> None:
    budget = Budget(max_cost=1.0)
    assert len(play(Unpriced, tasks, workers=1, budget=budget).told) == 1
    assert "unknown" in budget.exhausted()


def test_one_slow_answer_holds_up_no_other_episode(play: Play, tasks: list[Task]) -> None:
    others = threading.Semaphore(0)
    slow = threading.Lock()

    class Server(Agent):
        """The first request is answered after all other episodes have been."""

        def act(self, observation: Observation) -> Action:
            if slow.acquire(blocking=False):
                for _ in range(len(tasks) - 1):
                    assert others.acquire(timeout=50), "the others waited for the slow one"
            else:
                others.release()
            return Action.done()

    told = play(Server, tasks, workers=2, act_s=100.0).told
    assert [result.end for _, result in told] == ["done"] * len(tasks)
