#!/bin/bash
# `pkill` and `killall` with the names that programs have on OSWorld's machines.
name=${0##*/}
chrome=chromium
[ "$name" = pkill ] && chrome='chrom(e|ium)'
words=()
for word in "$@"; do
    case "$word" in
        chrome | google-chrome | google-chrome-stable | chromium-browser) word=$chrome ;;
        gnome-terminal | gnome-terminal-server) word=xterm ;;
        gedit) word=mousepad ;;
    esac
    words+=("$word")
done
exec "/usr/bin/$name" "${words[@]}"
