"""Mousepad: notes, documents in tabs, lines, words and looks."""

from __future__ import annotations

from operant.tasks.suites.core import editor_lines, editor_notes, editor_tabs, editor_words
from operant.tasks.template import Template

__all__ = ["TEMPLATES"]

TEMPLATES: tuple[type[Template], ...] = (
    *editor_notes.TEMPLATES,
    *editor_tabs.TEMPLATES,
    *editor_lines.TEMPLATES,
    *editor_words.TEMPLATES,
)
