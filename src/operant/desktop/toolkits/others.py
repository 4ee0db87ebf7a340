"""Toolkits that need no settings of ours, and those that have no accessibility."""

from __future__ import annotations

from operant.desktop.toolkits.base import Toolkit

__all__ = ["JAVA", "MOTIF", "PLAIN_X11", "SDL", "TK", "WX", "XT"]

_PIXELS = "it has no accessibility: agents see its pixels and windows only"

#: Draws through GTK 3, whose settings it takes.
WX = Toolkit(
    "wx",
    "wxWidgets",
    ("libwx_gtk3u_core", "libwx_baseu"),
    advice="lists and canvases that it draws itself have no widgets",
)
JAVA = Toolkit(
    "java", "Java", ("libjvm.so",), advice="install libatk-wrapper-java-jni, the accessibility bridge of Java"
)
TK = Toolkit("tk", "Tk", ("libtk8", "libtk9", "libtcl9tk"), accessible=False, advice=_PIXELS)
#: xterm, and with Xaw the programs of X11 itself.
XT = Toolkit(
    "xt",
    "Xt",
    ("libXt.so", "libXaw"),
    home={
        ".Xdefaults": "XTerm*cursorBlink: false\nXTerm*locale: true\nXTerm*utf8: 2\nXTerm*faceName: DejaVu Sans Mono\n"
        "XTerm*faceSize: 10\nXTerm*eightBitInput: true\nXTerm*multiClickTime: 100\n"
    },
    accessible=False,
    advice=_PIXELS,
)
MOTIF = Toolkit("motif", "Motif", ("libXm.so",), accessible=False, advice=_PIXELS)
SDL = Toolkit("sdl", "SDL", ("libSDL2", "libSDL3", "libSDL-1"), accessible=False, advice=_PIXELS)
PLAIN_X11 = Toolkit("x11", "X11", ("libX11.so", "libxcb.so"), accessible=False, advice=_PIXELS)
