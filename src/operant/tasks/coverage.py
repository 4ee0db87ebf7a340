"""What a suite covers: applications by skill, as a table for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from operant.tasks.template import Template
from operant.types import Difficulty

__all__ = ["coverage_markdown"]


def coverage_markdown(templates: Sequence[Template]) -> str:
    """Two Markdown tables: application x skill, and difficulty x application. A template counts for each application."""
    cells = Counter((app, template.skill) for template in templates for app in template.apps)
    apps = sorted({app for app, _skill in cells})
    skills = sorted({skill for _app, skill in cells})
    by_skill = _table(
        ["application", *skills], [[app, *(_cell(cells[app, s]) for s in skills)] for app in apps]
    )
    levels = Counter((app, template.difficulty) for template in templates for app in template.apps)
    unseen = Counter(app for template in templates if template.unseen for app in template.apps)
    rows = [[app, *(_cell(levels[app, level]) for level in Difficulty), _cell(unseen[app])] for app in apps]
    total = [
        "all templates",
        *(str(sum(template.difficulty is level for template in templates)) for level in Difficulty),
        str(sum(template.unseen for template in templates)),
    ]
    by_level = _table(
        ["application", *(level.value for level in Difficulty), "of them unseen"], [*rows, total]
    )
    return f"{by_level}\n\n{by_skill}\n"


def _cell(count: int) -> str:
    return str(count) if count else ""


def _table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
