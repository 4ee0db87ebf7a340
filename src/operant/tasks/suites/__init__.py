"""Suites of tasks, the one place that turns what users write after ``--suite`` into templates.

A suite is an installed name (``core``; packages add theirs by the entry-point group ``operant.suites``),
``module:TEMPLATES``, a YAML or JSON file of tasks, ``osworld:PATH`` (a checkout of OSWorld), or several of these,
separated by commas. ``module:TEMPLATES`` imports
code, so what a client of the service writes never gets here unchecked: see ``operant.service.catalogue``.

Another kind of suite is a function from what follows ``prefix:`` to templates, and one line in ``LOADERS``.
"""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from operant.config.entry_points import find, installed, load
from operant.config.imported import imported
from operant.errors import ConfigError, TaskError, UnknownSuite
from operant.tasks.loaders import SUFFIXES, load_templates
from operant.tasks.task import Task
from operant.tasks.template import Template

__all__ = [
    "GROUP",
    "LOADERS",
    "SUITES",
    "desktop_of",
    "is_file",
    "load_suite",
    "merge",
    "select",
    "suite_names",
    "suite_parts",
    "unknown_suite",
    "with_absolute_files",
]

T = TypeVar("T", bound=Task | Template)

#: The entry-point group of packages that bring suites: name -> ``package:TEMPLATES``.
GROUP = "operant.suites"
FORM = "module:TEMPLATES"
OSWORLD = "osworld:"

#: name -> where its templates are; imported when it is asked for
SUITES: dict[str, str] = {
    "core": "operant.tasks.suites.core:TEMPLATES",
    "launch": "operant.tasks.suites.launch:TEMPLATES",
    "office": "operant.tasks.suites.office:TEMPLATES",
    "clicks": "operant.tasks.suites.clicks:TEMPLATES",
    "calls": "operant.tasks.suites.calls:TEMPLATES",
    "data_entry": "operant.tasks.suites.data_entry:TEMPLATES",
}


def _osworld(rest: str) -> Sequence[Template]:
    from operant.tasks.osworld.template import load_osworld

    return load_osworld(rest)


#: prefix -> what makes templates of the rest of ``prefix:rest``
LOADERS: dict[str, Callable[[str], Sequence[Template]]] = {
    "file": load_templates,
    "osworld": _osworld,
}


def load_suite(names: str) -> list[Template]:
    """The templates of a suite, or of several (``core,my_tasks.yaml``), in the order of their ids."""
    return merge((part, _load(part)) for part in suite_parts(names))


def suite_names() -> list[str]:
    """Installed suites: the built-in ones, and those of packages."""
    return list(installed(GROUP, SUITES))


def suite_parts(names: str) -> list[str]:
    """What stands between the commas, each once."""
    parts = list(dict.fromkeys(part.strip() for part in names.split(",")))
    if not all(parts):
        raise UnknownSuite(f"{names!r} names no suite" if not any(parts) else f"{names!r} has an empty part",
                           hint=f"for example core,{FORM}")  # fmt: skip
    return parts


def merge(loaded: Iterable[tuple[str, Sequence[Template]]]) -> list[Template]:
    """Templates of several sources, by id. The same template may come twice; two templates of one id may not."""
    found: dict[str, tuple[str, Template]] = {}
    for source, templates in loaded:
        for template in templates:
            other_source, other = found.setdefault(template.id, (source, template))
            if not _same(template, other):
                where = (
                    f"both in {source}" if source == other_source else f"in {other_source} and in {source}"
                )
                raise TaskError(
                    f"two tasks are called {template.id}, {where}", hint="every task needs an id of its own"
                )
    return [template for _, (_, template) in sorted(found.items())]


def select(templates: Sequence[T], ids: Sequence[str], suite: str, *, only: str = "") -> list[T]:
    """Those of these ids, in that order; all where none is named. ``only`` is a part that their ids must have."""
    by_id = {template.id: template for template in templates}
    for name in ids:
        if name not in by_id:
            near = difflib.get_close_matches(name, by_id, 1)
            hint = (
                f"a file of tasks is a suite: --suite {name}"
                if _has_file_suffix(name)
                else f"did you mean {near[0]!r}?"
                if near
                else f"operant tasks list --suite {suite} shows the ids"
            )
            raise TaskError(f"there is no task {name!r} in the suite {suite!r}", hint=hint)
    named = [by_id[name] for name in ids] if ids else list(templates)
    found = [template for template in named if only in template.id]
    if named and not found:
        raise TaskError(
            f"no task of the suite {suite!r} has {only!r} in its id",
            hint=f"operant tasks list --suite {suite} shows the ids",
        )
    return found


def is_file(part: str) -> bool:
    """Whether a part of a suite is a file of tasks, by its form; also where no such file exists."""
    return not _has_loader(part) and (_has_file_suffix(part) or "/" in part)


def with_absolute_files(names: str) -> str:
    """The same suite for processes with another working directory."""
    return ",".join(_absolute(part) for part in suite_parts(names))


def _absolute(part: str) -> str:
    if part.startswith(OSWORLD):
        return OSWORLD + os.path.abspath(part.removeprefix(OSWORLD))
    return os.path.abspath(part) if is_file(part) else part


def desktop_of(names: str) -> dict[str, Any]:
    """Settings that the desktops of a suite have unless others are chosen."""
    if not any(part.startswith(OSWORLD) for part in suite_parts(names)):
        return {}
    from operant.tasks.osworld.template import DESKTOP

    return dict(DESKTOP)


def unknown_suite(name: str, names: Sequence[str], also: str = "") -> UnknownSuite:
    """The error for a name that is none of these, with the nearest one; ``also`` ends the list of all names."""
    near = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"suites: {', '.join(names)}{also}"
    return UnknownSuite(f"there is no suite {name[:80]!r}", hint=hint)


def _load(part: str) -> Sequence[Template]:
    if _has_loader(part):
        prefix, _, rest = part.partition(":")
        return LOADERS[prefix](rest)
    if is_file(part):
        return load_templates(part)
    try:
        if ":" in part:
            found = imported(part, form=FORM, example="my_suite:TEMPLATES", here=True)
        elif (entry := find(part, GROUP, SUITES)) is not None:
            found = load(entry, form=FORM)
        else:
            others = f"; or {FORM}, or a file that ends with {', '.join(SUFFIXES)}"
            raise unknown_suite(part, suite_names(), others)
    except ConfigError as error:
        raise UnknownSuite(f"suite {error.message}", hint=error.hint) from error
    templates = _checked(part, found)
    if ":" in part:  # a module of one's own; tests check those of packages
        for template in templates:
            template.check()
    return templates


def _has_file_suffix(part: str) -> bool:
    return Path(part).suffix.lower() in SUFFIXES


def _has_loader(part: str) -> bool:
    prefix, colon, _ = part.partition(":")
    return bool(colon) and prefix in LOADERS


def _checked(part: str, given: Any) -> list[Template]:
    """Templates of what a package or a module calls its ``TEMPLATES``."""
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise TaskError(
            f"suite {part!r} is a {type(given).__name__}, not a list of templates",
            hint="list subclasses of operant.tasks.template.Template, or instances of them",
        )
    return [_template(one, f"{part}[{index}]") for index, one in enumerate(given)]


def _template(given: Any, where: str) -> Template:
    if inspect.isclass(given) and issubclass(given, Template):
        try:
            given = given()
        except TypeError as error:  # a method that is not written, or a constructor with arguments
            raise TaskError(f"{where}: {error}", hint="list an instance of it") from error
    if not isinstance(given, Template):
        raise TaskError(
            f"{where}: {given!r} is not a template", hint="subclass operant.tasks.template.Template"
        )
    missing = [name for name in Template.__annotations__ if not hasattr(given, name)]
    if missing:
        raise TaskError(f"{where}: {type(given).__name__} has no {', '.join(missing)}")
    return given


def _same(one: Template, other: Template) -> bool:
    return type(one) is type(other) and vars(one) == vars(other)
