#!/bin/sh
# Starts the service, installing what is missing first. Arguments go on to `operant serve`:
#   bash scripts/run_api.sh --desktops 4
set -eu
cd "$(dirname "$0")/.."
sh scripts/setup.sh
exec .venv/bin/operant serve "$@"
