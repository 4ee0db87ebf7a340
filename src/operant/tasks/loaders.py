"""Tasks from files: the short JSON form and the full YAML form, checked in every part before anything runs.

A JSON file may be as short as ``[{"id": 1, "instruction": ..., "difficulty": "EASY", "num_steps": 5,
"success_criteria": {"window_title": "Calculator"}}]``; either kind of file may use everything that
``config/tasks.example.yaml`` shows. Every error names the file, the task and the field. A task that says
nothing about its set-up begins on a full desktop, with menu, panel and icons to open programs with.
"""

from __future__ import annotations

import difflib
import json
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import yaml

from operant.apps import app_names, load_app
from operant.config.desktop import PROFILES, Profile
from operant.errors import TaskError
from operant.tasks.blanks import check_size, draw_parameters, fill, fill_nothing
from operant.tasks.criteria.base import Criterion
from operant.tasks.criteria.parse import build, nearest, parse_criterion
from operant.tasks.criteria.places import inside
from operant.tasks.draw import Draw
from operant.tasks.oracle import Oracle
from operant.tasks.script import parse_script
from operant.tasks.setup import SETUP_STEPS, SetupStep
from operant.tasks.task import Task
from operant.tasks.template import ID, STEP_CAP, Params, Template
from operant.types import Difficulty

__all__ = ["SUFFIXES", "FileTemplate", "load_tasks", "load_templates"]

SUFFIXES = (".yaml", ".yml", ".json")
MAX_FILE = 4 << 20
MAX_STEPS = 1000
FIELDS = ("id", "instruction", "instructions", "difficulty", "num_steps", "max_steps", "success_criteria",
          "success", "setup", "profile", "parameters", "apps", "skill", "family", "unseen", "oracle", "gui_only")  # fmt: skip
FILE_FIELDS = ("tasks", "suite")
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
        template = FileTemplate(entry, file, suite, index)
        if template.id in templates:
            raise TaskError(f"{template.where}.id: two tasks are called {template.id}")
        template.check()
        templates[template.id] = template
    return list(templates.values())


class FileTemplate(Template):
    """A task as its file writes it. Without parameters, all of its instances are the same."""

    def __init__(self, entry: object, file: Path, suite: str, index: int) -> None:
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
        self.where = where
        self.fields: Mapping[str, Any] = dict(entry)
        self.directory = file.parent
        difficulty = _difficulty(entry, where)
        vars(self).update(  # attributes of the class in other templates
            id=_id(entry, suite, where),
            difficulty=difficulty,
            instructions=_instructions(entry, where),
            apps=_apps(entry.get("apps", []), f"{where}.apps"),
            skill=_typed(entry, "skill", str, "", where),
            family=_typed(entry, "family", str, "", where),
            unseen=_typed(entry, "unseen", bool, False, where),
            profile=_profile(entry, where),
            gui_only=_typed(entry, "gui_only", bool, False, where),
            max_steps=_max_steps(entry, difficulty, where),
        )

    def parameters(self, draw: Draw) -> Mapping[str, Any]:
        if "parameters" not in self.fields:
            return {}
        return draw_parameters(self.fields["parameters"], draw, f"{self.where}.parameters")

    def setup(self, p: Params) -> Sequence[SetupStep]:
        return _setup(self._filled("setup", p) if "setup" in self.fields else [], f"{self.where}.setup")

    def success(self, p: Params) -> Criterion:
        name = "success" if "success" in self.fields else "success_criteria"
        return parse_criterion(
            _with_references(self._filled(name, p), self.directory), f"{self.where}.{name}"
        )

    def oracle(self, p: Params) -> Oracle | None:
        if "oracle" not in self.fields:
            return None
        return parse_script(self._filled("oracle", p), f"{self.where}.oracle")

    def _filled(self, name: str, p: Params) -> Any:
        """A field with its blanks filled."""
        return self._fill(self.fields[name], vars(p), name)

    def _fill(self, given: Any, values: Mapping[str, Any], name: str) -> Any:
        where = f"{self.where}.{name}"
        return fill(given, values, where) if "parameters" in self.fields else fill_nothing(given, where)

    def _decided(self, draw: Draw) -> tuple[str, Mapping[str, Any]]:
        """The phrasing is drawn first: a seed of a file of tasks has always meant that."""
        return draw.choice(self.instructions), self.parameters(draw)

    def _worded(self, phrasing: str, values: Mapping[str, Any]) -> str:
        return str(self._fill(phrasing, values, "instruction"))

    def instance(self, seed: int, split: str = "train") -> Task:
        """The task that this seed makes of it; without parameters, it is no instance of a seed."""
        task = super().instance(seed, split)
        return task if task.parameters else replace(task, seed=None)


# Reading.


def _read(file: Path) -> Any:
    try:
        if file.stat().st_size > MAX_FILE:
            raise TaskError(f"{file} is too large for a file of tasks")
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        hint = "operant init writes an example: notes.yaml" if isinstance(error, FileNotFoundError) else None
        raise TaskError(f"{file} can't be read: {error.strerror}", hint=hint) from error
    except UnicodeDecodeError as error:
        raise TaskError(f"{file} is not a UTF-8 text: {error.reason}") from error
    readers: dict[str, Callable[[str], Any]] = {".json": _read_json, ".yaml": _read_yaml, ".yml": _read_yaml}
    if file.suffix.lower() not in readers:
        raise TaskError(f"{file} is no file of tasks", hint=f"those end with {', '.join(SUFFIXES)}")
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


def _instructions(entry: Mapping[str, Any], where: str) -> tuple[str, ...]:
    name = "instructions" if "instructions" in entry else "instruction"
    given = entry[name]
    phrasings = given if name == "instructions" and isinstance(given, list) else [given]
    if not phrasings or not all(isinstance(one, str) and one.strip() for one in phrasings):
        raise TaskError(f"{where}.{name}: {given!r} is not an instruction")
    return tuple(phrasings)


def _apps(given: object, where: str) -> tuple[str, ...]:
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, list):
        raise TaskError(f"{where}: {given!r} is not a list of applications")
    for name in names:
        _check_application(name, where)
    return tuple(names)


def _check_application(name: object, where: str) -> None:
    """Tasks may be about any program that is installed, and about known applications even where they are not."""
    known = [*app_names(), "desktop"]
    if not isinstance(name, str) or "\0" in name or not (name in known or shutil.which(name, path=PROGRAMS)):
        near = difflib.get_close_matches(str(name), known, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"installed here: {', '.join(_installed())}"
        raise TaskError(
            f"{where}: no application {name!r} is known, and no such program is installed", hint=hint
        )


def _installed() -> list[str]:
    """Known applications whose program is on this machine."""
    return [name for name in app_names() if shutil.which(load_app(name).argv()[0], path=PROGRAMS)]


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
