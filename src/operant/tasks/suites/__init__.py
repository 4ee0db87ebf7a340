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
    "launch": "operant.tasks.suites.launch",
    "clicks": "operant.tasks.suites.clicks",
    "data_entry": "operant.tasks.suites.data_entry",
}


def load_suite(names: str) -> list[Template]:
    """The templates of a suite, or of several (``core,launch``), in the order of their ids."""
    templates: list[Template] = []
    for name in dict.fromkeys(names.split(",")):
        if name not in SUITES:
            near = difflib.get_close_matches(name, SUITES, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"suites: {', '.join(SUITES)}"
            raise UnknownSuite(f"there is no suite {name!r}", hint=hint)
        templates += importlib.import_module(SUITES[name]).TEMPLATES
    return sorted(templates, key=lambda template: template.id)
