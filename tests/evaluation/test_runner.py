"""Evaluations: everything is played once, goes on after any end, and infra errors are not failures."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from loguru import logger

from operant.agents.base import Agent
from operant.agents.oracle import OracleAgent
from operant.config.desktop import DesktopConfig
from operant.errors import ConfigError, DesktopDied, ResultsError, SandboxUnavailable, TaskError
from operant.evaluation.evaluation_run import EvaluationRun, EvaluationSettings, find_runs
from operant.evaluation.plan import Asked, plan_episodes
from operant.evaluation.summary import lines_of, summarise
from operant.rollout.store import read_episode
from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.setup import SetupStep
from operant.tasks.task import Task
from operant.testing import FAKE_TEMPLATES, FakeDesktop
from operant.types import Action, Difficulty, Observation, Outcome

Play = Callable[..., Any]


def outcomes(run: EvaluationRun) -> Counter[str]:
    return Counter(line.outcome.value if line.outcome else "missing" for line in lines_of(run))


@pytest.mark.parametrize("workers", [1, 3, 50])
def test_every_task_is_played_once_and_kept(play: Play, tasks: list[Task], workers: int) -> None:
    played = play("oracle", tasks, workers=workers)
    assert outcomes(played.run) == {"success": 8}
    assert len(played.told) == 8
    assert {name for name, _ in played.told} == {Asked.of(task).directory for task in tasks}


@pytest.mark.parametrize("agent", ["noop", "done", "fail", "random"])
def test_agents_that_know_nothing_do_not_succeed(play: Play, tasks: list[Task], agent: str) -> None:
    assert outcomes(play(agent, tasks).run)["success"] == 0


def test_what_is_there_is_not_played_again(play: Play, tasks: list[Task]) -> None:
    assert len(play("oracle", tasks[:3]).told) == 3
    again = play("oracle", tasks)
    assert len(again.told) == 5
    assert outcomes(again.run) == {"success": 8}
    assert play("oracle", tasks).told == []


def test_episodes_cut_short_damaged_or_of_another_text_are_played_again(
    play: Play, tasks: list[Task]
) -> None:
    run = play("oracle", tasks).run
    directories = [run.directory / Asked.of(task).directory for task in tasks]
    header = json.loads((directories[0] / "episode.json").read_text())
    del header["outcome"]
    (directories[0] / "episode.json").unlink()
    (directories[0] / "episode.partial.json").write_text(json.dumps(header))
    (directories[1] / "episode.json").write_text("{")
    (directories[2] / "traj.jsonl").write_text("rubbish\n")
    changed = [*tasks[:3], replace(tasks[3], instruction="Something else"), *tasks[4:]]
    again = play("oracle", changed)
    assert {name for name, _ in again.told} == {Asked.of(task).directory for task in tasks[:4]}


def test_results_under_other_settings_are_not_mixed(play: Play, tasks: list[Task]) -> None:
    play("noop", tasks[:1])
    with pytest.raises(ConfigError, match="max_steps was None and is 3") as caught:
        play("noop", tasks[:1], max_steps=3)
    assert "--result-dir" in str(caught.value.hint)


def test_a_new_fingerprint_is_another_agent(play: Play, tasks: list[Task]) -> None:
    class Learned(OracleAgent):
        fingerprint = "a1"

    play(Learned, tasks[:1])
    Learned.fingerprint = "b2"
    with pytest.raises(ConfigError, match="fingerprint was 'a1' and is 'b2'"):
        play(Learned, tasks[:1])


def test_two_evaluations_do_not_write_into_one_directory(tmp_path: Path, tasks: list[Task]) -> None:
    settings = EvaluationSettings("noop")
    with (
        EvaluationRun.open(tmp_path, settings, tasks),
        pytest.raises(ResultsError, match="another evaluation"),
        EvaluationRun.open(tmp_path, settings, tasks),
    ):
        pass
    with EvaluationRun.open(tmp_path, settings, tasks):
        pass


def test_a_directory_that_can_not_be_written_is_told_before_anything_starts(
    tmp_path: Path, tasks: list[Task]
) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(ConfigError, match="can't be written"),
        EvaluationRun.open(tmp_path / "file", EvaluationSettings("noop"), tasks),
    ):
        pass


# Infra errors.


class Mortal:
    """Makes desktops that die at given actions, counted over all of them."""

    def __init__(self, *deadly: int) -> None:
        self.deadly = set(deadly)
        self.actions = 0
        self.made: list[FakeDesktop] = []
        self.lock = threading.Lock()

    def __call__(self, config: DesktopConfig) -> Any:
        mortal = self

        class Desktop(FakeDesktop):
            def perform(self, action: Action) -> Any:
                with mortal.lock:
                    mortal.actions += 1
                    dies = mortal.actions in mortal.deadly
                if dies:
                    self.break_with(DesktopDied("killed"))
                return super().perform(action)

        self.made.append(Desktop(config))
        return self.made[-1]


def test_a_desktop_that_dies_is_replaced_and_the_episode_played_again(play: Play, tasks: list[Task]) -> None:
    desktops = Mortal(1, 4)
    played = play("oracle", tasks, desktops=desktops)
    assert outcomes(played.run) == {"success": 8}
    assert len(played.told) == 8
    tries = [
        read_episode(played.run.directory / Asked.of(task).directory).header["failed_tries"] for task in tasks
    ]
    assert sorted(map(len, tries))[-2:] in ([0, 2], [1, 1])
    assert all(desktop.closed for desktop in desktops.made)


class AlwaysFails(SetupStep):
    def apply(self, desktop: Any) -> None:
        raise DesktopDied("it never works")


def test_what_never_works_is_counted_apart_and_tried_again_next_time(play: Play, tasks: list[Task]) -> None:
    broken = [replace(tasks[0], setup=(AlwaysFails(),)), *tasks[1:]]
    played = play("oracle", broken)
    assert outcomes(played.run) == {"success": 7, "infra_error": 1}
    rates = summarise(played.run, lines_of(played.run))["overall"]
    assert (rates["n"], rates["infra_errors"], rates["success"]) == (8, 1, 7 / 8)
    episode = played.run.episode(Asked.of(tasks[0]))
    assert len(episode.header["failed_tries"]) == 2
    assert "it never works" in episode.why
    repaired = play("oracle", tasks)
    assert len(repaired.told) == 1
    assert outcomes(repaired.run) == {"success": 8}


class Trips(SetupStep):
    def apply(self, desktop: Any) -> None:
        raise TypeError("an int is not iterable")


@dataclass(frozen=True)
class Stumbles(Criterion):
    def check(self, world: World) -> Verdict:
        raise TypeError("an int is not iterable")


def test_what_nobody_foresaw_is_one_episodes_error_and_the_others_are_played(
    play: Play, tasks: list[Task]
) -> None:
    odd = [replace(tasks[0], setup=(Trips(),)), replace(tasks[1], success=Stumbles()), *tasks[2:]]
    played = play("oracle", odd)
    assert outcomes(played.run) == {"success": 6, "infra_error": 1, "verifier_error": 1}
    assert "TypeError: an int" in played.run.episode(Asked.of(odd[0])).why
    assert "TypeError: an int" in played.run.episode(Asked.of(odd[1])).why


def test_what_nobody_foresaw_while_looking_is_an_infra_error(play: Play, tasks: list[Task]) -> None:
    class Blind(FakeDesktop):
        def windows(self) -> Any:
            raise KeyError("an answer of a type that nobody expects")

    played = play("random", tasks[:2], desktops=Blind.factory, max_steps=3)
    assert outcomes(played.run) == {"infra_error": 2}
    assert "KeyError" in played.run.episode(Asked.of(tasks[0])).why


def test_a_machine_that_can_run_no_desktop_says_so_at_once(play: Play, tasks: list[Task]) -> None:
    def none(config: DesktopConfig) -> Any:
        raise SandboxUnavailable("no user namespaces", hint="operant doctor")

    with pytest.raises(SandboxUnavailable):
        play("oracle", tasks, desktops=none)


# Agents.


def test_an_agent_that_hangs_costs_its_episode_and_is_replaced(play: Play, tasks: list[Task]) -> None:
    made: list[Agent] = []
    release = threading.Event()

    class Hangs(OracleAgent):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

        def act(self, observation: Observation) -> Action:
            if "Compute" in observation.instruction or "How much" in observation.instruction:
                release.wait(30)
            return super().act(observation)

    played = play(Hangs, tasks, workers=1, act_s=0.2)
    release.set()
    assert outcomes(played.run) == {"success": 6, "failure": 2}
    lost = [result for _, result in played.told if result.agent_lost]
    assert [result.why for result in lost] == ["agent timeout: no answer within 0.2 s"] * 2
    # One that is asked for its settings, the worker's own, and one after each that was lost, if any followed.
    assert len(made) in (3, 4)


def test_agents_are_closed_and_each_worker_has_its_own(play: Play, tasks: list[Task]) -> None:
    threads: dict[int, set[str]] = {}
    closed: list[int] = []

    class Noted(OracleAgent):
        def attach(self, desktop: Any, task: Task) -> None:
            threads.setdefault(id(self), set()).add(task.id + str(task.seed))
            super().attach(desktop, task)

        def close(self) -> None:
            closed.append(id(self))

    play(Noted, tasks, workers=3)
    assert sum(map(len, threads.values())) == 8
    assert set(threads) <= set(closed)


def test_an_agent_that_can_not_be_made_ends_the_evaluation(play: Play, tasks: list[Task]) -> None:
    made = []

    def make() -> Agent:
        made.append(1)
        if len(made) > 1:
            raise ResultsError("no weights")
        return OracleAgent()

    with pytest.raises(ResultsError, match="no weights"):
        play(make, tasks, workers=1)


def test_ctrl_c_stops_soon_and_leaves_a_state_to_go_on_from(
    play: Play, tasks: list[Task], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Slow(OracleAgent):
        def act(self, observation: Observation) -> Action:
            time.sleep(0.15)
            return super().act(observation)

    real = threading.Thread.join
    waited = []

    def interrupted(thread: threading.Thread, timeout: float | None = None) -> None:
        if thread.name.startswith("operant-eval") and not waited and list(tmp_path.rglob("result.txt")):
            waited.append(1)
            raise KeyboardInterrupt
        real(thread, timeout)

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    began = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        play(Slow, tasks, workers=2)
    assert time.perf_counter() - began < 10
    monkeypatch.undo()
    (run,) = find_runs(tmp_path)
    before = outcomes(run)
    assert 0 < before["success"] < 8
    assert before["failure"] == before["infra_error"] == before["truncated"] == 0
    again = play(Slow, tasks)
    assert len(again.told) == 8 - before["success"]
    assert outcomes(again.run) == {"success": 8}


# The plan.


def test_a_plan_has_every_template_for_every_seed() -> None:
    plan = plan_episodes(FAKE_TEMPLATES, range(5, 8), split="train", max_steps=3)
    assert len(plan) == 12
    assert {task.seed for task in plan} == {5, 6, 7}
    assert {task.split for task in plan} == {"train"}
    assert {task.max_steps for task in plan} == {3}
    assert len({Asked.of(task).draw_seed for task in plan}) == 12


def test_a_task_in_which_nothing_is_drawn_counts_once_with_a_warning(log: list[str]) -> None:
    class NoBlanks:
        difficulty = Difficulty.EASY

        def instance(self, seed: int, split: str) -> Task:
            return replace(FAKE_TEMPLATES[0].instance(0), id="fake/no-blanks-v1", seed=None, split=None)

    plan = plan_episodes([FAKE_TEMPLATES[0], NoBlanks(), FAKE_TEMPLATES[1]], range(3))
    assert [one.seed for one in plan] == [0, 0, 0, 1, 1, 2, 2]
    assert [one.seed for one in plan if one.id == "fake/no-blanks-v1"] == [0]
    (said,) = log
    assert "fake/no-blanks-v1: nothing is drawn in it, so its 3 episodes are the same" in said
    plan_episodes([NoBlanks()], [0])
    assert len(log) == 1


@pytest.fixture
def log() -> Iterator[list[str]]:
    """Warnings of this test."""
    said: list[str] = []
    sink = logger.add(said.append, level="WARNING")
    yield said
    logger.remove(sink)


def test_a_plan_without_tasks_is_an_error() -> None:
    with pytest.raises(ConfigError, match="no tasks of difficulty HARD"):
        plan_episodes(FAKE_TEMPLATES, [0], difficulty=Difficulty.HARD)
    with pytest.raises(TaskError, match="not a split"):
        plan_episodes(FAKE_TEMPLATES, [0], split="test")


def test_two_tasks_of_one_id_are_an_error() -> None:
    with pytest.raises(TaskError, match="two tasks are called"):
        plan_episodes([FAKE_TEMPLATES[0], FAKE_TEMPLATES[0]], [0])


def test_an_episode_that_was_asked_for_and_is_not_there_counts(
    play: Play, tasks: list[Task], tmp_path: Path
) -> None:
    with EvaluationRun.open(
        tmp_path / "results", EvaluationSettings("oracle", privileged=True, act_s=5.0), tasks
    ):
        pass
    run = play("oracle", tasks[:2]).run
    summary = summarise(run, lines_of(run))
    assert summary["overall"]["n"] == 8
    assert summary["overall"]["success"] == 2 / 8
    assert summary["outcomes"]["missing"] == 6


def test_a_run_file_can_not_point_outside(tmp_path: Path, tasks: list[Task]) -> None:
    with EvaluationRun.open(tmp_path, EvaluationSettings("noop"), tasks[:1]) as run:
        path = run.directory / "run.json"
    path.write_text(path.read_text().replace('"panel/', '"../../panel/'))
    with pytest.raises(ResultsError, match="not below"):
        find_runs(tmp_path)


def test_the_summary_has_the_published_keys(play: Play, tasks: list[Task]) -> None:
    run = play("oracle", tasks).run
    summary = summarise(run, lines_of(run))
    means = {"mean_steps", "mean_turns", "mean_calls", "mean_gui_actions"}
    group = {"n", "success", "low", "high", "infra_errors", "usage", *means}
    assert {"overall", "by_difficulty", "by_app", "by_task", "seeds", "commit", "agent"} <= set(summary)
    assert set(summary["by_difficulty"]) == {"EASY", "MEDIUM", "HARD"}
    for name in ("by_difficulty", "by_app", "by_task"):
        assert all(set(rates) == group for rates in summary[name].values())
    assert set(summary["overall"]) == group
    assert summary["by_difficulty"]["HARD"] == dict.fromkeys(group, None) | {"n": 0, "infra_errors": 0}
    assert set(summary["by_app"]) == {"panel", "galculator"}
    assert summary["by_app"]["panel"]["n"] == 6
    assert summary["seeds"] == [0, 1]
    assert summary["overall"]["mean_steps"] == pytest.approx(
        sum(len(line.episode.steps) for line in lines_of(run) if line.episode) / 8
    )
    assert Outcome.SUCCESS.value in summary["outcomes"]
