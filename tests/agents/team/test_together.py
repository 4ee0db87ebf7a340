"""Teams on several fake desktops at once: parts, files and messages that are shared, joins, and what goes wrong."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from operant.agents.base import Agent, Decision, TaskView
from operant.agents.team import TeamAgent, make_team
from operant.config.desktop import DesktopConfig
from operant.config.team import TeamSettings
from operant.desktop.protocol import Desktop
from operant.errors import DesktopDied
from operant.rollout.episode import EpisodeResult, Step
from operant.rollout.loop import Limits, run_episode
from operant.rollout.player import environment_for
from operant.rollout.recorders import StepRecorder
from operant.rollout.store import EpisodeWriter, read_episode
from operant.tasks.criteria import AllOf, FileEquals
from operant.tasks.setup import WriteFile
from operant.tasks.task import Task
from operant.testing.fake_desktop import FakeDesktop
from operant.types import Action, ActionKind, Difficulty, Observation, Outcome

NAMES = ("a", "b", "c", "d")
SOON_S = 60.0


def call(function: str, **arguments: object) -> Action:
    return Action(ActionKind.CALL, function=function, kwargs=tuple(arguments.items()))


def write(path: str, text: str) -> Action:
    return call("write_file", path=path, text=text)


def four_files(max_steps: int = 30) -> Task:
    return Task(
        id="test/four-files-v1",
        instruction="1. Write a. 2. Write b. 3. Write c. 4. Write d.",
        difficulty=Difficulty.HARD,
        success=AllOf(of=tuple(FileEquals(path=f"{name}.txt", text=name) for name in NAMES)),
        setup=(WriteFile(path="old.txt", text="there before"),),
        max_steps=max_steps,
    )


Turns = Iterator[Action | Decision]


class Programmed(Agent):
    """Acts as a generator says, which is told the instruction and can look at the last observation."""

    def __init__(self, program: Callable[[Programmed], Turns]) -> None:
        self._program = program
        self.instruction = ""
        self.observation: Observation | None = None
        self._turns: Turns = iter(())

    def begin(self, task: TaskView) -> None:
        self.instruction = task.instruction
        self._turns = self._program(self)

    def act(self, observation: Observation) -> Action | Decision:
        self.observation = observation
        return next(self._turns)

    @property
    def wanted(self) -> str:
        """The name of the file that it is to write."""
        return self.instruction.split("Write ")[1][0]


def writes(agent: Programmed) -> Turns:
    yield write(f"{agent.wanted}.txt", agent.wanted)
    yield Action.done()


class Opened:
    """The desktops that a team opened."""

    def __init__(self) -> None:
        self.desktops: list[FakeDesktop] = []

    def make(self, config: DesktopConfig) -> Desktop:
        self.desktops.append(FakeDesktop(config))
        return self.desktops[-1]


@pytest.fixture
def opened() -> Opened:
    return Opened()


def team_of(
    opened: Opened,
    program: Callable[[Programmed], Turns] = writes,
    reviewer: Agent | None = None,
    **more: object,
) -> TeamAgent:
    members: dict[str, object] = {
        "writer": {"agent": "noop", "commands": True, "turn_s": more.pop("turn_s", 45.0)}
    }
    makers: dict[str, Callable[[], Agent]] = {"writer": lambda: Programmed(program)}
    if reviewer is not None:
        members["reviewer"] = {"agent": "noop"}
        makers["reviewer"] = lambda: reviewer
        more["reviewer"] = "reviewer"
    settings = TeamSettings.build(members=members, desktops=4, **more)
    return make_team(settings, makers, opened.make)


def play(
    team: TeamAgent, task: Task | None = None, desktop: FakeDesktop | None = None, *, close: bool = True
) -> tuple[EpisodeResult, list[Step]]:
    recorder = StepRecorder()
    here = desktop or FakeDesktop()
    result = run_episode(
        team, environment_for(here, team), task or four_files(), recorder, Limits(act_s=SOON_S + 20)
    )
    if close:
        team.close()
    return result, recorder.steps


def test_four_members_think_at_the_same_time_and_their_files_are_joined(opened: Opened) -> None:
    meeting = threading.Barrier(4)

    def meets(agent: Programmed) -> Turns:
        meeting.wait(SOON_S)  # passes only if all four are asked at once
        yield from writes(agent)

    desktop = FakeDesktop()
    result, steps = play(team_of(opened, meets), desktop=desktop)
    assert result.outcome is Outcome.SUCCESS, result.why
    assert result.steps == 5  # one for each part, and the coordinator's
    assert {step.actor for step in steps} == {"writer", "coordinator"}
    acted = [step for step in steps if step.action is not None and step.action.kind is ActionKind.CALL]
    assert sorted(str(step.info["desktop"]) for step in acted) == [f"desktop-{n}" for n in (1, 2, 3, 4)]
    assert steps[-2].record["joined"] == ["a.txt", "b.txt", "c.txt", "d.txt"]
    assert "desktop" not in steps[-1].info
    assert not desktop.files.exists("Shared")  # nothing was put there but messages
    assert len(opened.desktops) == 4
    assert all(one.closed for one in opened.desktops)


def test_a_part_sees_what_was_there_and_takes_away_what_it_removes(opened: Opened) -> None:
    def moves(agent: Programmed) -> Turns:
        if agent.wanted == "a":
            yield call("run", command="mv old.txt kept.txt")
            yield call("run", command="mkdir empty")
        yield from writes(agent)

    desktop = FakeDesktop()
    result, _ = play(team_of(opened, moves), desktop=desktop)
    assert result.success
    assert not desktop.files.exists("old.txt")
    assert desktop.files.read_text("kept.txt") == "there before"
    assert desktop.files.is_dir("empty")


def test_two_parts_that_changed_one_file_differently_are_not_mixed(opened: Opened) -> None:
    def all_in_one(agent: Programmed) -> Turns:
        yield call("run", command="cat old.txt")
        assert agent.observation is not None
        before = agent.observation.results[0].text.splitlines()[-1]
        yield write("old.txt", f"{before}+{agent.wanted}")
        yield from writes(agent)

    desktop = FakeDesktop()
    result, steps = play(team_of(opened, all_in_one), desktop=desktop)
    assert result.success, result.why
    (joined,) = [step.record for step in steps if "joined" in step.record]
    assert len(joined["again"]) == 3  # they are done in turn, on the episode's desktop
    assert sorted(desktop.files.read_text("old.txt").split("+")) == ["a", "b", "c", "d", "there before"]


def test_members_share_a_folder_and_messages(opened: Opened) -> None:
    instructions: list[str] = []

    def relays(agent: Programmed) -> Turns:
        """Each passes on what the one before it put into the shared folder; a begins."""
        instructions.append(agent.instruction)
        before = chr(ord(agent.wanted) - 1)
        text = ""
        while agent.wanted != "a":
            yield call("run", command=f"test -f Shared/{before}")
            assert agent.observation is not None
            if agent.observation.results[0].text.startswith("exit code 0"):
                yield call("read_file", path=f"Shared/{before}")
                text = agent.observation.results[0].text
                break
        yield write(f"Shared/{agent.wanted}", text + agent.wanted)
        yield write(f"{agent.wanted}.txt", agent.wanted)
        yield Action(ActionKind.ANSWER, text=f"{agent.wanted} is there")

    desktop = FakeDesktop()
    result, _ = play(team_of(opened, relays), four_files(max_steps=10_000), desktop)
    assert result.outcome is Outcome.SUCCESS, result.why
    assert desktop.files.read_text("Shared/d") == "abcd"
    assert not desktop.files.exists("Shared/messages.txt")
    assert all("Shared" in instruction for instruction in instructions)


def test_a_part_that_comes_then_finds_what_was_joined(opened: Opened) -> None:
    def counts(agent: Programmed) -> Turns:
        if "count" not in agent.instruction:
            yield from writes(agent)
            return
        yield call("run", command="ls")
        assert agent.observation is not None
        yield Action(ActionKind.ANSWER, text=agent.observation.results[0].text)

    parts = [*({"instruction": f"Write {name}"} for name in NAMES), {"instruction": "count", "alone": True}]
    result, steps = play(team_of(opened, counts, parts=parts))
    assert result.success
    assert "a.txt\nb.txt\nc.txt\nd.txt\nold.txt" in (steps[-1].action or Action.done()).text
    assert "desktop" not in steps[-2].info
    assert len(opened.desktops) == 4


class Judge(Agent):
    """Rejects what these words are in, once."""

    def __init__(self, *words: str) -> None:
        self._left = list(words)

    def act(self, observation: Observation) -> Action:
        found = next((word for word in self._left if word in observation.instruction), None)
        if found is None:
            return Action(ActionKind.ANSWER, text="accept")
        self._left.remove(found)
        return Action(ActionKind.ANSWER, text="reject: look again")


def test_a_part_that_is_sent_back_is_done_again_on_its_desktop(opened: Opened) -> None:
    result, steps = play(team_of(opened, reviewer=Judge("Write c")))
    assert result.success
    verdicts = [step for step in steps if "accepted" in step.record]
    assert len(verdicts) == 5
    sent_back = next(step for step in verdicts if not step.record["accepted"])
    assert sent_back.actor == "reviewer"
    assert sent_back.info["desktop"].startswith("desktop-")


def test_the_whole_is_reviewed_and_finished_on_the_episodes_desktop(opened: Opened) -> None:
    def forgets(agent: Programmed) -> Turns:
        if agent.instruction.startswith("1."):  # the whole task
            yield write("d.txt", "d")
        elif agent.wanted != "d":
            yield write(f"{agent.wanted}.txt", agent.wanted)
        yield Action.done()

    result, steps = play(team_of(opened, forgets, reviewer=Judge("1. Write a"), review="whole"))
    assert result.outcome is Outcome.SUCCESS, result.why
    verdicts = [step.record["accepted"] for step in steps if "accepted" in step.record]
    assert verdicts == [False, True]


def test_a_member_that_hangs_or_fails_on_its_desktop_ends_in_failure(opened: Opened) -> None:
    never = threading.Event()

    def one_hangs(agent: Programmed) -> Turns:
        if agent.wanted == "b":
            never.wait(SOON_S)
        yield from writes(agent)

    try:
        result, steps = play(team_of(opened, one_hangs, turn_s=0.5, rounds=2))
    finally:
        never.set()
    assert result.outcome is Outcome.FAILURE
    assert not result.agent_lost
    assert "hangs" in (steps[-1].action or Action.done()).text
    assert all(one.closed for one in opened.desktops)


def test_all_desktops_share_the_steps_of_the_episode_and_another_can_follow(opened: Opened) -> None:
    def slow(agent: Programmed) -> Turns:
        for _ in range(3):
            yield Action.wait()
        yield from writes(agent)

    team = team_of(opened, slow)
    result, steps = play(team, four_files(max_steps=6), close=False)
    assert (result.outcome, result.steps) == (Outcome.TRUNCATED, 6)
    assert len([step for step in steps if not step.looked]) == 6
    again, _ = play(team)
    assert again.outcome is Outcome.SUCCESS, again.why
    assert len(opened.desktops) == 4


def test_a_desktop_that_dies_under_a_part_is_the_machines_failure(opened: Opened) -> None:
    def breaks(agent: Programmed) -> Turns:
        if agent.wanted == "b":
            for one in opened.desktops:
                one.break_with(DesktopDied("it is gone"))
        yield from writes(agent)

    result, _ = play(team_of(opened, breaks))
    assert result.outcome is Outcome.INFRA_ERROR


def test_the_episode_on_disk_has_what_was_seen_on_each_desktop(opened: Opened, tmp_path: Path) -> None:
    team = team_of(opened)
    writer = EpisodeWriter(tmp_path / "episode", {"agent": "team", "observation_type": "screenshot"})
    result = run_episode(team, environment_for(FakeDesktop(), team), four_files(), writer)
    team.close()
    assert result.success
    episode = read_episode(tmp_path / "episode")
    assert len({step.info.get("desktop") for step in episode.steps}) == 5
    assert len(list(episode.observations())) == len(episode.steps) + 1
    for step in episode.steps:
        before = episode.seen_before(step.number)
        assert before < step.number or step.response.startswith("hands out")
        assert before == 0 or episode.steps[before - 1].desktop == step.desktop
    assert {step.who for step in episode.steps} >= {"writer on desktop-1", "coordinator"}


def test_a_member_without_commands_may_not_call(opened: Opened) -> None:
    members = {"operator": {"agent": "noop"}, "programmer": {"agent": "noop", "commands": True}}
    parts = [{"instruction": "Write a", "member": "operator"}]
    settings = TeamSettings.build(members=members, parts=parts, rounds=1)
    made = {name: lambda: Programmed(lambda agent: iter([write("a.txt", "a")])) for name in members}
    result, steps = play(make_team(settings, made))
    assert result.outcome is Outcome.FAILURE
    assert "may not call" in str(steps[0].invalid)
