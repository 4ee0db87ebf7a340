"""Applications by name: those that Operant knows, and those that other packages bring.

A package adds an application by an entry point of the group ``operant.apps`` (name -> ``module:APP``); a script names it
as ``module:APP``. An application's module is imported when it is asked for.
"""

from __future__ import annotations

import difflib

from operant.apps.base import App
from operant.config.entry_points import find, installed, load
from operant.config.imported import imported
from operant.errors import ConfigError, UnknownApplication

__all__ = ["BUILT_IN", "GROUP", "App", "app_names", "load_app"]

GROUP = "operant.apps"
FORM = "module:APP"

#: name -> where its ``App`` is
BUILT_IN: dict[str, str] = {
    "atril": "operant.apps.atril:APP",
    "chromium": "operant.apps.chromium:APP",
    "galculator": "operant.apps.galculator:APP",
    "gimp": "operant.apps.gimp:APP",
    "libreoffice-calc": "operant.apps.libreoffice.calc:APP",
    "libreoffice-impress": "operant.apps.libreoffice.impress:APP",
    "libreoffice-writer": "operant.apps.libreoffice.writer:APP",
    "lxappearance": "operant.apps.lxappearance:APP",
    "lxpanel": "operant.apps.lxpanel:APP",
    "mate-calc": "operant.apps.mate_calc:APP",
    "mousepad": "operant.apps.mousepad:APP",
    "openbox": "operant.apps.openbox:APP",
    "pcmanfm": "operant.apps.pcmanfm:APP",
    "ristretto": "operant.apps.ristretto:APP",
    "viewnior": "operant.apps.viewnior:APP",
    "vlc": "operant.apps.vlc:APP",
    "xarchiver": "operant.apps.xarchiver:APP",
    "xterm": "operant.apps.xterm:APP",
}


def app_names() -> list[str]:
    """All names that ``load_app`` takes, in alphabetical order."""
    return sorted(installed(GROUP, BUILT_IN))


def load_app(name: str) -> App:
    """The application of that name, or the one that ``module:APP`` names."""
    entry = find(name, GROUP, BUILT_IN)
    if entry is None and ":" not in name:
        near = difflib.get_close_matches(name, app_names(), 1)
        hint = f"did you mean {near[0]!r}?" if near else f"applications: {', '.join(app_names())}, or {FORM}"
        raise UnknownApplication(f"there is no application {name!r}", hint=hint)
    example = "my_package:APP"
    found = imported(name, form=FORM, example=example, here=True) if entry is None else load(entry, form=FORM)
    app = found() if isinstance(found, type) else found
    if not isinstance(app, App):
        raise ConfigError(f"{name!r} is a {type(app).__name__}, not an App", hint="see operant.apps.base.App")
    return app
