"""The agent in front of a vendor's API: shows the screen, asks, and turns a reply into a turn of actions.

A reply that can't be read is a recorded invalid step. A server that does not answer is a ``ModelServerError``,
which is never the agent's failure. What the vendor wants to hear and how is the adapter's business (``base``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from operant.agents.base import Agent, Decision, TaskView, Usage
from operant.agents.hosted.base import NOT_EXECUTED, CallResult, Dialogue, ModelCall, ModelReply, Seen
from operant.agents.hosted.pictures import picture_of
from operant.agents.hosted.requests import Failure, ask
from operant.agents.hosted.widgets import marked, widget_lines, widgets_in_sight
from operant.calls.catalog import function_lines
from operant.calls.declaration import Function
from operant.config.hosted import HostedSettings
from operant.config.prices import Prices
from operant.types import Action, ActionKind, ActionResult, Observation, Size

__all__ = ["HostedAgent"]

STILL_MS = 300
MOST_ACTIONS = 100  # of one turn
MOST_CHECK_CHARS = 300
PREFLIGHT_S = 20.0
INFEASIBLE = "[INFEASIBLE]"
ANSWER = "ANSWER:"
HOLDS_KEY = "an action must not hold the key of the API"
EMPTY = "Your reply was empty. Use the tool, or say in plain text that the task is done."


class HostedAgent(Agent):
    """Plays episodes with a model behind an API."""

    still_ms = STILL_MS

    def __init__(self, settings: HostedSettings, dialogue: Dialogue, prices: Prices | None = None) -> None:
        self.settings = settings
        self.prices = prices
        self.unpriced = "" if prices is not None else self._where
        self.observation_type = dialogue.observation
        told = settings.model_dump_json(exclude={"timeout_s", "max_retries", "prices", "base_url"})
        self.fingerprint = told
        self._dialogue = dialogue
        if not dialogue.calls_by:
            self.cannot_call = f"the dialect {settings.dialect} has no words for a call"
        self._task: TaskView | None = None
        self._calls: tuple[ModelCall, ...] | None = None
        self._begun = False
        self._offered: tuple[Function, ...] = ()

    def preflight(self) -> None:
        try:
            ask(self._dialogue.look_up, timeout_s=PREFLIGHT_S, retries=1)
        except Failure as failure:
            raise failure.typed(self._where, self._scrub) from failure

    def begin(self, task: TaskView) -> None:
        self._task, self._calls, self._begun = task, None, False
        self._offered = ()

    def act(self, observation: Observation) -> Decision:
        height, width = observation.screen.shape[:2]
        screen = Size(width, height)
        if self._task is None:
            self.begin(TaskView(observation.instruction, observation.max_steps, screen))
        shown = self._dialogue.limits.fit(screen)
        seen = self._with_functions(self._look(observation, screen, shown), observation)
        self._tell(observation, shown, seen)
        reply, requests = self._ask()
        return self._decide(reply, self._priced(replace(reply.usage, requests=requests)))

    @property
    def converses(self) -> bool:
        """Whether it answers plain text."""
        return self._dialogue.converses

    def converse(self, system: str, turns: Sequence[str]) -> tuple[ModelReply, Usage]:
        """What the model says to plain text, and what that used; no episode is played."""
        try:
            reply, requests = ask(
                lambda timeout_s: self._dialogue.converse(system, turns, timeout_s),
                timeout_s=self.settings.timeout_s,
                retries=self.settings.max_retries,
                mend=self._dialogue.mend,
            )
        except Failure as failure:
            raise failure.typed(self._where, self._scrub) from failure
        return reply, self._priced(replace(reply.usage, requests=requests))

    def close(self) -> None:
        self._dialogue.close()

    # What the model is told.

    def _look(self, observation: Observation, screen: Size, shown: Size) -> Seen:
        how = self._dialogue.observation
        if how == "screenshot":
            return Seen(picture_of(observation.screen, shown), windows=observation.windows)
        with_marks, most = how == "som", self.settings.max_widgets
        widgets = widgets_in_sight(observation.tree, screen)
        if with_marks:
            widgets = marked(widgets)[:most]
        marks = [widget.box for widget in widgets] if with_marks else []
        lines = widget_lines(
            widgets, screen, lambda point: self._dialogue.locate(point, shown), most=most, numbered=with_marks
        )
        picture = None if how == "a11y_tree" else picture_of(observation.screen, shown, marks)
        return Seen(picture, lines, observation.windows)

    def _with_functions(self, seen: Seen, observation: Observation) -> Seen:
        """What the model is shown. It gets the functions that it may call now as tools, or told with the screen."""
        task, way = self._task, self._dialogue.calls_by
        if task is None or task.actions == "gui" or not way:
            self._dialogue.offer((), hands=True)
            return seen
        offered = task.offer.functions(observation.windows)
        if way == "words":
            return replace(seen, text=f"{seen.text}\n{function_lines(offered)}".strip())
        self._offered = _grown(self._offered, offered, self._dialogue.most_functions)
        self._dialogue.offer(self._offered, hands=task.actions != "api")
        return seen

    def _tell(self, observation: Observation, shown: Size, seen: Seen) -> None:
        if not self._begun:
            self._dialogue.begin(observation.instruction, shown, seen)
            self._begun = True
        elif self._calls:
            self._dialogue.answer(_results(self._calls, observation), seen)
        else:
            self._dialogue.remark(observation.error or EMPTY, seen)

    def _ask(self) -> tuple[ModelReply, int]:
        try:
            return ask(
                self._dialogue.send,
                timeout_s=self.settings.timeout_s,
                retries=self.settings.max_retries,
                mend=self._dialogue.mend,
            )
        except Failure as failure:
            raise failure.typed(self._where, self._scrub) from failure

    def _priced(self, usage: Usage) -> Usage:
        if self.prices is None:
            return usage
        cost = self.prices.cost(
            input_tokens=usage.input_tokens,
            cached_tokens=usage.cached_tokens,
            written_tokens=usage.written_tokens,
            output_tokens=usage.output_tokens,
        )
        return replace(usage, cost=cost)

    @property
    def _where(self) -> str:
        return f"{self.settings.vendor}:{self.settings.model}"

    def _scrub(self, text: str) -> str:
        """The text without the key, which a server may repeat."""
        return text.replace(self._dialogue.key, "•••") if self._dialogue.key else text

    # What it said.

    def _decide(self, reply: ModelReply, usage: Usage) -> Decision:
        self._calls = reply.calls or None
        text = self._scrub(reply.text)
        record = {"calls": [self._scrub(call.name) for call in reply.calls]} if reply.calls else {}
        checks = tuple(self._scrub(check)[:MOST_CHECK_CHARS] for check in reply.checks)
        if checks:
            record["safety_checks"] = list(checks)
        said = Decision(response=text, record=record, usage=usage, checks=checks)
        if reply.end:
            return replace(said, end=reply.end, error=f"the model's reply ended with: {reply.end}")
        if not reply.calls:
            return replace(said, actions=(_end(text),)) if text.strip() else replace(said, error=EMPTY)
        actions: list[Action] = []
        for call in reply.calls:
            if call.error:
                break
            actions += call.actions
        if not actions:
            return replace(said, error=self._scrub(reply.calls[0].error) or "the reply holds no action")
        if self._dialogue.key and any(self._dialogue.key in repr(action) for action in actions):
            # An action is recorded as it is, so one with the key in it is not performed.
            self._calls = tuple(replace(call, actions=(), error=HOLDS_KEY) for call in reply.calls)
            return replace(said, error=HOLDS_KEY)
        return replace(said, actions=tuple(actions[:MOST_ACTIONS]))


def _grown(before: tuple[Function, ...], now: tuple[Function, ...], most: int) -> tuple[Function, ...]:
    """The functions offered so far with the new ones at the end.

    Tools stand before everything else in a prompt: a list that changed with every focus would cost the vendor's cache
    each time. One that grows costs it once for each application.
    """
    grown = {one.full_name: one for one in (*before, *now)}
    return tuple(grown.values()) if len(grown) <= most else now[:most]


def _end(text: str) -> Action:
    """The end of a task in plain text: infeasible, an answer in its own line, or all of it as the answer."""
    if INFEASIBLE in text:
        return Action.fail(text.replace(INFEASIBLE, "").strip())
    for line in reversed(text.splitlines()):
        if line.strip().startswith(ANSWER) and (answer := line.strip().removeprefix(ANSWER).strip()):
            return Action(ActionKind.ANSWER, text=answer)
    return Action(ActionKind.ANSWER, text=text.strip())


def _results(calls: tuple[ModelCall, ...], observation: Observation) -> list[CallResult]:
    """What became of each call: the results of its own actions; after a failure the rest was not tried."""
    left = list(observation.results)
    told: list[CallResult] = []
    failed = False
    for call in calls:
        own, left = left[: len(call.actions)], left[len(call.actions) :]
        error = _error(call, own, observation, failed)
        failed = failed or bool(error)
        tried = [one for one in own if not one.skipped]
        told.append(CallResult(call, error, tried[-1] if tried else None))
    return told


def _error(call: ModelCall, own: list[ActionResult], observation: Observation, failed: bool) -> str:
    if failed or (own and own[0].skipped):
        return NOT_EXECUTED
    if call.error:
        return call.error
    if len(own) < len(call.actions):
        return observation.error or f"not performed: a turn may hold {MOST_ACTIONS} actions"
    return next((one.error for one in own if one.error), "")
