#!/bin/bash
# xterm with the options of `gnome-terminal` that task files use.
[ -x /usr/bin/gnome-terminal ] && exec /usr/bin/gnome-terminal "$@"
options=()
while [ $# -gt 0 ]; do
    case "$1" in
        --maximize) options+=(-maximized) ;;
        --full-screen) options+=(-fullscreen) ;;
        --working-directory=*) cd "${1#*=}" || exit 1 ;;
        --title=*) options+=(-T "${1#*=}") ;;
        --geometry=*) options+=(-geometry "${1#*=}") ;;
        -- | -e | -x) shift; exec xterm "${options[@]}" -e "$@" ;;
        *) echo "gnome-terminal is xterm here, which does not know $1" >&2; exit 2 ;;
    esac
    shift
done
exec xterm "${options[@]}"
