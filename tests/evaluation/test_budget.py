"""What evaluations use: counted in summaries, bounded by budgets, and slow answers hold up no one else."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from operant.agents.base import Agent, Decision, Usage
from operant.evaluation.report import write_report
from operant.evaluation.summary import lines_of, summarise
from operant.evaluation.tables import summary_tables, used_text
from operant.rollout.budget import Budget
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
    assert "$2.00" in used_text(used)
    assert used_text({**used, "cost": None}).endswith("cost unknown")


def test_tables_and_the_report_show_turns_tokens_cost_and_ends_where_they_are_counted(
    play: Play, tasks: list[Task], tmp_path: Path
) -> None:
    class Mixed(Costly):
        """Solves nothing; every second episode is refused."""

        played = 0

        def act(self, observation: Observation) -> Decision:
            if observation.step == 0:
                Mixed.played += 1
                return replace(super().act(observation), actions=(Action.wait(), Action.wait()))
            refused = Mixed.played % 2 == 0
            return Decision(
                () if refused else (Action.done(),),
                end="refusal" if refused else "",
                usage=Usage(20_000, 0, 5, 1),
            )

    run = play(Mixed, tasks, workers=1).run
    summary = summarise(run, lines_of(run))
    assert summary["ends"] == {"done": 4, "refusal": 4}
    assert summary["overall"]["mean_turns"] == 2
    assert summary["overall"]["usage"]["cost"] is None, "a part of it is unknown"
    console = Console(file=io.StringIO(), width=110, no_color=True)
    for table in summary_tables(summary):
        console.print(table)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    overall = next(line for line in text.splitlines() if "overall" in line)
    assert [cell.strip() for cell in overall.split("│")][6:-1] == [
        "0",
        "2.0",
        "160.6 k",
        "320",
        "200",
        "unknown",
    ]
    assert "ended by: 4 done, 4 refusal" in text
    assert text.count("cached") >= 3, "by task, by application and by difficulty"
    write_report([run], tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert page.count("<th>tokens in</th>") == 3
    assert "<td>160.6 k</td><td>320</td><td>200</td><td>unknown</td>" in page
    assert "ended by: 4 done, 4 refusal" in page
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert {one["end"] for one in data} == {"done", "refusal"}
    assert {(one["cost"], one["used"].split(",")[0]) for one in data} == {("unknown", "2 turns")}
    assert "20.0 k tokens in" in data[0]["steps"][2]["used"]


def test_agents_that_do_not_count_have_no_usage(play: Play, tasks: list[Task]) -> None:
    run = play("done", tasks[:1]).run
    summary = summarise(run, lines_of(run))
    assert summary["overall"]["usage"] is None
    assert not any(column.header == "cost" for table in summary_tables(summary) for column in table.columns)


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
