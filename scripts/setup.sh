#!/bin/sh
# Gives this machine what Operant needs: the system packages of requirements/apt.txt and a .venv with
# Operant in it. Changes nothing when nothing is missing, and then takes a fraction of a second.
#
# Settings, from the environment; those marked * are remembered in .venv for the next run:
#   PYTHON        the Python (3.10 or newer) that .venv is made of; default: the first that will do
#   EXTRAS      * extras of pyproject.toml to install; default: dev
#   TORCH       * a torch of your own (a pip requirement), instead of the one in constraints.txt
#   TORCH_INDEX * the package index to take it from
#   SKIP_APT=1    the system packages are there by other means: don't look for them
#   APT=desktops  only the packages that desktops need, not those of the tests

set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "setup: $*" >&2; }
fail() {
    printf '%s\n' "error: $1" >&2
    shift
    for line in "$@"; do printf '%s\n' "hint: $line" >&2; done
    exit 1
}

wanted_packages() {
    case "${APT:-all}" in
    all) cat requirements/apt.txt ;;
    desktops) sed '/^# Programs that tests/,$d' requirements/apt.txt ;;
    esac | sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d'
}

missing_packages() {
    # One query for all. A package that dpkg has never heard of is an error to it, and missing to us.
    # shellcheck disable=SC2046,SC2016
    installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $(wanted_packages) 2>/dev/null |
        sed -n 's/^installed //p') || true
    wanted_packages | while read -r package; do
        printf '%s\n' "$installed" | grep -qxF -e "$package" || printf '%s ' "$package"
    done
}

apt_get() {
    # Waits for another apt (a fresh Ubuntu updates itself) instead of failing.
    set -- env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0 \
        -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@"
    if [ "$(id -u)" -eq 0 ]; then
        "$@" >&2
    elif [ -t 0 ]; then
        sudo "$@" >&2
    else
        sudo -n "$@" >&2
    fi
}

install_packages() {
    [ "${SKIP_APT:-}" != 1 ] || return 0
    case "${APT:-all}" in
    all | desktops) ;;
    *) fail "APT=$APT is not a choice" "APT=desktops, or nothing for all packages" ;;
    esac
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        fail "this is neither Debian nor Ubuntu, so set-up can't install the system packages" \
            "install what Debian calls: $(wanted_packages | tr '\n' ' ')" \
            "then say SKIP_APT=1: make test SKIP_APT=1; \`.venv/bin/operant doctor\` tells what is still missing"
    fi
    missing=$(missing_packages)
    [ -n "$missing" ] || return 0
    command="sudo apt-get update && sudo apt-get install -y --no-install-recommends $missing"
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        fail "system packages are missing, and there is no sudo to install them with" \
            "as root: $(printf '%s' "$command" | sed 's/sudo //g')" \
            "or, if they are there by other means, set SKIP_APT=1"
    fi
    say "installing system packages: $missing"
    # A stale or unreachable mirror need not matter: what is known already may do.
    apt_get update || say "the package lists could not be brought up to date"
    # shellcheck disable=SC2086
    apt_get install -y --no-install-recommends $missing ||
        fail "apt-get could not install the system packages" \
            "try it by hand: $command" \
            "on Ubuntu some of them are in universe: sudo add-apt-repository universe"
}

# A Python will do if it is new enough and can make a virtual environment with pip in it.
python_will_do() {
    "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1
}

find_python() {
    if [ -n "${PYTHON:-}" ]; then
        python_will_do "$PYTHON" ||
            fail "PYTHON=$PYTHON will not do" "it must be Python 3.10 or newer with the venv module"
        printf '%s\n' "$PYTHON"
        return
    fi
    for python in python3 /usr/bin/python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
        if python_will_do "$python"; then
            printf '%s\n' "$python"
            return
        fi
    done
    fail "no Python 3.10 or newer with the venv module was found" \
        "Debian 12 and Ubuntu 22.04 bring one: sudo apt-get install -y python3 python3-venv" \
        "or name yours: make venv PYTHON=/path/to/python3"
}

remembered() { sed -n "s/^$1=//p" .venv/operant-choices 2>/dev/null || true; }

# Everything that decides what is in .venv. The directory is part of it: a .venv can't be moved.
fingerprint() {
    cat pyproject.toml requirements/constraints.txt scripts/setup.sh | cksum
    printf '%s\n' "$PWD" "$extras" "$torch" "$torch_index"
}

install_venv() {
    extras=${EXTRAS:-$(remembered EXTRAS)}
    extras=${extras:-dev}
    torch=${TORCH:-$(remembered TORCH)}
    torch_index=${TORCH_INDEX:-$(remembered TORCH_INDEX)}
    state=$(fingerprint)
    if [ -f .venv/operant-state ] && [ "$(cat .venv/operant-state)" = "$state" ] &&
        [ -x .venv/bin/python ] && { [ -z "${PYTHON:-}" ] || [ "$(remembered PYTHON)" = "$PYTHON" ]; }; then
        return 0
    fi

    if [ "$(remembered DIRECTORY)" != "$PWD" ] || ! python_will_do .venv/bin/python ||
        { [ -n "${PYTHON:-}" ] && [ "$(remembered PYTHON)" != "$PYTHON" ]; }; then
        python=$(find_python)
        say "making .venv with $("$python" --version)"
        rm -rf .venv
        "$python" -m venv .venv
    else
        python=$(remembered PYTHON)
    fi
    printf '%s\n' "DIRECTORY=$PWD" "PYTHON=$python" "EXTRAS=$extras" "TORCH=$torch" \
        "TORCH_INDEX=$torch_index" >.venv/operant-choices

    constraints=requirements/constraints.txt
    pip="env PIP_DISABLE_PIP_VERSION_CHECK=1 .venv/bin/python -m pip install -q"
    if [ -n "$torch" ]; then
        say "installing $torch"
        constraints=.venv/constraints.txt
        grep -v '^torch==' requirements/constraints.txt >$constraints
        $pip ${torch_index:+--index-url "$torch_index"} "$torch" ||
            fail "pip could not install $torch" "TORCH is a pip requirement, TORCH_INDEX a package index"
    fi
    say "installing Operant and its Python packages (.[$extras])"
    $pip -e ".[$extras]" -c $constraints ||
        fail "pip could not install Operant's Python packages" "is the package index reachable?"
    printf '%s\n' "$state" >.venv/operant-state
}

# PyAutoGUI, to compare with: in a .venv of its own, because it does not go together with what Operant
# uses on X11.
install_baseline() {
    [ -f .venv-bench/operant-state ] && return 0
    say "making .venv-bench with PyAutoGUI and mss, to compare with"
    rm -rf .venv-bench
    .venv/bin/python -m venv .venv-bench
    env PIP_DISABLE_PIP_VERSION_CHECK=1 .venv-bench/bin/python -m pip install -q pyautogui mss ||
        fail "pip could not install PyAutoGUI" "\`operant bench desktop\` also runs without it"
    touch .venv-bench/operant-state
}

install_packages
install_venv
if [ "${1:-}" = bench ]; then install_baseline; fi
