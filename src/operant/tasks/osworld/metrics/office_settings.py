"""Settings of LibreOffice, read from its registry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.metrics.text import read_text

__all__ = ["METRICS"]

OOR = "{http://openoffice.org/2001/registry}"
Options = Mapping[str, Any]


def _value(path: Path, node: str, name: str) -> str | None:
    """A property of a node; None where it has its default."""
    for item in ElementTree.fromstring(read_text(path)).iter("item"):
        if item.get(f"{OOR}path") == node:
            for prop in item.iter("prop"):
                if prop.get(f"{OOR}name") == name:
                    return prop.findtext("value")
    return None


def _auto_save(result: Path, rules: Options, options: Options) -> float:
    node = "/org.openoffice.Office.Recovery/AutoSave"
    found = _value(result, node, "TimeIntervall")
    if found != str(rules["minutes"]) or _value(result, node, "Enabled") == "false":
        raise Refuted(f"it saves every {found or 'default number of'} minutes, or not at all")
    return 1.0


def _presenter_console_off(result: Path, expected: Any, options: Options) -> float:
    found = _value(result, "/org.openoffice.Office.Impress/Misc/Start", "EnablePresenterScreen")
    return float(found == "false")


def _default_font(result: Path, rules: Options, options: Options) -> float:
    found = _value(result, "/org.openoffice.Office.Writer/DefaultFont", "Standard")
    if found != rules["font_name"]:
        raise Refuted(f"the font is {found or 'the usual one'}")
    return 1.0


METRICS: dict[str, Callable[[Any, Any, Options], float]] = {
    "check_auto_saving_time": _auto_save,
    "check_presenter_console_disable": _presenter_console_off,
    "find_default_font": _default_font,
}
