"""Applications by name: those that Operant knows, and those that other packages bring.

A package adds an application by an entry point of the group ``operant.apps`` (name -> ``module:APP``); a script names it
as ``module:APP``. An application's module is imported when it is asked for.
"""

from __future__ import annotations

import difflib
import importlib
from importlib.metadata import entry_points

from operant.apps.base import App
from operant.errors import UnknownApplication

__all__ = ["BUILT_IN", "GROUP", "App", "app_names", "load_app"]

GROUP = "operant.apps"

#: name -> where its ``App`` is
BUILT_IN: dict[str, str] = {
    "atril": "operant.apps.atril:APP",
    "chromium": "operant.apps.chromium:APP",
    "galculator": "operant.apps.galculator:APP",
    "lxappearance": "operant.apps.lxappearance:APP",
    "lxpanel": "operant.apps.lxpanel:APP",
    "mate-calc": "operant.apps.mate_calc:APP",
    "openbox": "operant.apps.openbox:APP",
    "ristretto": "operant.apps.ristretto:APP",
    "viewnior": "operant.apps.viewnior:APP",
    "xarchiver": "operant.apps.xarchiver:APP",
    "xterm": "operant.apps.xterm:APP",
}


def app_names() -> list[str]:
    """All names that ``load_app`` takes, in alphabetical order."""
    return sorted({*BUILT_IN, *(point.name for point in entry_points(group=GROUP))})


def load_app(name: str) -> App:
    """The application of that name, or the one that ``module:APP`` names."""
    place = BUILT_IN.get(name) or next((p.value for p in entry_points(group=GROUP) if p.name == name), None)
    if place is None and ":" in name:
        place = name
    if place is None:
        near = difflib.get_close_matches(name, app_names(), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"applications: {', '.join(app_names())}"
        raise UnknownApplication(f"there is no application {name!r}", hint=hint)
    module, _, attribute = place.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise UnknownApplication(f"the application {name!r} cannot be loaded: {error}") from error
    app = found() if isinstance(found, type) else found
    if not isinstance(app, App):
        raise UnknownApplication(f"{place} is a {type(app).__name__}, not an App")
    return app
