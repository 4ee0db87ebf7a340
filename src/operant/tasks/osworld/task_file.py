"""Task files of OSWorld's ``evaluation_examples``: where they lie, which a meta file names, and what they say.

Reads and checks; knows nothing of desktops. Every error names the file and the field.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from operant.errors import TaskError
from operant.tasks.criteria.parse import nearest

__all__ = ["Evaluation", "FileStep", "TaskFile", "read_examples"]

MAX_FILE = 4 << 20
DEFAULT_META = "test_all.json"
EXAMPLES = "examples"


@dataclass(frozen=True)
class FileStep:
    """A step of a set-up or of a post-config."""

    type: str
    parameters: Mapping[str, Any]
    where: str
    """The file and the field, for messages."""


@dataclass(frozen=True)
class Evaluation:
    """One metric: what it compares with what, and how."""

    metric: str
    result: Mapping[str, Any] | None
    expected: Mapping[str, Any] | None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TaskFile:
    """One task as its file writes it."""

    path: Path
    id: str
    domain: str
    instruction: str
    config: tuple[FileStep, ...]
    postconfig: tuple[FileStep, ...]
    evaluations: tuple[Evaluation, ...]
    conj: str
    proxy: bool
    snapshot: str
    related_apps: tuple[str, ...]

    @property
    def feasible(self) -> bool:
        return not any(one.metric == "infeasible" for one in self.evaluations)


def read_examples(root: Path, meta: str | None = None, domains: Sequence[str] = ()) -> list[TaskFile]:
    """The tasks that a meta file names, in its order; without one, ``test_all.json`` or every file that is there."""
    root = _find_root(root)
    listed = list(_listed(root, meta))
    known = sorted({domain for domain, _ in listed})
    for name in domains:
        if name not in known:
            raise TaskError(f"{root}: there is no domain {name!r}", hint=nearest(name, known))
    chosen = [(domain, file) for domain, file in listed if not domains or domain in domains]
    return [_read_task(file, domain) for domain, file in chosen]


def _find_root(root: Path) -> Path:
    """``evaluation_examples`` itself, or the checkout that holds it."""
    for place in (root, root / "evaluation_examples"):
        if (place / EXAMPLES).is_dir():
            return place
    raise TaskError(
        f"{root} holds no task files of OSWorld: it has no directory {EXAMPLES!r}",
        hint="name a checkout of OSWorld, or its directory evaluation_examples",
    )


def _listed(root: Path, meta: str | None) -> Iterator[tuple[str, Path]]:
    file = _meta_file(root, meta)
    if file is None:
        for path in sorted((root / EXAMPLES).glob("*/*.json")):
            yield path.parent.name, path
        return
    named = _read(file)
    if not isinstance(named, Mapping) or not all(
        isinstance(ids, list) and all(isinstance(one, str) for one in ids) for ids in named.values()
    ):
        raise TaskError(f"{file}: a meta file has a list of ids for each domain")
    for domain, ids in named.items():
        for id in ids:
            if "/" in id or "/" in domain or id.startswith(".") or domain.startswith("."):
                raise TaskError(f"{file}: {domain}/{id} is not a task")
            yield domain, root / EXAMPLES / domain / f"{id}.json"


def _meta_file(root: Path, meta: str | None) -> Path | None:
    if meta is None:
        default = root / DEFAULT_META
        return default if default.is_file() else None
    for place in (root / meta, Path(meta)):
        if place.is_file():
            return place
    there = sorted(path.name for path in root.glob("*.json"))
    raise TaskError(f"there is no meta file {meta!r} in {root}", hint=nearest(meta, there) if there else None)


def _read(file: Path) -> Any:
    try:
        if file.stat().st_size > MAX_FILE:
            raise TaskError(f"{file} is too large for a task file")
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise TaskError(f"{file} can't be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise TaskError(f"{file} is not JSON: {str(error)[:100]}") from error


def _read_task(file: Path, domain: str) -> TaskFile:
    data = _read(file)
    if not isinstance(data, Mapping):
        raise TaskError(f"{file}: it is no task")
    evaluator = _field(data, "evaluator", Mapping, file)
    conj = evaluator.get("conj", "and")
    if conj not in ("and", "or"):
        raise TaskError(f"{file}: evaluator.conj: {conj!r} is neither and nor or")
    return TaskFile(
        path=file,
        id=_field(data, "id", str, file),
        domain=domain,
        instruction=_field(data, "instruction", str, file),
        config=_steps(data.get("config") or [], f"{file}: config"),
        postconfig=_steps(evaluator.get("postconfig") or [], f"{file}: evaluator.postconfig"),
        evaluations=_evaluations(evaluator, file),
        conj=conj,
        proxy=data.get("proxy") is True,
        snapshot=str(data.get("snapshot", "")),
        related_apps=tuple(str(app) for app in data.get("related_apps") or ()),
    )


def _field(data: Mapping[str, Any], name: str, kind: type, file: Path) -> Any:
    value = data.get(name)
    if not isinstance(value, kind) or not value:
        raise TaskError(
            f"{file}: {name}: {'it is missing' if value is None else f'{value!r:.80} is no value'}"
        )
    return value


def _steps(given: object, where: str) -> tuple[FileStep, ...]:
    if not isinstance(given, list):
        raise TaskError(f"{where}: a list of steps is needed")
    found = []
    for index, one in enumerate(given):
        place = f"{where}[{index}]"
        if not isinstance(one, Mapping) or not isinstance(one.get("type"), str):
            raise TaskError(f"{place}: {one!r:.80} is not a step")
        parameters = one.get("parameters", {})
        if not isinstance(parameters, Mapping):
            raise TaskError(f"{place}.parameters: {parameters!r:.80} is not a mapping")
        found.append(FileStep(one["type"], dict(parameters), place))
    return tuple(found)


def _evaluations(evaluator: Mapping[str, Any], file: Path) -> tuple[Evaluation, ...]:
    """One for each metric. What is given once is meant for all of them."""
    metrics = evaluator.get("func")
    names = metrics if isinstance(metrics, list) else [metrics]
    if not names or not all(isinstance(name, str) for name in names):
        raise TaskError(f"{file}: evaluator.func: {metrics!r:.80} names no metric")
    columns = [
        _column(evaluator.get(name), len(names), file, name) for name in ("result", "expected", "options")
    ]
    return tuple(
        Evaluation(name, result or None, expected or None, options or {})
        for name, result, expected, options in zip(names, *columns, strict=True)
    )


def _column(given: object, count: int, file: Path, name: str) -> list[Any]:
    values = given if isinstance(given, list) else [given] * count
    if not values:
        values = [None] * count
    if len(values) != count or not all(value is None or isinstance(value, Mapping) for value in values):
        raise TaskError(f"{file}: evaluator.{name}: there are {count} metrics, and not as many of it")
    return values
