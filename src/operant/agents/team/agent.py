"""The coordinator: an agent that hands the parts of a task to members, in turn or at the same time.

It is an ``Agent``, so every loop, evaluation and service plays it, and each recorded step says who acted. All members
share the episode's steps. A member that fails, hangs or claims too much costs a round of its part; when the rounds of
a part are spent, the team declares failure. Knows nothing of files: see ``loading``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from operant.agents.base import AttachedAgent, Decision, PrivilegedAgent, TaskView
from operant.agents.team.desks import Desks
from operant.agents.team.files import FileChanges, SharedFolder
from operant.agents.team.lane import Lane
from operant.agents.team.member import Crew, Member, MemberFailed
from operant.agents.team.planning import Part, fixed_plan, in_stages, planner_question, read_plan
from operant.agents.team.review import LOOKS
from operant.agents.team.together import Together
from operant.agents.team.work import LOOK, Message, PartWork, view_of
from operant.config.team import TeamSettings
from operant.desktop.protocol import Capability, require
from operant.errors import AgentError
from operant.types import Action, ActionKind, Observation

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.envs.task_environment import TaskEnvironment
    from operant.tasks.task import Task

__all__ = ["PrivilegedTeam", "TeamAgent"]

COORDINATOR = "coordinator"


class TeamAgent(AttachedAgent):
    """A team. ``crew`` has a member for each name of the settings; ``desks`` are for parts that are done at once."""

    def __init__(self, settings: TeamSettings, crew: Crew, desks: Desks, fingerprint: str = "") -> None:
        self.settings = settings
        self.members = crew
        self.fingerprint = fingerprint
        agents = [member.agent for member in crew.values()]
        widgets = any(agent.sees_widgets for agent in agents)
        self.observation_type = "screenshot_a11y_tree" if widgets else "screenshot"
        self.still_ms = max(agent.still_ms for agent in agents)
        self.unpriced = ", ".join(dict.fromkeys(agent.unpriced for agent in agents if agent.unpriced))
        self.runs_commands = any(member.settings.commands for member in crew.values())
        self._desks = desks
        self._desktop: Desktop | None = None
        self._task: Task | None = None
        self._together: Together | None = None
        self._forget(0)

    def preflight(self) -> None:
        for member in self.members.values():
            member.agent.preflight()

    def attach(self, desktop: Desktop, task: Task) -> None:
        self._desktop, self._task = desktop, task
        if self.settings.desktops > 1:
            self._desks.like(desktop)
            self._desks.warm()  # while the plan is made
        for member in self.members.values():
            member.attach(desktop, task)

    def begin(self, task: TaskView) -> None:
        self._forget(task.seed)

    def environment(self, desktop: str) -> TaskEnvironment:
        found = self._together.lane(desktop).environment if self._together is not None else None
        return super().environment(desktop) if found is None else found

    def close(self) -> None:
        if self._together is not None:
            self._together.leave()
        self.members.close()
        self._desks.close()

    def _forget(self, seed: int) -> None:
        if self._together is not None:
            self._together.leave()
        self.parts: list[Part] | None = None
        """The plan; None before there is one."""
        self.messages: list[Message] = []
        """What members told each other so far."""
        self._seed = seed
        self._stages: list[list[Part]] = []
        self._whole: Part | None = None
        self._work: PartWork | None = None
        self._together = None
        self._shared = SharedFolder(self.settings.shared)
        self._joined = FileChanges()
        self._lanes = 0
        self._answer = ""
        self._planning = 0
        self._new_plan = False

    def act(self, observation: Observation) -> Decision:
        if self.parts is None:
            plan = fixed_plan(observation.instruction, self.settings)
            if plan is None:
                return self._plan(observation)
            self._use_plan(plan, observation.instruction)
        decision = self._turn(observation)
        if self._new_plan and self.parts is not None:
            self._new_plan = False
            decision = replace(decision, record={**decision.record, "plan": _told(self.parts)})
        return decision

    # The plan.

    def _plan(self, observation: Observation) -> Decision:
        """A turn of the planner. One that fails or says nothing of use leaves the task whole."""
        planner = self.members[self.settings.planner]
        question = planner_question(observation.instruction, self.settings)
        try:
            if self._planning == 0:
                planner.begin(view_of(observation, question, observation.max_steps, self._seed))
            self._planning += 1
            decision = planner.act(replace(observation, instruction=question))
        except MemberFailed as failure:
            decision = Decision(response=str(failure), end="failed")
        first = decision.actions[0] if decision.actions else None
        looks = isinstance(first, Action) and first.kind in LOOKS
        if looks and self._planning < self.settings.looks:
            return replace(decision, actions=decision.actions[:1], actor=planner.name)
        answer = ""
        if isinstance(first, Action) and first.kind in (ActionKind.ANSWER, ActionKind.DONE):
            answer = first.text or decision.response
        plan = read_plan(answer, observation.instruction, self.settings)
        self._use_plan(plan, observation.instruction)
        self._new_plan = False
        record = {**decision.record, "plan": _told(plan)}
        said = decision.response or answer
        return replace(
            decision, actions=(LOOK,), response=said, end="", error="", record=record, actor=planner.name
        )

    def _use_plan(self, parts: list[Part], instruction: str) -> None:
        self.parts, self._new_plan = parts, True
        self._stages = in_stages(parts, self.settings.desktops)
        if self.settings.review in ("whole", "both"):
            self._whole = Part(instruction, self.settings.workers[0])

    # The parts.

    def _turn(self, observation: Observation) -> Decision:
        if self._together is not None:
            decision = self._together.turn(observation)
            return decision if decision is not None else self._join(self._together)
        if self._work is not None and self._work.accepted is not None:
            if not self._work.accepted:
                return self._give_up(f"{self._work.part.instruction[:80]!r}: {self._work.why}")
            self._answer = self._work.answer or self._answer
            self._work = None
        if self._work is None:
            if not self._stages:
                if self._whole is None:
                    return self._finish()
                self._work = self._hand_out(self._whole, self.members, done_already=True)
                self._whole = None
            elif len(self._stages[0]) > 1:
                return self._begin_together(self._stages.pop(0), observation)
            else:
                self._work = self._hand_out(self._stages.pop(0)[0], self.members)
        return self._work.turn(observation)

    def _hand_out(
        self,
        part: Part,
        members: Mapping[str, Member],
        *,
        note: str = "",
        done_already: bool = False,
    ) -> PartWork:
        reviewed = done_already or self.settings.review in ("parts", "both")
        reviewer = self.settings.reviewer if reviewed else None
        return PartWork(
            part,
            [members[name] for name in self.members.chain(part.member)],
            None if reviewer is None else members[reviewer],
            rounds=self.settings.rounds,
            looks=self.settings.looks,
            seed=self._seed,
            messages=self.messages,
            note=note,
            calls=self.runs_commands,
            done_already=done_already,
        )

    def _give_up(self, why: str) -> Decision:
        return Decision((Action.fail(why),), response=why, actor=COORDINATOR)

    def _finish(self) -> Decision:
        last = Action(ActionKind.ANSWER, text=self._answer) if self._answer else Action.done()
        return Decision((last,), actor=COORDINATOR)

    # Several desktops.

    def _begin_together(self, parts: list[Part], observation: Observation) -> Decision:
        desktop = self._episode_desktop()
        require(desktop, {Capability.FILES, Capability.COMMANDS}, "a team on several desktops")
        self._shared.exchange(desktop, {})
        at_once = min(self.settings.desktops, len(parts))
        self._together = Together(parts, at_once, self._open_lane, COORDINATOR)
        decision = self._together.turn(observation)
        return decision if decision is not None else self._join(self._together)

    def _open_lane(self, part: Part) -> Lane:
        assert self._task is not None
        self._lanes += 1
        note = (
            "Other parts of the task are done at the same time on other desktops. The folder"
            f" {self.settings.shared} of the home directory is the same on all; its messages.txt says what members said."
        )
        names = self.members.chain(part.member)
        reviewer = self.settings.reviewer
        if reviewer is not None and reviewer not in names:
            names.append(reviewer)
        return Lane(
            f"desktop-{self._lanes}",
            part,
            lambda members: self._hand_out(part, members, note=note),
            names,
            crew=self.members,
            task=self._task,
            desks=self._desks,
            shared=self._shared,
            before=self._joined,
            messages=self.messages,
            shown=self,
        )

    def _join(self, done: Together) -> Decision:
        """Bring what the parts changed to the episode's desktop, and have done in turn what could not be joined."""
        self._together = None
        if done.failed:
            return self._give_up(done.failed)
        changes = done.changes.joined(self._shared.contents())
        try:
            changes.apply(self._episode_desktop())
        except OSError as error:
            return self._give_up(f"the parts could not be joined: {error}")
        self._joined = self._joined.joined(changes)
        self._answer = done.answer or self._answer
        self._stages[:0] = [[part] for part in done.again]
        record = {"joined": changes.paths(), "again": [part.instruction for part in done.again]}
        said = f"joined {len(changes.paths())} files and folders"
        return Decision((LOOK,), response=said, record=record, actor=COORDINATOR)

    def _episode_desktop(self) -> Desktop:
        if self._desktop is None or self._task is None:
            raise AgentError("the team was not attached to a desktop")
        return self._desktop


class PrivilegedTeam(TeamAgent, PrivilegedAgent):
    """A team with a member that sees behind the screen. Its results say so."""


def _told(parts: list[Part]) -> list[dict[str, object]]:
    alone = [{"alone": True} if part.alone else {} for part in parts]
    return [
        {"member": part.member, "instruction": part.instruction, **more}
        for part, more in zip(parts, alone, strict=True)
    ]
