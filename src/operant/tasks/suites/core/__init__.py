"""The core suite: chores that people do, over real applications, one module per application.

Every module lists its templates in ``TEMPLATES``. The moves that their oracles are made of are in ``operant.apps``.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from operant.tasks.template import Template

__all__ = ["MODULES", "TEMPLATES"]

MODULES = (
    "calculator",
    "calculator_memory",
    "windows",
    "windows_arranging",
    "settings",
    "editor",
    "documents",
    "files",
    "files_moving",
    "files_sorting",
    "archives",
    "images",
    "browser",
    "browser_forms",
    "browser_flows",
    "browser_shops",
    "terminal",
    "terminal_chains",
    "terminal_sessions",
    "chores",
)


def _templates() -> Iterator[Template]:
    for name in MODULES:
        for template in importlib.import_module(f"{__name__}.{name}").TEMPLATES:
            yield template()


TEMPLATES: list[Template] = list(_templates())
