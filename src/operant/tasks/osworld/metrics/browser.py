"""Chrome's settings, bookmarks and addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from operant.errors import TaskError
from operant.tasks.criteria.question import Refuted

__all__ = ["METRICS"]

Options = Mapping[str, Any]


def _url(result: Any) -> str:
    return str(result["url"] if isinstance(result, Mapping) else result)


def _active_tab(result: Any, rules: Options, options: Options) -> float:
    """The address without its query."""
    if rules.get("type") != "url":
        raise TaskError(f"{rules.get('type')!r} is not a rule about tabs")
    found, wanted = (urlunsplit(urlsplit(url)._replace(query="")) for url in (_url(result), rules["url"]))
    if found != wanted:
        raise Refuted(f"{found[:120]} is shown")
    return 1.0


def _url_pattern(result: Any, rules: Options, options: Options) -> float:
    """All patterns are found in the address."""
    return float(all(re.search(pattern, _url(result)) for pattern in rules["expected"]))


def _bookmarks(result: Mapping[str, Any], rules: Options, options: Options) -> float:
    bar = result.get("bookmark_bar", {}).get("children", [])
    if rules["type"] == "bookmark_bar_folders_names":
        found, wanted = {one["name"] for one in bar if one.get("type") == "folder"}, set(rules["names"])
    elif rules["type"] == "bookmark_bar_websites_urls":
        found, wanted = {one["url"] for one in bar if one.get("type") == "url"}, set(rules["urls"])
    else:
        raise TaskError(f"{rules['type']!r} is not a rule about bookmarks")
    if found != wanted:
        raise Refuted(f"the bar has {', '.join(sorted(found))[:120] or 'none of them'}")
    return 1.0


def _font_size(result: Mapping[str, Any], rules: Options, options: Options) -> float:
    size = result["default_font_size"]
    if rules["type"] == "value":
        return float(size == rules["value"])
    if rules["type"] == "range":
        return float(rules["min"] < size < rules["max"])
    raise TaskError(f"{rules['type']!r} is not a rule about sizes")


METRICS: dict[str, Callable[[Any, Any, Options], float]] = {
    "is_expected_active_tab_approximate": _active_tab,
    "is_expected_url_pattern_match": _url_pattern,
    "is_expected_bookmarks": _bookmarks,
    "check_font_size": _font_size,
}
