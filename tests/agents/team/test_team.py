"""Teams on the fake desktop: parts in turn, reviews, members that fail, hang or claim too much."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from operant.agents.base import Agent, Decision, TaskView, Usage
from operant.agents.oracle import OracleAgent
from operant.agents.registry import make_agent
from operant.agents.team import PrivilegedTeam, TeamAgent, make_team
from operant.config.settings import read_yaml
from operant.config.team import TeamSettings
from operant.envs.task_environment import TaskEnvironment
from operant.errors import ConfigError, ModelServerError, UnknownAgent
from operant.rollout.episode import EpisodeResult, Step
from operant.rollout.loop import Limits, run_episode
from operant.rollout.recorders import StepRecorder
from operant.rollout.store import EpisodeWriter, read_episode
from operant.testing.fake_desktop import FakeDesktop
from operant.testing.fake_tasks import FillField
from operant.types import Action, ActionKind, Observation, Outcome

TASK = FillField().instance(0, "train")


class Scripted(Agent):
    """Takes these turns, one after another, again in every round; notes how it was begun."""

    def __init__(self, *turns: Action | Decision | BaseException | threading.Event) -> None:
        self.turns = turns
        self.begun: list[TaskView] = []
        self.seen: list[Observation] = []
        self._left: Iterator[Action | Decision | BaseException | threading.Event] = iter(())

    def begin(self, task: TaskView) -> None:
        self.begun.append(task)
        self._left = iter(self.turns)

    def act(self, observation: Observation) -> Action | Decision:
        self.seen.append(observation)
        turn = next(self._left)
        if isinstance(turn, threading.Event):
            turn.wait(60.0)
            return Action.done()
        if isinstance(turn, BaseException):
            raise turn
        return turn


def answer(text: str) -> Action:
    return Action(ActionKind.ANSWER, text=text)


def play(team: TeamAgent, max_steps: int = 20) -> tuple[EpisodeResult, list[Step]]:
    recorder = StepRecorder()
    with FakeDesktop() as desktop:
        environment = TaskEnvironment(desktop, with_tree=team.sees_widgets)
        task = replace(TASK, max_steps=max_steps)
        result = run_episode(team, environment, task, recorder, Limits(act_s=50.0))
    team.close()
    return result, recorder.steps


def team_of(
    agents: dict[str, Agent | type[Agent]],
    own: dict[str, dict[str, object]] | None = None,
    **settings: object,
) -> TeamAgent:
    members = {name: {"agent": "noop", **(own or {}).get(name, {})} for name in agents}
    made = TeamSettings.build(members=members, **settings)
    makers = {name: (one if isinstance(one, type) else (lambda one=one: one)) for name, one in agents.items()}
    return make_team(made, makers)


def test_oracle_members_do_the_task_and_every_step_says_who_acted() -> None:
    team = team_of({"operator": OracleAgent, "reviewer": OracleAgent}, reviewer="reviewer", planner="whole")
    assert isinstance(team, PrivilegedTeam)
    result, steps = play(team)
    alone, own = _alone()
    assert (result.outcome, alone.outcome) == (Outcome.SUCCESS, Outcome.SUCCESS)
    assert result.steps == alone.steps  # claims and verdicts spend none
    assert [step.actor for step in steps] == [*["operator"] * len(own), "reviewer", "coordinator"]
    assert steps[-2].record["accepted"] is True
    assert steps[0].record["plan"] == [{"member": "operator", "instruction": TASK.instruction}]


def _alone() -> tuple[EpisodeResult, list[Step]]:
    recorder = StepRecorder()
    with FakeDesktop() as desktop:
        return run_episode(OracleAgent(), TaskEnvironment(desktop), TASK, recorder), recorder.steps


def test_a_member_that_claims_too_much_is_sent_back_and_its_deputy_takes_over() -> None:
    team = team_of(
        {"liar": Scripted(Action.done()), "honest": OracleAgent, "reviewer": OracleAgent},
        own={"liar": {"deputy": "honest"}},
        reviewer="reviewer",
    )
    result, steps = play(team)
    assert result.outcome is Outcome.SUCCESS
    assert [step.actor for step in steps][:3] == ["liar", "reviewer", "honest"]
    assert "something is left to do" in steps[1].record["reason"]


def test_a_member_that_keeps_claiming_too_much_ends_in_failure() -> None:
    liar = Scripted(Action.done())
    team = team_of({"liar": liar, "reviewer": OracleAgent}, reviewer="reviewer", rounds=3)
    result, _ = play(team)
    assert result.outcome is Outcome.FAILURE
    assert result.steps == 1  # the coordinator's
    assert len(liar.begun) == 3
    assert "reviewer: something is left to do" in liar.begun[1].instruction


def test_without_notes_a_member_is_told_its_instruction_only() -> None:
    liar = Scripted(Action.done())
    team = team_of(
        {"liar": liar, "reviewer": OracleAgent}, own={"liar": {"notes": False}}, reviewer="reviewer"
    )
    play(team)
    assert {view.instruction for view in liar.begun} == {TASK.instruction}


def test_a_member_that_hangs_loses_its_round_and_is_replaced() -> None:
    never = threading.Event()
    made: list[Agent] = []

    def make() -> Agent:
        made.append(Scripted(never) if not made else OracleAgent())
        return made[-1]

    settings = TeamSettings.build(members={"operator": {"agent": "noop", "turn_s": 0.5}})
    team = make_team(settings, {"operator": make})
    try:
        with FakeDesktop() as desktop:
            team.members["operator"].attach(desktop, TASK)
            result = run_episode(team, TaskEnvironment(desktop), TASK, limits=Limits(act_s=50.0))
    finally:
        never.set()
        team.close()
    assert result.outcome is Outcome.SUCCESS
    assert not result.agent_lost
    assert len(made) == 2


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        (ValueError("broken"), "ValueError: broken"),
        (Action.fail("too hard"), "gave up: too hard"),
        (Decision(end="refusal"), "refusal"),
    ],
    ids=["raises", "gives up", "refuses"],
)
def test_a_member_that_fails_in_every_round_ends_in_failure(turn: Action, why: str) -> None:
    result, steps = play(team_of({"operator": Scripted(turn)}))
    assert result.outcome is Outcome.FAILURE
    assert [step.actor for step in steps] == ["operator", "operator", "coordinator"]
    assert steps[-1].action is not None
    assert why in steps[-1].action.text


def test_a_reviewer_that_fails_or_gives_no_verdict_accepts_nothing() -> None:
    for turns in ([ValueError("broken")], [answer("hm")] * 3, [Action.wait()] * 3):
        team = team_of(
            {"operator": Scripted(Action.done()), "reviewer": Scripted(*turns)}, reviewer="reviewer", rounds=1
        )
        result, steps = play(team)
        assert result.outcome is Outcome.FAILURE
        assert steps[-1].actor == "coordinator"
        assert "reviewer" in (steps[-1].action or Action.done()).text


def test_a_verdict_may_be_an_answer_and_answers_are_passed_on() -> None:
    first, second = Scripted(answer("it is 42")), Scripted(answer("all right"))
    team = team_of(
        {"first": first, "second": second, "reviewer": Scripted(answer("ACCEPT: fine"))},
        reviewer="reviewer",
        parts=[{"instruction": "look", "member": "first"}, {"instruction": "use it", "member": "second"}],
    )
    result, steps = play(team)
    assert "first: it is 42" in second.begun[0].instruction
    assert steps[-1].action == answer("all right")
    assert result.steps == 1


def test_what_precedes_a_claim_is_performed_and_a_failure_in_it_voids_the_claim() -> None:
    batch = Decision((Action.type("a"), Action.done()), usage=Usage(10, 0, 1, 1, 0.5))
    broken = Decision((Action(ActionKind.CALL, function="nope"), Action.done()))
    member = Scripted(broken, batch)
    result, steps = play(team_of({"operator": member}))
    kinds = [step.action.kind if step.action else None for step in steps]
    assert kinds == [ActionKind.CALL, ActionKind.TYPE, ActionKind.SCREENSHOT, ActionKind.DONE]
    assert member.seen[1].results[0].error
    assert member.seen[1].step == 1
    assert result.usage == Usage(10, 0, 1, 1, 0.5)


def test_a_part_has_its_own_steps_and_view() -> None:
    first = Scripted(Action.type("a"), Action.done())
    second = Scripted(*[Action.type("b")] * 9)
    team = team_of(
        {"first": first, "second": second},
        parts=[{"instruction": "a", "member": "first"}, {"instruction": "b", "member": "second", "steps": 2}],
    )
    result, steps = play(team)
    assert result.outcome is Outcome.FAILURE
    assert result.steps == 4  # one of the first, two of the second, and the coordinator's
    assert second.seen[0].step == 0
    assert second.seen[0].last_action is None
    assert second.seen[0].instruction == "b"
    assert second.seen[1].max_steps == 2
    assert "2 steps are spent" in (steps[-1].action or Action.done()).text


def test_the_team_shares_the_steps_of_the_episode() -> None:
    result, steps = play(team_of({"operator": Scripted(*[Action.type("a")] * 9)}), max_steps=5)
    assert result.outcome is Outcome.TRUNCATED
    assert len(steps) == 5


def test_a_planner_is_an_agent_too() -> None:
    operator = Scripted(Action.done())
    plan = answer("operator: press a\noperator: press b")
    team = team_of({"planner": Scripted(plan), "operator": operator}, planner="planner")
    _, steps = play(team)
    assert [view.instruction for view in operator.begun] == ["press a", "press b"]
    assert steps[0].actor == "planner"
    assert len(steps[0].record["plan"]) == 2


def test_a_planner_that_fails_leaves_the_task_whole() -> None:
    operator = Scripted(Action.done())
    team = team_of({"planner": Scripted(ValueError("no idea")), "operator": operator}, planner="planner")
    _, steps = play(team)
    assert [view.instruction for view in operator.begun] == [TASK.instruction]
    assert "no idea" in steps[0].response


def test_a_model_server_that_is_down_is_not_the_teams_failure() -> None:
    result, _ = play(team_of({"operator": Scripted(ModelServerError("down"))}))
    assert result.outcome is Outcome.INFRA_ERROR


def test_who_acted_is_in_the_episode_on_disk(tmp_path: Path) -> None:
    team = team_of({"operator": OracleAgent, "reviewer": OracleAgent}, reviewer="reviewer")
    with FakeDesktop() as desktop:
        writer = EpisodeWriter(tmp_path / "episode", {"agent": "team", "observation_type": "screenshot"})
        run_episode(team, TaskEnvironment(desktop), TASK, writer)
    team.close()
    actors = [step.actor for step in read_episode(tmp_path / "episode").steps]
    assert set(actors) == {"operator", "reviewer", "coordinator"}


# Files.


def write(place: Path, text: str) -> str:
    (place / "team.yaml").write_text(text)
    return f"team:{place / 'team.yaml'}"


def test_a_team_by_its_file(tmp_path: Path) -> None:
    plain = make_agent(write(tmp_path, "members: {a: {agent: noop}}"))
    seeing = make_agent(write(tmp_path, "members: {a: {agent: noop}, b: {agent: oracle}}\nreviewer: b"))
    assert not isinstance(plain, PrivilegedTeam)
    assert isinstance(seeing, PrivilegedTeam)
    assert plain.fingerprint != seeing.fingerprint
    plain.close()
    seeing.close()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("members: {a: {agnet: noop}}", "did you mean 'agent'?"),
        ("membrs: {}", "did you mean 'members'?"),
        ("members: {}", "members"),
        ("members: {alice: {agent: noop}}\nreviewer: alcie", "there is no member 'alcie'"),
        ("members: {a: {agent: noop}}\nreviewer: a", "no member that does parts"),
        ("members: {a: {agent: 'team:x.yaml'}}", "can't be a member of a team"),
        ("members: {a: {agent: noop}}\nparts: [{instruktion: x}]", "did you mean 'instruction'?"),
        ("members: {a: {agent: noop, turn_s: 0}}", "turn_s"),
        ("- a", "holds no settings"),
    ],
)
def test_mistakes_in_the_file_are_told_at_once(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_agent(write(tmp_path, text))
    assert told in str(caught.value)
    assert "team.yaml" in str(caught.value)


def test_unknown_agents_and_missing_files_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UnknownAgent):
        make_agent(write(tmp_path, "members: {a: {agent: orcale}}"))
    with pytest.raises(ConfigError, match="there is no file"):
        make_agent("team:nowhere.yaml")
    with pytest.raises(ConfigError, match="needs its file"):
        make_agent("team")


def test_the_shipped_team_can_be_read() -> None:
    path = Path(__file__).parents[3] / "config" / "team.yaml"
    assert TeamSettings.build(**read_yaml(path)).reviewer == "reviewer"
