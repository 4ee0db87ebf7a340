#!/bin/sh
# OSWorld's task files and controllers call `python`. Debian has python3 only.
exec /usr/bin/python3 "$@"
