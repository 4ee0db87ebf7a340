"""Tasks that a UI-RL server sets up and judges: a session type and a prompt of one's own.

Their desktops are ``operant.desktop.ui_rl.UiRlDesktop``. What the server says about progress decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from operant.errors import ConfigError, NotSupported, VerifierError
from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.oracle import Oracle
from operant.tasks.setup import SetupStep
from operant.tasks.task import Task
from operant.tasks.template import Params, Template
from operant.types import Difficulty

if TYPE_CHECKING:
    from operant.desktop.protocol import Desktop
    from operant.desktop.ui_rl import UiRlDesktop

__all__ = ["SessionTemplate", "is_done", "session_task"]

MAX_STEPS = 50
Judge = Callable[[Mapping[str, Any]], bool]


def is_done(progress: Mapping[str, Any]) -> bool:
    """Whether a task is done, by what servers say: ours, and UI-RL's own data entry without a wrong submission."""
    done, share = progress.get("done"), progress.get("progress")
    if isinstance(done, bool):
        return done
    if _is_number(share):
        return bool(share >= 1)  # type: ignore[operator]
    wrong = progress.get("num_incorrect_submissions", 0)
    rows, right = progress.get("submitted_row_indices"), progress.get("num_correct_submissions")
    if isinstance(rows, list) or _is_number(right):
        return bool(rows or right) and not wrong
    raise VerifierError(
        f"the server's progress says neither done nor how far: {sorted(progress)[:8]}",
        hint="give session_task a judge= that reads it",
    )


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class BeginSession(SetupStep):
    """Begin a session on the server."""

    session_type: str
    """Its type."""
    seed: int | None = None
    """Decides the instance, where the server knows seeds."""

    def apply(self, desktop: Desktop) -> None:
        _session_desktop(desktop).begin(self.session_type, self.seed)


class SessionProgress(Criterion):
    """The server says that the task is done."""

    judge: Judge = is_done
    """Reads what the server says."""

    def check(self, world: World) -> Verdict:
        progress = _session_desktop(world.desktop).progress()
        try:
            done = bool(self.judge(progress))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise VerifierError(f"the server's progress can't be judged: {error!r}") from error
        shown = ", ".join(f"{name}={value!r:.40}" for name, value in progress.items() if name != "criteria")
        return Verdict(done, f"the server says {shown[:300]}")


def _session_desktop(desktop: object) -> UiRlDesktop:
    if not (hasattr(desktop, "begin") and hasattr(desktop, "progress")):
        raise NotSupported(
            f"a {type(desktop).__name__} has no sessions",
            hint="tasks of a UI-RL server need a desktop of one: operant.desktop.ui_rl.UiRlDesktop",
        )
    return desktop  # type: ignore[return-value]


def session_task(
    session_type: str,
    prompt: str,
    *,
    seed: int | None = None,
    max_steps: int = MAX_STEPS,
    judge: Judge = is_done,
) -> Task:
    """The task of one session. ``judge`` reads the server's progress, if that is not of a known form."""
    if not session_type or not prompt.strip():
        raise ConfigError(
            "a session has a type, and its agent a prompt", hint="session_type= and task_prompt="
        )
    return Task(
        id=session_type,
        instruction=prompt,
        difficulty=Difficulty.of_steps(max_steps // 2),
        success=SessionProgress(judge=judge),
        setup=(BeginSession(session_type=session_type, seed=seed),),
        max_steps=max_steps,
        seed=seed,
    )


class SessionTemplate(Template):
    """Sessions of one type under one prompt; a seed gives an instance, where the server knows seeds."""

    apps = ()
    skill = "session"
    family = "ui_rl"

    def __init__(
        self, session_type: str, prompt: str, *, max_steps: int = MAX_STEPS, judge: Judge = is_done
    ) -> None:
        first = session_task(session_type, prompt, max_steps=max_steps, judge=judge)
        self.id = first.id  # type: ignore[misc]
        self.difficulty = first.difficulty  # type: ignore[misc]
        self.instructions = (prompt,)  # type: ignore[misc]
        self.judge = judge
        self.steps = max_steps

    def parameters(self, draw: Any) -> Mapping[str, Any]:
        return {}

    def success(self, p: Params) -> Criterion:
        return SessionProgress(judge=self.judge)

    def oracle(self, p: Params) -> Oracle | None:
        return None

    def instance(self, seed: int, split: str = "train") -> Task:
        return session_task(self.id, self.instructions[0], seed=seed, max_steps=self.steps, judge=self.judge)
