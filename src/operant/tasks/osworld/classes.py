"""Classes of tasks by what they need, as ``--class`` names them. They follow from the task file, but for N2.

Z needs nothing but programs, A also files of the cache, I can't be done, P installs packages, N1 uses the web by its
set-up or check (a proxy, live pages, an account), N2 by its instruction, which is a reader's judgement: a list of ids.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from operant.tasks.osworld.cache import as_list, assets_of
from operant.tasks.osworld.task_file import TaskFile

__all__ = ["CLASSES", "class_of"]

CLASSES = ("Z", "A", "I", "P", "N1", "N2")
#: Tasks whose instruction can't be followed without the web, by the first digits of their ids.
ASK_FOR_THE_WEB = frozenset(
    [
        "acb0f96b",
        "69acbb55",
        "48d05431",
        "68a25bd4",
        "c7c1e4c3",
        "deec51c9",
        "a82b78bb",
        "36037439",
        "873cafdd",
        "6f4073b8",
        "b337d106",
        "aad10cd7",
        "7ff48d5b",
        "e1fc0df3",
        "f8369178",
        "788b3701",
        "48c46dc7",
        "42f4d1c7",
        "3c8f201a",
        "94d95f96",
        "bba3381f",
    ]
)
LIVE_STEPS = frozenset(
    {"chrome_open_tabs", "chrome_close_tabs", "googledrive", "login", "update_browse_history"}
)
#: Getters that look at a page of the web, or at an account.
LIVE_GETTERS = frozenset(
    {"active_tab_info", "active_tab_html_parse", "active_tab_url_parse", "info_from_website", "open_tabs_info",
     "googledrive_file", "url_dashPart", "url_path_parse", "gotoRecreationPage_and_get_html_content", "page_info",
     "number_of_search_results", "pdf_from_url", "rule_relativeTime", "cookie_data",
     "history", "shortcuts_on_desktop", "macys_product_url_parse"}
)  # fmt: skip
#: Packages by name; those that the task brings as a file need no web.
INSTALLS = re.compile(
    r"\bapt(-get)?\b.*\binstall\b|\bpip3?\b.*\binstall\s+(?!/)|--install-extension\s+[\w-]+\.[\w-]+(?!\S)",
    re.S,
)


def class_of(task: TaskFile) -> str:
    """The class of a task."""
    if not task.feasible:
        return "I"
    if task.id[:8] in ASK_FOR_THE_WEB:
        return "N2"
    if _uses_the_web(task):
        return "N1"
    if any(INSTALLS.search(command) for command in _commands(task)):
        return "P"
    return "A" if assets_of(task) else "Z"


def _uses_the_web(task: TaskFile) -> bool:
    steps = {step.type for step in (*task.config, *task.postconfig)}
    getters = {source.get("type") for source in _sources(task)}
    return task.proxy or bool(steps & LIVE_STEPS) or bool(getters & LIVE_GETTERS)


def _sources(task: TaskFile) -> Iterator[Mapping[str, Any]]:
    for one in task.evaluations:
        yield from (source for source in (one.result, one.expected) if source is not None)


def _commands(task: TaskFile) -> Iterator[str]:
    for step in (*task.config, *task.postconfig):
        yield " ".join(str(word) for word in as_list(step.parameters.get("command")))
    for source in _sources(task):
        yield " ".join(str(word) for word in as_list(source.get("command")))
