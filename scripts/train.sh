#!/bin/sh
# Trains the hierarchical agent. Settings, from the environment:
#   TOTAL_STEPS   environment steps of the whole run
#   DIFFICULTY    EASY, MEDIUM or HARD
#   DEVICE        cpu, cuda, cuda:1, mps or auto
# Everything else as flags: scripts/train.sh --curriculum --visualize; see `operant train hierarchical --help`.

set -eu
cd "$(dirname "$0")/.."

python=${PYTHON:-.venv/bin/python}
[ -x "$python" ] || python=python3

[ -z "${TOTAL_STEPS:-}" ] || set -- --total-timesteps "$TOTAL_STEPS" "$@"
[ -z "${DIFFICULTY:-}" ] || set -- --difficulty "$DIFFICULTY" "$@"
[ -z "${DEVICE:-}" ] || set -- --device "$DEVICE" "$@"
exec "$python" -m operant.train "$@"
