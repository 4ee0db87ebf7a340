"""Suites of tasks by name. A suite is a list of templates; it is imported when it is asked for."""

from __future__ import annotations

import difflib
import importlib

from operant.errors import UnknownSuite
from operant.tasks.template import Template

__all__ = ["SUITES", "load_suite"]

#: name -> the package whose ``TEMPLATES`` it is
SUITES: dict[str, str] = {
    "core": "operant.tasks.suites.core",
    "clicks": "operant.tasks.suites.clicks",
    "data_entry": "operant.tasks.suites.data_entry",
}


def load_suite(name: str) -> list[Template]:
    """The templates of a suite, in the order of their ids."""
    if name not in SUITES:
        near = difflib.get_close_matches(name, SUITES, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"suites: {', '.join(SUITES)}"
        raise UnknownSuite(f"there is no suite {name!r}", hint=hint)
    templates: list[Template] = importlib.import_module(SUITES[name]).TEMPLATES
    return sorted(templates, key=lambda template: template.id)
