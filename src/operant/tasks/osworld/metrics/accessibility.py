"""Accessibility trees, as the XML of OSWorld's guests."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from operant.desktop.osworld.tree_xml import NAMESPACES
from operant.errors import TaskError
from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.cache import as_list

__all__ = ["METRICS", "unknown_attributes"]

#: Attributes of programs' own, such as ids of Mozilla's widgets. Our trees have their descriptions alone.
_ATTRIBUTE = re.compile(r"attr[|:]([\w-]+)")
_KNOWN = ("description",)
SLIDES_PANEL = "Slides View"
Options = Mapping[str, Any]


def unknown_attributes(rules: Any) -> Iterator[str]:
    """Attributes that rules ask for and that no tree here has."""
    for rule in as_list(rules):
        asked = " ".join([str(rule.get("xpath", "")), *map(str, as_list(rule.get("selectors")))])
        yield from (name for name in _ATTRIBUTE.findall(asked) if name not in _KNOWN)


def _holds(result: str, rules: Any, options: Options) -> float:
    """Every rule finds an element; with ``text``, one of that text, or else as similar as the score says."""
    root = _parse(result)
    score = 1.0
    for rule in as_list(rules):
        found = _find(root, rule)
        if not found:
            raise Refuted(f"nothing is {rule.get('xpath') or rule.get('selectors')}"[:200])
        if "text" in rule:
            score *= max(_likeness(one.text or "", rule) for one in found)
    return score


def _parse(text: str) -> Any:
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    return etree.fromstring(text.encode(), parser)


def _find(root: Any, rule: Options) -> list[Any]:
    from cssselect import SelectorError
    from lxml import etree
    from lxml.cssselect import CSSSelector

    if not {"xpath", "selectors"} & rule.keys():
        raise TaskError("a rule of check_accessibility_tree has neither xpath nor selectors")
    try:
        if "xpath" in rule:
            found = root.xpath(rule["xpath"], namespaces=NAMESPACES)
        else:
            found = CSSSelector(", ".join(as_list(rule["selectors"])), namespaces=NAMESPACES)(root)
    except (etree.XPathError, SelectorError) as error:
        raise TaskError(f"a rule of check_accessibility_tree can't be read: {error}") from error
    if not isinstance(found, list) or not all(isinstance(one, etree._Element) for one in found):
        raise TaskError("the xpath of a rule names no elements")
    return found


def _likeness(text: str, rule: Options) -> float:
    from rapidfuzz import fuzz

    if rule.get("exact", True):
        return float(text == rule["text"])
    return fuzz.ratio(text, rule["text"]) / 100


def _slides_panel(result: str, expected: Any, options: Options) -> float:
    """Impress shows the panel of slides."""
    panels = _parse(result).iter("document-frame")
    return float(any(one.get("name") == SLIDES_PANEL for one in panels))


METRICS: dict[str, Callable[[Any, Any, Options], float]] = {
    "check_accessibility_tree": _holds,
    "check_left_panel": _slides_panel,
}
