"""What a server offers its clients: which desktops, which tasks, and whether episodes are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from operant.config.desktop import DesktopConfig, Profile
from operant.desktop.protocol import Desktop
from operant.desktop.sandbox import SandboxDesktop
from operant.service.attempts.free import free_task
from operant.tasks.suites import select
from operant.tasks.task import Task
from operant.tasks.template import Template

__all__ = ["Offer"]

FREE_STEPS = 1_000_000  # a session without a task has no cap of its own


@dataclass(frozen=True)
class Offer:
    """The same for every client of one server."""

    desktop: DesktopConfig = field(default_factory=lambda: DesktopConfig(profile="full"))
    templates: tuple[Template, ...] = ()
    """Tasks that a client may begin."""
    suite: str = ""
    task: Task | None = None
    """The task that begins with the session."""
    profile: Profile | None = None
    """In place of what each task says."""
    record: Path | None = None
    """Where episodes are kept; None keeps none."""
    factory: Callable[[DesktopConfig], Desktop] = SandboxDesktop

    def first_task(self) -> Task:
        """What a session begins with: its task, or a desktop to do anything on."""
        if self.task is not None:
            return self._placed(self.task)
        return free_task("Use the desktop.", FREE_STEPS, profile=self.desktop.profile)

    def task_of(self, id: str, seed: int = 0, split: str = "train") -> Task:
        """An instance of a task that is offered; ``TaskError`` names the nearest one."""
        (template,) = select(self.templates, [id], self.suite)
        return self._placed(template.instance(seed, split))

    @property
    def has_tasks(self) -> bool:
        return self.task is not None or bool(self.templates)

    def _placed(self, task: Task) -> Task:
        return task if self.profile is None else replace(task, profile=self.profile)
