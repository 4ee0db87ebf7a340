"""The coordinator: an agent that hands the parts of a task to members, one after another on one desktop.

It is an ``Agent``, so every loop, evaluation and service plays it, and each recorded step says who acted. All members
share the episode's steps. A member that fails, hangs or claims too much costs a round of its part; when the rounds of
a part are spent, the team declares failure. Knows nothing of files: see ``loading``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from operant.agents.base import Agent, Decision, PrivilegedAgent, TaskView
from operant.agents.team.member import Member, MemberFailed
from operant.agents.team.planning import Part, fixed_plan, planner_question, read_plan
from operant.agents.team.review import LOOKS
from operant.agents.team.work import LOOK, Message, PartWork, view_of
from operant.config.team import TeamSettings
from operant.types import Action, ActionKind, Observation

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.tasks.task import Task

__all__ = ["PrivilegedTeam", "TeamAgent"]

COORDINATOR = "coordinator"


class TeamAgent(Agent):
    """A team on one desktop. ``members`` has one for each name of the settings."""

    def __init__(self, settings: TeamSettings, members: Mapping[str, Member], fingerprint: str = "") -> None:
        self.settings = settings
        self.members = members
        self.fingerprint = fingerprint
        agents = [member.agent for member in members.values()]
        widgets = any(agent.sees_widgets for agent in agents)
        self.observation_type = "screenshot_a11y_tree" if widgets else "screenshot"
        self.still_ms = max(agent.still_ms for agent in agents)
        self.unpriced = ", ".join(dict.fromkeys(agent.unpriced for agent in agents if agent.unpriced))
        self._forget(0)

    def begin(self, task: TaskView) -> None:
        self._forget(task.seed)

    def _forget(self, seed: int) -> None:
        self.parts: list[Part] | None = None
        """The plan; None before there is one."""
        self.messages: list[Message] = []
        """What members told each other so far."""
        self._seed = seed
        self._index = 0
        self._work: PartWork | None = None
        self._planning = 0
        self._new_plan = False

    def act(self, observation: Observation) -> Decision:
        if self.parts is None:
            self.parts = fixed_plan(observation.instruction, self.settings)
            self._new_plan = self.parts is not None
        if self.parts is None:
            return self._plan(observation)
        if self._work is not None and self._work.accepted is not None:
            if not self._work.accepted:
                why = f"part {self._index + 1} of {len(self.parts)} failed: {self._work.why}"
                return Decision((Action.fail(why),), response=why, actor=COORDINATOR)
            self._index += 1
            if self._index == len(self.parts):
                return self._finish(self._work.answer)
            self._work = None
        if self._work is None:
            self._work = self._hand_out(self.parts[self._index])
        decision = self._work.turn(observation)
        if self._new_plan:
            self._new_plan = False
            decision = replace(decision, record={**decision.record, "plan": _told(self.parts)})
        return decision

    def close(self) -> None:
        for member in self.members.values():
            member.close()

    def _plan(self, observation: Observation) -> Decision:
        """A turn of the planner. One that fails or says nothing of use leaves the task whole."""
        planner = self.members[self.settings.planner]
        question = planner_question(observation.instruction, self.settings.workers)
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
        self.parts = read_plan(answer, observation.instruction, self.settings)
        record = {**decision.record, "plan": _told(self.parts)}
        said = decision.response or answer
        return replace(
            decision, actions=(LOOK,), response=said, end="", error="", record=record, actor=planner.name
        )

    def _hand_out(self, part: Part) -> PartWork:
        chain = [part.member]
        while (deputy := self.members[chain[-1]].settings.deputy) is not None and deputy not in chain:
            chain.append(deputy)
        return PartWork(
            part,
            [self.members[name] for name in chain],
            None if self.settings.reviewer is None else self.members[self.settings.reviewer],
            rounds=self.settings.rounds,
            looks=self.settings.looks,
            seed=self._seed,
            messages=self.messages,
        )

    @staticmethod
    def _finish(answer: str) -> Decision:
        last = Action(ActionKind.ANSWER, text=answer) if answer else Action.done()
        return Decision((last,), actor=COORDINATOR)


class PrivilegedTeam(TeamAgent, PrivilegedAgent):
    """A team with a member that sees behind the screen. Its results say so."""

    def attach(self, desktop: Desktop, task: Task) -> None:
        for member in self.members.values():
            member.attach(desktop, task)


def _told(parts: list[Part]) -> list[dict[str, str]]:
    return [{"member": part.member, "instruction": part.instruction} for part in parts]
