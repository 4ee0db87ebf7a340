"""Chrome's profile, and the address of the page that it shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from operant.apps import chromium
from operant.apps.view import View
from operant.errors import AccessibilityError
from operant.tasks.criteria.question import Refuted
from operant.tasks.osworld.getters.evidence import Evidence

__all__ = ["GETTERS"]

PROFILE = "~/.config/google-chrome/Default"
SESSION_ONLY = 4  # of the settings of cookies
APPEARANCE = {0: "system", 1: "light", 2: "dark"}


def _profile(evidence: Evidence, name: str) -> dict[str, Any]:
    data = evidence.read(f"{PROFILE}/{name}")
    if data is None:
        raise Refuted(f"Chrome has no {name}")
    try:
        found = json.loads(data)
    except ValueError as error:
        raise Refuted(f"Chrome's {name} is not JSON") from error
    return found if isinstance(found, dict) else {}


def _within(found: Any, *keys: str) -> Any:
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _preference(*keys: str, default: Any = None) -> Callable[[Mapping[str, Any], Evidence], Any]:
    def get(source: Mapping[str, Any], evidence: Evidence) -> Any:
        found = _within(_profile(evidence, "Preferences"), *keys)
        return default if found is None else found

    return get


def _do_not_track(source: Mapping[str, Any], evidence: Evidence) -> str:
    return "true" if _profile(evidence, "Preferences").get("enable_do_not_track") is True else "false"


def _deletes_on_exit(source: Mapping[str, Any], evidence: Evidence) -> str:
    """Whether sites keep their data only until the browser is closed. Chromium keeps other values beside that one."""
    values = ("profile", "default_content_setting_values")
    kept = _within(_profile(evidence, "Preferences"), *values, "cookies")
    return "true" if kept == SESSION_ONLY else "false"


def _font_size(source: Mapping[str, Any], evidence: Evidence) -> dict[str, Any]:
    sizes = _within(_profile(evidence, "Preferences"), "webkit", "webprefs")
    return {
        "default_font_size": 16,
        "default_fixed_font_size": 13,
        **(sizes if isinstance(sizes, dict) else {}),
    }


def _bookmarks(source: Mapping[str, Any], evidence: Evidence) -> Any:
    return _profile(evidence, "Bookmarks").get("roots")


def _appearance(source: Mapping[str, Any], evidence: Evidence) -> str | None:
    """The colours that Chrome's settings offer, by the profile and not by what a page shows."""
    theme = _within(_profile(evidence, "Preferences"), "browser", "theme")
    scheme = _within(theme, "color_scheme2") or _within(theme, "color_scheme") or 0
    return APPEARANCE.get(scheme) if isinstance(scheme, int) else None


def _active_url(source: Mapping[str, Any], evidence: Evidence) -> str | None:
    """The address of the page in front; ``goto_prefix`` stands before one without a scheme."""
    try:
        url = chromium.location(View(evidence.desktop))
    except AccessibilityError:
        return None
    if url is None or "://" in url:
        return url
    return f"{source.get('goto_prefix', 'https://')}{url}"


GETTERS: dict[str, Callable[[Mapping[str, Any], Evidence], Any]] = {
    "default_search_engine": _preference(
        "default_search_provider_data", "template_url_data", "short_name", default="Google"
    ),
    "profile_name": _preference("profile", "name"),
    "enable_do_not_track": _do_not_track,
    "data_delete_automacally": _deletes_on_exit,
    "chrome_font_size": _font_size,
    "bookmarks": _bookmarks,
    "chrome_appearance_mode_ui": _appearance,
    "active_url_from_accessTree": _active_url,
}
