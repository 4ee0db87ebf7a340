"""The launch suite: a full desktop on which programs and files are opened, windows are switched, and work is begun.

Every module lists its templates in ``TEMPLATES``; ``desk`` holds what they share.
"""

from __future__ import annotations

from operant.tasks.suites.launch import beginning, icons, opening, taskbar
from operant.tasks.template import Template

__all__ = ["TEMPLATES"]

TEMPLATES: list[Template] = [
    template() for module in (opening, icons, taskbar, beginning) for template in module.TEMPLATES
]
