"""GTK 2, 3 and 4: the same settings in two notations, and the switches that only one version has."""

from __future__ import annotations

from operant.desktop.toolkits.base import Toolkit

__all__ = ["GTK_2", "GTK_3", "GTK_4"]

_LOOK = {"gtk-icon-theme-name": "Adwaita", "gtk-font-name": "DejaVu Sans 10"}
#: A double click is two clicks within this time, in milliseconds: single clicks of agents never count as one.
_CLICKS = {"gtk-double-click-time": "100"}
_STILL = {"gtk-enable-animations": "0", "gtk-cursor-blink": "0"}
_SETTINGS = {**_STILL, "gtk-theme-name": "Adwaita", **_LOOK, "gtk-recent-files-enabled": "0", **_CLICKS}


def _ini(settings: dict[str, str]) -> str:
    return "[Settings]\n" + "".join(f"{name}={value}\n" for name, value in settings.items())


def _rc(settings: dict[str, str]) -> str:
    quoted = {name: value if value.isdigit() else f'"{value}"' for name, value in settings.items()}
    return "".join(f"{name}={value}\n" for name, value in quoted.items())


GTK_2 = Toolkit(
    "gtk2",
    "GTK 2",
    ("libgtk-x11-2.0.so",),
    # GTK 2 speaks AT-SPI only with these modules; GTK 3 does so by itself and passes over them.
    environment={"GTK_MODULES": "gail:atk-bridge"},
    home={".gtkrc-2.0": _rc({"gtk-cursor-blink": "0", **_LOOK, **_CLICKS})},
    advice="install libatk-adaptor and libgail-common, the accessibility modules of GTK 2",
)
GTK_3 = Toolkit(
    "gtk3",
    "GTK 3",
    ("libgtk-3.so",),
    environment={
        # Settings in a plain file under HOME instead of a database behind one more daemon.
        "GSETTINGS_BACKEND": "keyfile",
        "GIO_USE_VFS": "local",
        # GTK's own compose tables have 16 bits a key and take U+FF20 for the Compose key and U+FE58 for
        # an accent; without an input method every key gives just its character.
        "GTK_IM_MODULE": "gtk-im-context-none",
        "GTK_OVERLAY_SCROLLING": "0",
        # WebKit's sandbox would need user namespaces.
        "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1",
    },
    home={".config/gtk-3.0/settings.ini": _ini(_SETTINGS)},
    advice="unset NO_AT_BRIDGE for it; a drawing area of its own has no widgets, use its pixels",
)
GTK_4 = Toolkit(
    "gtk4",
    "GTK 4",
    ("libgtk-4.so",),
    # Where there is no OpenGL, its own choice of a renderer takes 1 to 2 s of every start.
    environment={"GSK_RENDERER": "cairo", "GTK_A11Y": "atspi"},
    home={".config/gtk-4.0/settings.ini": _ini(_SETTINGS)},
    advice="GTK 4 before 4.8 shows few widgets; a newer release of the program's toolkit shows more",
)
