"""OSWorld's tasks as templates of a suite: ``osworld:PATH?meta=FILE&domain=os+vlc&class=Z+I&cache=DIR``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

from operant.desktop.osworld.machine_image import MACHINE_SETTINGS, MACHINE_VARIABLES
from operant.errors import TaskError
from operant.tasks.criteria.base import Criterion
from operant.tasks.criteria.parse import nearest
from operant.tasks.oracle import Oracle
from operant.tasks.osworld.cache import DEFAULT_CACHE
from operant.tasks.osworld.classes import CLASSES, class_of
from operant.tasks.osworld.evaluator import criterion_of
from operant.tasks.osworld.oracles import oracle_of
from operant.tasks.osworld.steps import setup_of
from operant.tasks.osworld.support import missing_here, uncovered
from operant.tasks.osworld.task_file import TaskFile, read_examples
from operant.tasks.setup import SetupStep
from operant.tasks.task import Task
from operant.tasks.template import Params, Template
from operant.types import Difficulty

__all__ = ["DESKTOP", "OPTIONS", "OsworldTemplate", "load_osworld", "with_options"]

MAX_STEPS = 15
#: What a desktop is like unless its settings say otherwise.
DESKTOP: Mapping[str, Any] = {**MACHINE_SETTINGS, "environment": dict(MACHINE_VARIABLES)}
OPTIONS = ("meta", "domain", "class", "cache", "uncovered")


class OsworldTemplate(Template):
    """One task file. It has no blanks, so all of its instances are the same."""

    skill = "osworld"
    profile = "full"

    def __init__(self, task: TaskFile, cache: Path) -> None:
        self.file = task
        self.cache = cache
        self.reasons = uncovered(task)
        vars(self).update(
            id=f"osworld/{task.id.lower()}-v1",
            apps=(task.domain,),
            family=task.domain,
            difficulty=Difficulty.of_steps(MAX_STEPS // 2),
            instructions=(task.instruction,),
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OsworldTemplate) and (self.file, self.cache) == (other.file, other.cache)

    __hash__ = None  # type: ignore[assignment]

    @property
    def covered(self) -> bool:
        return not self.reasons

    def about(self) -> dict[str, Any]:
        """What a list of tasks says of it beside its id."""
        return {
            "domain": self.file.domain,
            "class": class_of(self.file),
            "feasible": self.file.feasible,
            "covered": self.covered,
            "not_covered_because": self.reasons,
            "missing_here": missing_here(self.file, self.cache),
            "oracle": oracle_of(self.file) is not None,
            "file": str(self.file.path),
        }

    def parameters(self, draw: Any) -> Mapping[str, Any]:
        return {}

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return setup_of(self.file, self.cache)[0]

    def success(self, p: Params) -> Criterion:
        return criterion_of(self.file, self.cache)

    def oracle(self, p: Params) -> Oracle | None:
        return oracle_of(self.file)

    def instance(self, seed: int, split: str = "train") -> Task:
        """The task; the seed changes nothing. One that is not covered is refused before a desktop starts."""
        if self.reasons:
            raise TaskError(
                f"{self.id} ({self.file.domain}) uses what is not known here: {', '.join(self.reasons)}",
                hint="operant tasks list --suite osworld:PATH --json says which tasks are covered",
            )
        before, after = setup_of(self.file, self.cache)
        return Task(
            id=self.id,
            instruction=self.file.instruction,
            difficulty=self.difficulty,
            success=self.success(Params()),
            setup=before,
            closing=after,
            feasible=self.file.feasible,
            profile=self.profile,
            max_steps=MAX_STEPS,
            apps=self.apps,
            skill=self.skill,
            family=self.family,
            oracle=self.oracle(Params()),
        )


def load_osworld(rest: str) -> list[OsworldTemplate]:
    """The tasks of what follows ``osworld:``; those that are not covered are left out unless ``uncovered=yes``."""
    place, options = _split(rest)
    domains = options.get("domain", "").split("+") if options.get("domain") else []
    classes = options.get("class", "").upper().split("+") if options.get("class") else []
    for name in classes:
        if name not in CLASSES:
            raise TaskError(f"{name!r} is not a class of tasks", hint=nearest(name, CLASSES))
    cache = Path(options.get("cache", DEFAULT_CACHE))
    files = read_examples(Path(place).expanduser(), options.get("meta"), domains)
    found = [
        OsworldTemplate(file, cache.expanduser())
        for file in files
        if not classes or class_of(file) in classes
    ]
    if options.get("uncovered") != "yes":
        found = [template for template in found if template.covered]
    if not found:
        raise TaskError(
            f"osworld:{rest} names no task that is covered", hint="ask for other domains or classes"
        )
    return found


def _split(rest: str) -> tuple[str, dict[str, str]]:
    place, _, query = rest.partition("?")
    if not place:
        raise TaskError("the suite osworld needs a path", hint="--suite osworld:PATH, a checkout of OSWorld")
    options = dict(parse_qsl(query.replace("+", "%2B"), keep_blank_values=True))
    for name in options:
        if name not in OPTIONS:
            raise TaskError(f"osworld:{rest}: {name!r} is not an option", hint=nearest(name, OPTIONS))
    return place, options


def with_options(suite: str, options: Mapping[str, str | None]) -> str:
    """The suite with more options; lists that commas separate become lists that a suite can hold."""
    given = {name: value for name, value in options.items() if value}
    if not given or not suite.startswith("osworld:"):
        return suite
    query = "&".join(f"{name}={quote(value.replace(',', '+'), safe='+/~.')}" for name, value in given.items())
    return f"{suite}{'&' if '?' in suite else '?'}{query}"
