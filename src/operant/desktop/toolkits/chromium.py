"""Chromium, and what is built on it (Electron)."""

from __future__ import annotations

from operant.desktop.toolkits.base import Toolkit

__all__ = ["CHROMIUM"]

#: Its own sandbox is made of system calls that are refused in a desktop. Pages show no widgets unless forced to.
_FLAGS = "--no-sandbox --test-type --force-renderer-accessibility --no-first-run --no-default-browser-check"
#: The launcher starts itself again with a pipe to DevTools (``desktop/inside/devtools_launcher.py``).
_LAUNCHER = "/run/operant/devtools_launcher.py"
_PIPE = f"""
if [ -z "$OPERANT_DEVTOOLS" ] && [ -r {_LAUNCHER} ] && [ -x /usr/bin/python3 ]; then
  exec /usr/bin/python3 -E -s -S -B {_LAUNCHER} "$0" "$@"
fi
if [ "$OPERANT_DEVTOOLS" = pipe ]; then CHROMIUM_FLAGS="$CHROMIUM_FLAGS --remote-debugging-pipe"; fi
unset OPERANT_DEVTOOLS
"""

CHROMIUM = Toolkit(
    "chromium",
    "Chromium",
    ("v8_context_snapshot", "chrome_100_percent.pak", "icudtl.dat"),
    environment={"ACCESSIBILITY_ENABLED": "1", "ELECTRON_DISABLE_SANDBOX": "1"},
    system={"/etc/chromium.d/default-flags": f'\nCHROMIUM_FLAGS="$CHROMIUM_FLAGS {_FLAGS}"\n{_PIPE}'},
    advice="start it with --force-renderer-accessibility",
)
