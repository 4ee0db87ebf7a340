"""Success criteria: questions about a desktop, each with its key in task files.

``parse_criterion`` reads what a task file says; in Python, build the classes directly.
"""

from operant.tasks.criteria.answers import Answer
from operant.tasks.criteria.base import Criterion, Verdict, World
from operant.tasks.criteria.combine import AllOf, AnyOf, Not
from operant.tasks.criteria.documents import DocumentText, SpreadsheetCell
from operant.tasks.criteria.files import (
    DirectoryContains,
    FileContains,
    FileEquals,
    FileExists,
    FileNotExists,
)
from operant.tasks.criteria.images import ImageSimilar, ImageSize
from operant.tasks.criteria.parse import CRITERIA, parse_criterion
from operant.tasks.criteria.programs import ClipboardEquals, CommandOutput, ProcessRunning
from operant.tasks.criteria.settings import Setting
from operant.tasks.criteria.widgets import Accessible, Url
from operant.tasks.criteria.windows import WindowAbsent, WindowGeometry, WindowTitle

__all__ = [
    "CRITERIA",
    "Accessible",
    "AllOf",
    "Answer",
    "AnyOf",
    "ClipboardEquals",
    "CommandOutput",
    "Criterion",
    "DirectoryContains",
    "DocumentText",
    "FileContains",
    "FileEquals",
    "FileExists",
    "FileNotExists",
    "ImageSimilar",
    "ImageSize",
    "Not",
    "ProcessRunning",
    "Setting",
    "SpreadsheetCell",
    "Url",
    "Verdict",
    "WindowAbsent",
    "WindowGeometry",
    "WindowTitle",
    "World",
    "parse_criterion",
]
