"""One part under way: a member works, says that it is done, the reviewer looks; again, until it counts or rounds end.

Each call of ``turn`` is one turn of one member, so that every turn has its own time limit and its own recorded step. A
turn that does nothing on the screen (a claim, a verdict) is a look, which spends no step. Knows nothing of plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from operant.agents.base import Decision, TaskView
from operant.agents.team.member import Member, MemberFailed
from operant.agents.team.planning import Part
from operant.agents.team.review import LOOKS, Review, read_review, review_question
from operant.envs.commands import explanation
from operant.types import Action, ActionKind, Observation, Size

__all__ = ["LOOK", "Message", "PartWork", "view_of"]

LOOK = Action(ActionKind.SCREENSHOT)


@dataclass(frozen=True, slots=True)
class Message:
    """What a member told the others."""

    sender: str
    text: str


class _State(Enum):
    BEGIN = "a round begins"
    WORK = "a member works"
    REVIEW = "the reviewer looks"
    OVER = "accepted or failed"


class PartWork:
    """``workers`` are asked in turn, one a round; the last one also in the rounds that are left.

    ``note`` is told to members that take notes. ``calls`` says that calls would be performed, so those of members that
    may not call are refused. ``done_already`` begins with the review.
    """

    def __init__(
        self,
        part: Part,
        workers: Sequence[Member],
        reviewer: Member | None,
        *,
        rounds: int,
        looks: int,
        seed: int,
        messages: list[Message],
        note: str = "",
        calls: bool = False,
        done_already: bool = False,
    ) -> None:
        self.part = part
        self.accepted: bool | None = None
        """None while it is under way."""
        self.why = ""
        """Why it failed."""
        self.answer = ""
        """What the member answered."""
        self._workers = workers
        self._reviewer = reviewer
        self._rounds = rounds
        self._looks = looks
        self._seed = seed
        self._messages = messages
        self._note = note
        self._calls = calls
        self._state = _State.REVIEW if done_already else _State.BEGIN
        self._round = 0
        self._first_step: int | None = None
        self._round_step = self._round_history = 0
        self._fresh = True
        self._instruction = part.instruction
        self._claim: Action | None = None
        self._looked = 0

    def turn(self, observation: Observation) -> Decision:
        """The next turn of the member that is on."""
        if self._first_step is None:
            self._first_step = observation.step
        if self._claim is not None:
            claim, self._claim = self._claim, None
            if not any(result.error for result in observation.results):
                self._take(claim)
                if self.accepted is not None or self._state is _State.BEGIN:
                    return _look(self._worker, f"says {claim.kind.value}", {"part": self.part.instruction})
        if self._state is _State.REVIEW:
            return self._review(observation)
        return self._work(observation)

    # The member's turn.

    @property
    def _worker(self) -> Member:
        return self._workers[min(self._round, len(self._workers) - 1)]

    def _work(self, observation: Observation) -> Decision:
        worker = self._worker
        if self._left(observation) <= 0:
            self._fail(f"the part's {self.part.steps} steps are spent")
            return _look(worker, self.why, {"failed": self.why})
        try:
            if self._state is _State.BEGIN:
                self._begin(worker, observation)
            decision = worker.act(self._seen(observation))
        except MemberFailed as failure:
            self._lose(str(failure))
            return _look(worker, str(failure), {"failed": str(failure)})
        self._fresh = False
        if decision.end:
            self._lose(f"{worker.name} ended: {decision.error or decision.end}")
            return replace(decision, actions=(LOOK,), end="", error="", actor=worker.name)
        forbidden = self._calls and not worker.settings.commands
        if forbidden and any(_is_call(action) for action in decision.actions):
            why = f"{worker.name} may not call functions: use pointer and keyboard"
            return replace(decision, actions=(), error=why, actor=worker.name)
        for index, action in enumerate(decision.actions):
            if isinstance(action, Action) and action.kind.terminal:
                return self._with_claim(worker, decision, index, action)
        return replace(decision, actor=worker.name)

    def _with_claim(self, worker: Member, decision: Decision, index: int, claim: Action) -> Decision:
        """A turn that ends the member's work; what comes before the end is performed first."""
        if index:
            self._claim = claim
            return replace(decision, actions=decision.actions[:index], actor=worker.name)
        self._take(claim)
        record = {**decision.record, "part": self.part.instruction, "says": claim.kind.value}
        said = decision.response or claim.text or claim.kind.value
        return replace(decision, actions=(LOOK,), response=said, record=record, actor=worker.name)

    def _begin(self, worker: Member, observation: Observation) -> None:
        self._state, self._fresh = _State.WORK, True
        self._round_step, self._round_history = observation.step, len(observation.history)
        notes = "".join(f"\n- {one.sender}: {one.text}" for one in self._messages)
        told = [f"From the team:{notes}"] if notes and worker.settings.notes else []
        told += [self._note] if self._note and worker.settings.notes else []
        told += [explanation()] if worker.settings.commands else []
        self._instruction = "\n".join([self.part.instruction, *told])
        worker.begin(
            view_of(observation, self._instruction, self._left(observation), self._seed + self._round)
        )

    def _left(self, observation: Observation) -> int:
        left = observation.max_steps - observation.step
        used = observation.step - (self._first_step or 0)
        return left if self.part.steps is None else min(left, self.part.steps - used)

    def _seen(self, observation: Observation) -> Observation:
        """The member's own view: its instruction, and what was done in this round."""
        history = observation.history[self._round_history :]
        return replace(
            observation,
            instruction=self._instruction,
            step=observation.step - self._round_step,
            max_steps=observation.step - self._round_step + self._left(observation),
            history=history,
            last_action=history[-1].action if history else None,
            results=() if self._fresh else observation.results,
            error=None if self._fresh else observation.error,
        )

    def _take(self, claim: Action) -> None:
        """The member says that it has ended."""
        if claim.kind in (ActionKind.FAIL, ActionKind.ASK):
            self._lose(f"{self._worker.name} gave up: {claim.text or 'without a reason'}")
            return
        self.answer = claim.text
        if self._reviewer is None:
            self._accept()
        else:
            self._state, self._looked = _State.REVIEW, 0

    # The reviewer's turn.

    def _review(self, observation: Observation) -> Decision:
        reviewer = self._reviewer
        assert reviewer is not None
        question = review_question(self.part.instruction, self.answer)
        left = max(1, observation.max_steps - observation.step)
        try:
            if self._looked == 0:
                reviewer.begin(view_of(observation, question, left, self._seed))
            self._looked += 1
            decision = reviewer.act(replace(observation, instruction=question, error=None))
        except MemberFailed as failure:
            self._send_back(reviewer, Review(False, str(failure)))
            return _look(reviewer, str(failure), {"failed": str(failure)})
        review = read_review(decision)
        if review is None and self._looked >= self._looks:
            review = Review(False, f"no verdict in {self._looked} turns")
        if review is None:
            looks = tuple(one for one in decision.actions if isinstance(one, Action) and one.kind in LOOKS)
            return replace(decision, actions=looks[:1] or (LOOK,), end="", actor=reviewer.name)
        if review.accepted:
            self._accept()
        else:
            self._send_back(reviewer, review)
        record = {**decision.record, "accepted": review.accepted, "reason": review.reason}
        return replace(decision, actions=(LOOK,), end="", error="", record=record, actor=reviewer.name)

    # Ends.

    def _accept(self) -> None:
        self.accepted, self._state = True, _State.OVER
        if self.answer:
            self._messages.append(Message(self._worker.name, self.answer))

    def _send_back(self, reviewer: Member, review: Review) -> None:
        self._messages.append(Message(reviewer.name, review.reason or "this was not done"))
        self._lose(f"{reviewer.name} did not accept it: {review.reason or 'no reason given'}")

    def _lose(self, why: str) -> None:
        self._round += 1
        self._state = _State.BEGIN
        if self._round >= self._rounds:
            self._fail(f"{why} (round {self._round} of {self._rounds})")

    def _fail(self, why: str) -> None:
        self.accepted, self.why, self._state = False, why, _State.OVER


def view_of(observation: Observation, instruction: str, max_steps: int, seed: int) -> TaskView:
    height, width = observation.screen.shape[:2]
    return TaskView(instruction, max_steps, Size(width, height), seed)


def _is_call(action: object) -> bool:
    return isinstance(action, Action) and action.kind is ActionKind.CALL


def _look(member: Member, said: str, record: dict[str, object]) -> Decision:
    return Decision((LOOK,), response=said, record=record, actor=member.name)
