"""The suite office: documents that are edited and saved in LibreOffice.

Every module lists its templates in ``TEMPLATES``; ``office_task``, ``letter`` and ``spreadsheet`` hold what they share.
"""

from __future__ import annotations

from operant.tasks.suites.office import (
    across,
    calc_formulas,
    calc_tables,
    impress_slides,
    writer_looks,
    writer_texts,
)
from operant.tasks.template import Template

__all__ = ["TEMPLATES"]

TEMPLATES: list[Template] = [
    template()
    for module in (across, calc_formulas, calc_tables, impress_slides, writer_looks, writer_texts)
    for template in module.TEMPLATES
]
