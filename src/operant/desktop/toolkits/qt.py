"""Qt 5 and 6. Their built-in KDE theme reads the blinking of carets from a file; the default theme has no setting for it."""

from __future__ import annotations

from operant.desktop.toolkits.base import Toolkit

__all__ = ["QT_5", "QT_6"]

_GLOBALS = """\
[General]
font=DejaVu Sans,10,-1,5,50,0,0,0,0,0
fixed=DejaVu Sans Mono,10,-1,5,50,0,0,0,0,0

[Icons]
Theme=Adwaita

[KDE]
AnimationDurationFactor=0
CursorBlinkRate=0
DoubleClickInterval=100
SingleClick=false
widgetStyle=Fusion
"""
#: VLC asks before its first window whether it may look up covers, says in a pop-up what plays next, and shows an error
#: where there is no sound card: sound goes to ALSA's device null, which takes it in real time.
_VLC = "qt-privacy-ask=0\nqt-notification=0\nmetadata-network-access=0\naout=alsa\nalsa-audio-device=null\n"
_ADVICE = "a program that draws its own widgets (QML without roles, OpenGL) has none to show: use its pixels"

QT_5 = Toolkit(
    "qt5",
    "Qt 5",
    ("libQt5Gui.so",),
    environment={
        "QT_ACCESSIBILITY": "1",
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        "QT_QPA_PLATFORMTHEME": "kde",
        "KDE_SESSION_VERSION": "5",
        # Sandboxes within this one would need user namespaces.
        "QTWEBENGINE_DISABLE_SANDBOX": "1",
    },
    home={".config/kdeglobals": _GLOBALS, ".config/vlc/vlcrc": _VLC},
    advice=_ADVICE,
)
#: Reads the same variables and the same file. Finds the accessibility bus by the service that ``inside/bus_locator.py``
#: offers.
QT_6 = Toolkit("qt6", "Qt 6", ("libQt6Gui.so",), advice=_ADVICE)
