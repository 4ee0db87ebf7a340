"""Tasks from files: the short JSON form and the full YAML form, checked in every part before anything runs.

A JSON file may be as short as ``[{"id": 1, "instruction": ..., "difficulty": "EASY", "num_steps": 5,
"success_criteria": {"window_title": "Calculator"}}]``; either kind of file may use everything that
``config/tasks.example.yaml`` shows. Every error names the file, the task and the field. A task that says
nothing about its set-up begins on a full desktop, with menu, panel and icons to open programs with.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from operant.config.desktop import PROFILES, Profile
from operant.errors import TaskError
from operant.tasks.blanks import check_size, draw_parameters, fill
from operant.tasks.criteria.base import Criterion
from operant.tasks.criteria.parse import build, nearest, parse_criterion
from operant.tasks.criteria.places import inside
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.script import parse_script
from operant.tasks.setup import SETUP_STEPS, SetupStep
from operant.tasks.task import Task
from operant.tasks.template import ID, STEP_CAP
from operant.types import Difficulty

__all__ = ["FileTemplate", "load_tasks", "load_templates"]

MAX_FILE = 4 << 20
MAX_STEPS = 1000
FIELDS = ("id", "instruction", "instructions", "difficulty", "num_steps", "max_steps", "success_criteria",
          "success", "setup", "profile", "parameters", "apps", "skill", "family", "unseen", "oracle")  # fmt: skip
FILE_FIELDS = ("tasks", "suite")
#: Applications that tasks may be about even where they are not installed.
APPLICATIONS = ("galculator", "mate-calc", "mousepad", "pcmanfm", "xterm", "chromium", "desktop")
PROGRAMS = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"


def load_tasks(path: str | Path, *, seed: int = 0, split: str = "train") -> list[Task]:
    """The tasks of a file; blanks of those that have some are filled by the seed."""
    return [template.instance(seed, split) for template in load_templates(path)]


def load_templates(path: str | Path) -> list[FileTemplate]:
    """The tasks of a file before a seed fills their blanks; each is checked by filling it once."""
    file = Path(path)
    data = _read(file)
    suite = file.stem
    if isinstance(data, Mapping) and "tasks" in data:
        for key in data:
            if key not in FILE_FIELDS:
                raise TaskError(
                    f"{file}: {key!r} is not a field of a task file", hint=nearest(key, FILE_FIELDS)
                )
        suite, data = str(data.get("suite", suite)), data["tasks"]
    entries = [data] if isinstance(data, Mapping) else data
    if not isinstance(entries, list) or not entries:
        raise TaskError(f"{file}: there are no tasks in it", hint="it should be a list of tasks")
    templates: dict[str, FileTemplate] = {}
    for index, entry in enumerate(entries):
        template = FileTemplate.of(entry, file, suite, index)
        if template.id in templates:
            raise TaskError(f"{template.where}.id: two tasks are called {template.id}")
        template.instance(0)
        templates[template.id] = template
    return list(templates.values())


@dataclass(frozen=True)
class FileTemplate:
    """A task as its file writes it. Without parameters, all of its instances are the same."""

    id: str
    where: str
    difficulty: Difficulty
    apps: tuple[str, ...]
    fields: Mapping[str, Any]
    directory: Path

    @classmethod
    def of(cls, entry: object, file: Path, suite: str, index: int) -> FileTemplate:
        where = f"{file}: task {index + 1}"
        if not isinstance(entry, Mapping):
            raise TaskError(f"{where}: {entry!r} is not a task")
        if isinstance(entry.get("id"), (int, str)):
            where = f"{file}: task {entry['id']}"
        for key in entry:
            if key not in FIELDS:
                raise TaskError(f"{where}: {key!r} is not a field of a task", hint=nearest(key, FIELDS))
            check_size(entry[key], f"{where}.{key}")
        for one, other in (("instruction", "instructions"), ("success_criteria", "success")):
            if (one in entry) == (other in entry):
                raise TaskError(f"{where}.{one}: it is {'there twice' if one in entry else 'missing'}")
        return cls(
            id=_id(entry, suite, where),
            where=where,
            difficulty=_difficulty(entry, where),
            apps=_apps(entry.get("apps", []), f"{where}.apps"),
            fields=dict(entry),
            directory=file.parent,
        )

    def instance(self, seed: int, split: str = "train") -> Task:
        """The task that this seed makes of it."""
        fields, where = self.fields, self.where
        draw = Draw(self.id, split, seed)
        values: dict[str, Any] = {}
        instruction = draw.choice(_instructions(fields, where))
        if "parameters" in fields:
            values = draw_parameters(fields["parameters"], draw, f"{where}.parameters")
            for name in ("setup", "success_criteria", "success", "oracle"):
                if name in fields:
                    fields = {**fields, name: fill(fields[name], values, f"{where}.{name}")}
            instruction = fill(instruction, values, f"{where}.instruction")
        told = [token for token in draw.given if re.search(rf"(?<!\w){re.escape(token)}(?!\w)", instruction)]
        if split != "train" and not told:
            raise TaskError(
                f"{where}: nothing in {instruction!r} tells held-out instances from those of training",
                hint="put a parameter with a drawn word or number into the instruction",
            )
        return Task(
            id=self.id,
            instruction=instruction,
            difficulty=self.difficulty,
            success=self._success(fields),
            setup=_setup(fields.get("setup", []), f"{where}.setup"),
            profile=_profile(fields, where),
            max_steps=_max_steps(fields, self.difficulty, where),
            apps=self.apps,
            skill=_typed(fields, "skill", str, "", where),
            family=_typed(fields, "family", str, "", where),
            unseen=_typed(fields, "unseen", bool, False, where),
            seed=seed if values else None,
            split=split if told else None,
            parameters=values,
            oracle=_oracle(fields, where),
        )

    def _success(self, fields: Mapping[str, Any]) -> Criterion:
        name = "success" if "success" in fields else "success_criteria"
        return parse_criterion(_with_references(fields[name], self.directory), f"{self.where}.{name}")


# Reading.


def _read(file: Path) -> Any:
    try:
        if file.stat().st_size > MAX_FILE:
            raise TaskError(f"{file} is too large for a file of tasks")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise TaskError(f"{file} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TaskError(f"{file} is not a UTF-8 text: {error.reason}") from error
    readers: dict[str, Callable[[str], Any]] = {".json": _read_json, ".yaml": _read_yaml, ".yml": _read_yaml}
    if file.suffix.lower() not in readers:
        raise TaskError(f"{file} is no file of tasks", hint="those end with .json, .yaml or .yml")
    try:
        return readers[file.suffix.lower()](text)
    except json.JSONDecodeError as error:
        raise TaskError(f"{file}, line {error.lineno}: {error.msg}") from error
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise TaskError(f"{file}{line}: {error.problem or 'not YAML'}") from error
    except yaml.YAMLError as error:
        raise TaskError(f"{file}: {error}") from error
    except TaskError as error:
        raise TaskError(f"{file}: {error.message}", hint=error.hint) from error
    except (RecursionError, ValueError) as error:
        raise TaskError(f"{file} can't be read: {str(error)[:100]}") from error


def _read_json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_mapping)


def _read_yaml(text: str) -> Any:
    return yaml.load(text, Loader=_PlainLoader)  # a SafeLoader that refuses a key that is there twice


class _PlainLoader(yaml.SafeLoader):
    """Plain data only."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        self.flatten_mapping(node)
        pairs = [(self.construct_object(key, deep=True), self.construct_object(value, deep=True))
                 for key, value in node.value]  # fmt: skip
        try:
            return _mapping(pairs)
        except TypeError as error:
            raise yaml.constructor.ConstructorError(
                None, None, "a key that is no text", node.start_mark
            ) from error


def _mapping(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, value in pairs:
        if key in found:
            raise TaskError(f"the key {key!r} is there twice")
        found[key] = value
    return found


# Fields.


def _id(entry: Mapping[str, Any], suite: str, where: str) -> str:
    given = entry.get("id")
    if isinstance(given, bool) or not isinstance(given, (int, str)):
        raise TaskError(f"{where}.id: a number or a name is needed")
    if isinstance(given, str) and "/" in given:
        suite, _, given = given.partition("/")
    name = re.sub(r"[^a-z0-9]+", "-", str(given).lower()).strip("-")
    home = re.sub(r"[^a-z0-9]+", "_", suite.lower()).strip("_")
    full = f"{home}/{name}" if re.search(r"-v[0-9]+$", name) else f"{home}/{name}-v1"
    if not name or not ID.fullmatch(full):
        raise TaskError(f"{where}.id: {given!r} can't be made a task id", hint="use letters and digits")
    return full


def _difficulty(entry: Mapping[str, Any], where: str) -> Difficulty:
    given = entry.get("difficulty")
    if given is None and "num_steps" in entry:
        return Difficulty.of_steps(_count(entry, "num_steps", where))
    try:
        return Difficulty(str(given).upper())
    except ValueError as error:
        names = [level.value for level in Difficulty]
        raise TaskError(
            f"{where}.difficulty: {given!r} is not a difficulty", hint=nearest(str(given).upper(), names)
        ) from error


def _max_steps(entry: Mapping[str, Any], difficulty: Difficulty, where: str) -> int:
    """What the file says; otherwise what its difficulty has, and at least twice the steps that it takes."""
    if "max_steps" in entry:
        return _count(entry, "max_steps", where)
    needed = _count(entry, "num_steps", where) if "num_steps" in entry else 0
    return max(STEP_CAP[difficulty], 2 * needed + 5)


def _count(entry: Mapping[str, Any], name: str, where: str) -> int:
    value = entry[name]
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_STEPS:
        raise TaskError(f"{where}.{name}: {value!r} is not a number of steps from 1 to {MAX_STEPS}")
    return value


def _instructions(entry: Mapping[str, Any], where: str) -> list[str]:
    name = "instructions" if "instructions" in entry else "instruction"
    given = entry[name]
    phrasings = given if name == "instructions" and isinstance(given, list) else [given]
    if not phrasings or not all(isinstance(one, str) and one.strip() for one in phrasings):
        raise TaskError(f"{where}.{name}: {given!r} is not an instruction")
    return phrasings


def _apps(given: object, where: str) -> tuple[str, ...]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list):
        raise TaskError(f"{where}: {given!r} is not a list of applications")
    for name in names:
        _check_application(name, where)
    return tuple(names)


def _check_application(name: object, where: str) -> None:
    if (
        not isinstance(name, str)
        or "\0" in name
        or not (name in APPLICATIONS or shutil.which(name, path=PROGRAMS))
    ):
        raise TaskError(f"{where}: no application {name!r} is known", hint=nearest(name, APPLICATIONS))


def _profile(entry: Mapping[str, Any], where: str) -> Profile:
    """What the file says; a task that does not say where it begins has a desktop on which programs can be opened."""
    given = entry.get("profile", "bare" if "setup" in entry else "full")
    if given not in PROFILES:
        raise TaskError(f"{where}.profile: {given!r} is not a profile", hint=nearest(str(given), PROFILES))
    return cast(Profile, given)


def _setup(given: object, where: str) -> tuple[SetupStep, ...]:
    if not isinstance(given, list):
        raise TaskError(f"{where}: {given!r} is not a list of steps")
    steps = []
    for index, item in enumerate(given):
        place = f"{where}[{index}]"
        if not isinstance(item, Mapping) or len(item) != 1:
            raise TaskError(f"{place}: {item!r} is not a step", hint="write it like {write_file: {...}}")
        ((key, value),) = item.items()
        if key not in SETUP_STEPS:
            raise TaskError(f"{place}: {key!r} is not a set-up step", hint=nearest(key, SETUP_STEPS))
        step = build(SETUP_STEPS[key], value, f"{place}.{key}", f"a {key}")
        _check_step(step, f"{place}.{key}")
        steps.append(step)
    return tuple(steps)


def _check_step(step: SetupStep, where: str) -> None:
    """What can be known to fail before a desktop is there."""
    for field in ("path", "directory"):
        if isinstance(place := getattr(step, field, None), str):
            try:
                inside(place)
            except TaskError as error:
                raise TaskError(f"{where}.{field}: {error.message}", hint=error.hint) from error
    command = getattr(step, "command", None)
    if command is not None:
        if not command:
            raise TaskError(f"{where}.command: it is empty")
        if "/" not in command[0]:
            _check_application(command[0], f"{where}.command")


def _oracle(entry: Mapping[str, Any], where: str) -> Oracle | None:
    return parse_script(entry["oracle"], f"{where}.oracle") if "oracle" in entry else None


def _typed(entry: Mapping[str, Any], name: str, kind: type, default: Any, where: str) -> Any:
    value = entry.get(name, default)
    if not isinstance(value, kind):
        raise TaskError(f"{where}.{name}: {value!r} is not {'true or false' if kind is bool else 'a text'}")
    return value


def _with_references(data: Any, directory: Path) -> Any:
    """Reference pictures are named relative to the file of tasks."""
    if isinstance(data, list):
        return [_with_references(one, directory) for one in data]
    if isinstance(data, Mapping):
        return {
            key: str(directory / value)
            if key == "reference_path" and isinstance(value, str)
            else _with_references(value, directory)
            for key, value in data.items()
        }
    return data
