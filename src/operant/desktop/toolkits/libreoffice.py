"""LibreOffice: one file of its user profile. It draws through GTK 3, which also carries its accessibility."""

from __future__ import annotations

from xml.sax.saxutils import quoteattr

from operant.desktop.toolkits.base import Toolkit

__all__ = ["LIBREOFFICE"]

_FAR_FUTURE = str(2**31 - 1)  # seconds since 1970, at which it asked for the last time
#: (node, property, value) of its registry.
_REGISTRY = (
    ("/org.openoffice.Office.Common/Misc", "FirstRun", "false"),
    ("/org.openoffice.Office.Common/Misc", "ShowTipOfTheDay", "false"),
    ("/org.openoffice.Office.Common/Misc", "CrashReport", "false"),
    ("/org.openoffice.Office.Common/Help", "Tip", "false"),  # one would open where the pointer rests
    ("/org.openoffice.Office.Common/Save/Document", "WarnAlienFormat", "false"),
    ("/org.openoffice.Office.Common/Accessibility", "IsAllowAnimatedGraphics", "false"),
    ("/org.openoffice.Office.Common/Accessibility", "IsAllowAnimatedText", "false"),
    ("/org.openoffice.Setup/Product", "LastTimeGetInvolvedShown", _FAR_FUTURE),
    ("/org.openoffice.Setup/Product", "LastTimeDonateShown", _FAR_FUTURE),
    ("/org.openoffice.Setup/Product", "WhatsNew", "false"),
    ("/org.openoffice.Office.Recovery/AutoSave", "Enabled", "false"),
    ("/org.openoffice.Office.Impress/Misc/NewDoc", "AutoPilot", "false"),
    # A pipe inside the desktop, by which calls reach the instance that is seen (operant.calls).
    ("/org.openoffice.Setup/Office", "ooSetupConnectionURL", "pipe,name=operant;urp;"),
    (
        "/org.openoffice.Office.Jobs/Jobs/org.openoffice.Office.Jobs:Job['UpdateCheck']/Arguments",
        "AutoCheckEnabled",
        "false",
    ),
)


def _profile() -> str:
    items = "".join(
        f'<item oor:path={quoteattr(node)}><prop oor:name={quoteattr(name)} oor:op="fuse">'
        f"<value>{value}</value></prop></item>\n"
        for node, name, value in _REGISTRY
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<oor:items xmlns:oor="http://openoffice.org/2001/registry" '
        'xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">\n'
        f"{items}</oor:items>\n"
    )


LIBREOFFICE = Toolkit(
    "libreoffice",
    "LibreOffice",
    ("libvcllo.so", "libmergedlo.so"),
    environment={"SAL_USE_VCLPLUGIN": "gtk3"},
    home={".config/libreoffice/4/user/registrymodifications.xcu": _profile()},
    advice="install libreoffice-gtk3: only its GTK 3 interface shows widgets",
)
