#!/bin/sh
# Installs what a make target needs: the system packages of requirements/apt*.txt and a .venv with Operant in it.
# Changes nothing when nothing is missing, and then takes a fraction of a second.
#
# usage: sh scripts/setup.sh [all|demo|bench|docs|lock]
#   all    everything that the tests need (default)
#   demo   only what `make demo` needs
#   bench  like demo, and .venv-bench with PyAutoGUI to compare with
#   docs   like demo, and what builds the documentation
#   lock   all, then resolves the versions of requirements/lock.txt again
#
# Python packages are installed with uv: the one on PATH, or else one that pip installs into .venv. If uv fails,
# pip installs them. Versions are those of requirements/lock.txt with Python 3.11, for which it was resolved.
#
# Settings, from the environment; those marked * are remembered in .venv for the next run:
#   PYTHON        the Python (3.10 or newer) that .venv is made of; default: the first that will do
#   EXTRAS      * extras of pyproject.toml to install instead of those of the target
#   TORCH       * a torch of your own (a pip requirement), instead of the pinned one
#   TORCH_INDEX * the package index to take it from
#   SKIP_APT=1    the system packages are there by other means: don't look for them
#   APT=desktops  the system packages that desktops and all tasks need; APT=demo: only those of the demo
#   INSTALLER=pip do not use uv

set -eu
cd "$(dirname "$0")/.."
target=${1:-all}

say() { printf '%s\n' "setup: $*" >&2; }
fail() {
    printf '%s\n' "error: $1" >&2
    shift
    for line in "$@"; do printf '%s\n' "hint: $line" >&2; done
    exit 1
}

wanted_packages() {
    case "$apt" in
    all) cat requirements/apt.txt requirements/apt-office.txt ;;
    desktops) sed '/^# Programs that tests/,$d' requirements/apt.txt ;;
    demo) sed '/^# Applications of the tasks/,$d' requirements/apt.txt ;;
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
    case "$target" in
    all | lock) apt=${APT:-all} ;;
    *) apt=${APT:-demo} ;;
    esac
    case "$apt" in
    all | desktops | demo) ;;
    *) fail "APT=$apt is not a choice" "APT=desktops, APT=demo, or nothing for what the target needs" ;;
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

# Everything that decides what is in .venv, except the extras. The directory is part of it: a .venv can't be moved.
fingerprint() {
    cat pyproject.toml requirements/constraints.txt requirements/lock.txt scripts/setup.sh scripts/uv.sh | cksum
    printf '%s\n' "$PWD" "$torch" "$torch_index"
}

# Whether .venv has all of these extras (separated by commas). `dev` contains every other one but `docs`.
has_extras() {
    installed=,$(remembered INSTALLED),
    for extra in $(printf '%s' "$1" | tr ',' ' '); do
        case "$installed" in
        *",$extra,"*) ;;
        *,dev,*) [ "$extra" != docs ] || return 1 ;;
        *) return 1 ;;
        esac
    done
}

wanted_extras() {
    case "$target" in
    all | lock) printf '%s\n' "${chosen:-dev}" ;;
    docs) printf '%s\n' "learn,service,docs${chosen:+,$chosen}" ;;
    *) printf '%s\n' "learn${chosen:+,$chosen}" ;;
    esac
}

# Whether uv can be used; installs it into .venv if there is none.
have_uv() {
    [ "${INSTALLER:-uv}" = uv ] || return 1
    command -v uv >/dev/null || [ -x .venv/bin/uv ] || $pip uv
}

run_uv() { env PYTHON=.venv/bin/python sh scripts/uv.sh "$@"; }

# Installs with uv, or else with pip.
install() {
    if [ "$installer" = uv ]; then
        run_uv pip install -q --python .venv/bin/python --compile-bytecode "$@" && return 0
        say "uv failed; trying pip"
        installer=pip
    fi
    $pip "$@"
}

install_venv() {
    chosen=${EXTRAS:-$(remembered EXTRAS)}
    torch=${TORCH:-$(remembered TORCH)}
    torch_index=${TORCH_INDEX:-$(remembered TORCH_INDEX)}
    extras=$(wanted_extras)
    state=$(fingerprint)
    if [ -f .venv/operant-state ] && [ "$(cat .venv/operant-state)" = "$state" ] && has_extras "$extras" &&
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
        extras=$(printf '%s\n' "$extras,$(remembered INSTALLED)" | tr ',' '\n' | sed '/^$/d' | sort -u | paste -sd, -)
    fi
    rm -f .venv/operant-state
    printf '%s\n' "DIRECTORY=$PWD" "PYTHON=$python" "EXTRAS=$chosen" "TORCH=$torch" \
        "TORCH_INDEX=$torch_index" "INSTALLED=$extras" >.venv/operant-choices

    pip="env PIP_DISABLE_PIP_VERSION_CHECK=1 .venv/bin/python -m pip install -q"
    if have_uv; then installer=uv; else installer=pip; fi
    constraints=requirements/constraints.txt
    if .venv/bin/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then
        constraints=requirements/lock.txt
    fi
    if [ -n "$torch" ]; then
        say "installing $torch"
        grep -v '^torch==' $constraints >.venv/constraints.txt
        constraints=.venv/constraints.txt
        install ${torch_index:+--index-url "$torch_index"} "$torch" ||
            fail "$torch could not be installed" "TORCH is a pip requirement, TORCH_INDEX a package index"
    fi
    say "installing Operant and its Python packages (.[$extras]) with $installer"
    install -e ".[$extras]" -c $constraints ||
        fail "Operant's Python packages could not be installed" "is the package index reachable?"
    printf '%s\n' "$state" >.venv/operant-state
}

# Resolves requirements/lock.txt again. Local versions (2.13.0+cpu) become plain ones, which match every build.
lock() {
    pip="env PIP_DISABLE_PIP_VERSION_CHECK=1 .venv/bin/python -m pip install -q"
    have_uv || fail "uv could not be installed" "is the package index reachable?"
    run_uv pip compile -q --upgrade --python-version 3.11 --python-platform x86_64-manylinux_2_28 --all-extras \
        -c requirements/constraints.txt --no-header --no-annotate --no-emit-find-links --no-emit-index-url \
        pyproject.toml -o .venv/lock.txt >/dev/null || fail "uv could not resolve the versions"
    {
        echo "# Every Python package of every extra, resolved for Python 3.11 on Linux by \`make lock\`: do not edit."
        echo "# The CPU build of torch needs no other package; a build with CUDA brings its own, which are not listed."
        sed 's/+.*//' .venv/lock.txt
    } >requirements/lock.txt
    say "wrote requirements/lock.txt"
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

case "$target" in
all | demo | bench | docs | lock) ;;
*) fail "there is no target '$target'" "all, demo, bench, docs, lock" ;;
esac
install_packages
install_venv
case "$target" in
bench) install_baseline ;;
lock) lock ;;
esac
