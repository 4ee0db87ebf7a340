#!/bin/sh
# OSWorld's task files start `google-chrome` and read its profile below ~/.config/google-chrome.
for real in /opt/google/chrome/google-chrome /usr/bin/google-chrome-stable; do
    [ -x "$real" ] && exec "$real" "$@"
done
exec /usr/bin/chromium --user-data-dir="$HOME/.config/google-chrome" "$@"
