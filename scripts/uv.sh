#!/bin/sh
# Runs uv with the package indexes that pip is configured with, which uv does not read by itself.
#
# usage: PYTHON=.venv/bin/python sh scripts/uv.sh pip install ...
#
# uv is the one on PATH, or else the one beside PYTHON. Variables of uv that are set already stay as they are.

set -eu
python=${PYTHON:-.venv/bin/python}
uv=$(command -v uv || printf '%s\n' "$(dirname "$python")/uv")
settings=$("$python" -m pip config list 2>/dev/null || true)

# One setting of pip: from the environment, or else from its configuration files.
setting() {
    for section in ':env:' install global; do
        value=$(printf '%s\n' "$settings" | sed -n "s/^$section\.$1='\(.*\)'\$/\1/p" | sed 's/\\n/ /g')
        if [ -n "$value" ]; then
            printf '%s\n' "$value"
            return
        fi
    done
}

index=$(setting index-url)
more=$(setting extra-index-url)
links=$(setting find-links | sed -e 's/^ *//' -e 's/ *$//' -e 's/  */,/g')
certificates=$(setting cert)
[ -z "$index" ] || export UV_DEFAULT_INDEX="${UV_DEFAULT_INDEX:-$index}"
# pip takes the best version from any index; uv would take the first index that knows the package.
[ -z "$more" ] || export UV_INDEX="${UV_INDEX:-$more}" UV_INDEX_STRATEGY="${UV_INDEX_STRATEGY:-unsafe-best-match}"
[ -z "$links" ] || export UV_FIND_LINKS="${UV_FIND_LINKS:-$links}"
[ -z "$certificates" ] || export SSL_CERT_FILE="${SSL_CERT_FILE:-$certificates}"
export UV_HTTP_TIMEOUT="${UV_HTTP_TIMEOUT:-180}"
exec "$uv" "$@"
