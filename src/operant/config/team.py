"""Settings of a team of agents: who is in it, who plans, who reviews, and what bounds it. One YAML file holds them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Literal

from pydantic import Field, model_validator

from operant.config.base import Config

__all__ = ["MemberSettings", "PartSettings", "TeamSettings"]


class MemberSettings(Config):
    """One member."""

    agent: str
    """Who it is: a name as after ``--agent``, such as hierarchical, oracle, vlm:server.yaml or chat:MODEL."""
    turn_s: float = Field(default=45.0, gt=0)
    """Seconds for one turn. A member that takes longer has lost its round. Keep it below the time that the episode
    gives an agent (``--action-timeout``, 60 s)."""
    notes: bool = True
    """Add what the reviewer and other members said to its instruction; false for agents that only know plain tasks."""
    commands: bool = False
    """Perform its calls of ``run``, ``read_file`` and ``write_file`` inside the desktop: a programmer."""
    deputy: str | None = None
    """The member that takes over its part after a lost round; without one it tries again itself."""


class PartSettings(Config):
    """One part of the task, where the split is fixed."""

    instruction: str = Field(min_length=1)
    """What has to be done; ``{task}`` stands for the task's own instruction."""
    member: str | None = None
    """Who does it; the first member if left out."""
    steps: int | None = Field(default=None, ge=1)
    """Steps that it may take in all; whatever the team has left if left out."""
    alone: bool = False
    """With several desktops: done on the episode's own, when the parts before it are done and joined."""


class TeamSettings(Config):
    """A team."""

    members: dict[str, MemberSettings] = Field(min_length=1)
    """Name -> member. Those that neither plan nor review do parts; the first of them is asked where no other is named."""
    planner: str = "split"
    """Who makes parts of the task: ``split`` (numbered lists, semicolons, "then"), ``whole`` (one part), or a member,
    which is asked for one part a line."""
    parts: tuple[PartSettings, ...] = ()
    """A fixed split; then there is no planner."""
    reviewer: str | None = None
    """The member that looks at each part and accepts it or sends it back; without one, a member's word is taken."""
    review: Literal["parts", "whole", "both"] = "parts"
    """What the reviewer looks at: each part, the whole task at the end, or both."""
    desktops: int = Field(default=1, ge=1, le=16)
    """Parts that are done at once, each on a desktop of its own; with 1, parts are done in turn on the episode's."""
    shared: str = Field(default="Shared", pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", max_length=60)
    """The folder of the home directory that is the same on all desktops."""
    rounds: int = Field(default=2, ge=1, le=10)
    """How often a part is tried until it counts as failed, and the task with it."""
    looks: int = Field(default=3, ge=1, le=10)
    """Turns that the planner and the reviewer have for an answer; they may look or wait in the others."""
    most_parts: int = Field(default=10, ge=1, le=100)
    """Parts of a plan; a plan with more is not used, and the task is one part."""

    @property
    def workers(self) -> list[str]:
        """Members that do parts."""
        return [name for name in self.members if name not in (self.planner, self.reviewer)]

    @model_validator(mode="after")
    def _check(self) -> TeamSettings:
        if not self.workers:
            raise ValueError("the team has no member that does parts")
        if self.planner not in ("split", "whole"):
            self._known("planner", self.planner, self.members, "split", "whole")
        if self.reviewer is not None:
            self._known("reviewer", self.reviewer, self.members)
        if self.reviewer is None and self.review != "parts":
            raise ValueError(f"review: {self.review} needs a reviewer")
        for name, member in self.members.items():
            if member.agent.partition(":")[0] == "team":
                raise ValueError(f"members.{name}: a team can't be a member of a team")
            if member.deputy is not None:
                self._known(f"members.{name}.deputy", member.deputy, self.workers)
        for index, part in enumerate(self.parts):
            if part.member is not None:
                self._known(f"parts.{index}.member", part.member, self.workers)
        return self

    @staticmethod
    def _known(where: str, name: str, known: Iterable[str], *more: str) -> None:
        names = [*known, *more]
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            raise ValueError(f"{where}: there is no member {name!r} for that; {hint}")
