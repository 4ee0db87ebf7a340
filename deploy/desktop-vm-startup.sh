#!/bin/sh
# Start-up script of a virtual machine that serves desktops to other machines (docs/deploy.md). Debian 12 or Ubuntu 22.04 and
# newer, as root. It may run at every boot: what is installed already stays, the token too.
#   Google Cloud: gcloud compute instances create ... --metadata-from-file startup-script=deploy/desktop-vm-startup.sh \
#                   --metadata operant-source=...,operant-token=...
#   AWS:          user data = the settings below as lines of sh, then this file
#
# Settings, from the environment or (Google Cloud) the instance's metadata as operant-source, operant-token ...:
#   OPERANT_SOURCE    where Operant comes from: a git URL, the URL or path of a .tar.gz of this repository, or a directory
#   OPERANT_TOKEN     what clients must show, at least 16 characters; default: one is made, see /etc/operant/desktop.env
#   OPERANT_DESKTOPS  desktops to keep ready; default: two per processor
#   OPERANT_PORT      default: 8765
#   OPERANT_HOST      address to listen on; default: 0.0.0.0
#   OPERANT_PROTOCOL  operant (default), or ui-rl for clients of UI-RL
set -eu
umask 022

HOME_DIRECTORY=/opt/operant
SETTINGS=/etc/operant/desktop.env
UNIT=/etc/systemd/system/operant-desktops.service

say() { printf '%s\n' "operant: $*" >&2; }
fail() {
    printf '%s\n' "error: $1" "hint: $2" >&2
    exit 1
}

# A setting: the environment, then the metadata of Google Cloud, then what was chosen at the last boot, then the default.
setting() {
    variable=$1
    attribute=$(printf '%s' "$variable" | tr 'A-Z_' 'a-z-')
    eval "value=\${$variable:-}"
    if [ -z "$value" ] && [ "$on_google" = 1 ]; then
        value=$(metadata "attributes/$attribute" || true)
    fi
    if [ -z "$value" ] && [ -f "$SETTINGS" ]; then
        value=$(sed -n -e "s/^$variable=//p" -e "s/^${variable#OPERANT_}=//p" "$SETTINGS")
    fi
    value=${value:-$2}
    case $value in
    *[!A-Za-z0-9._:/@+~-]*) fail "$variable has characters that a settings file can't hold" "letters, digits and . _ : / @ + ~ -" ;;
    esac
    eval "$variable=\$value"
}

metadata() {
    curl -fsS --max-time 2 -H 'Metadata-Flavor: Google' "http://metadata.google.internal/computeMetadata/v1/instance/$1" 2>/dev/null
}

apt_get() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 "$@"
}

fetch_source() {
    [ ! -e "$HOME_DIRECTORY/pyproject.toml" ] || return 0
    say "fetching $OPERANT_SOURCE"
    mkdir -p "$HOME_DIRECTORY"
    case $OPERANT_SOURCE in
    http*.tar.gz) curl -fsSL "$OPERANT_SOURCE" | tar -xz -C "$HOME_DIRECTORY" ;;
    *.tar.gz) tar -xzf "$OPERANT_SOURCE" -C "$HOME_DIRECTORY" ;;
    *.git) git clone -q --depth 1 "$OPERANT_SOURCE" "$HOME_DIRECTORY" ;;
    *) cp -R "$OPERANT_SOURCE/." "$HOME_DIRECTORY" ;;
    esac
    [ -e "$HOME_DIRECTORY/pyproject.toml" ] || fail "$OPERANT_SOURCE has no pyproject.toml at its top" "git archive --format=tar.gz -o operant.tar.gz HEAD"
}

allow_user_namespaces() { # what bubblewrap needs; see docs/sandbox.md
    : >/etc/sysctl.d/60-operant.conf
    for pair in kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0; do
        if [ -e "/proc/sys/$(printf '%s' "${pair%=*}" | tr . /)" ]; then
            printf '%s\n' "$pair" >>/etc/sysctl.d/60-operant.conf
            sysctl -q -w "$pair" || say "could not set $pair"
        fi
    done
}

# Operant refuses variables OPERANT_* that it does not know, so those that are only of this script have no prefix there.
write_settings() {
    mkdir -p "${SETTINGS%/*}"
    (
        umask 077
        printf '%s\n' "OPERANT_TOKEN=$OPERANT_TOKEN" "OPERANT_DESKTOPS=$OPERANT_DESKTOPS" "OPERANT_PORT=$OPERANT_PORT" \
            "OPERANT_HOST=$OPERANT_HOST" "PROTOCOL=$OPERANT_PROTOCOL" >"$SETTINGS"
    )
}

write_unit() {
    cat >"$UNIT" <<END
[Unit]
Description=Operant desktops for other machines
Documentation=file://$HOME_DIRECTORY/docs/deploy.md
Wants=network-online.target
After=network-online.target

[Service]
User=operant
WorkingDirectory=/var/lib/operant
# systemd reads it as root; the user that desktops run as can't.
EnvironmentFile=$SETTINGS
ExecStart=$HOME_DIRECTORY/.venv/bin/operant desktop serve --host \${OPERANT_HOST} --port \${OPERANT_PORT} --desktops \${OPERANT_DESKTOPS} --protocol \${PROTOCOL}
Restart=always
RestartSec=2
TimeoutStopSec=30
# Programs of a desktop that was given the network must not read the metadata, where the token may be. On Google Cloud the same
# address resolves names, which serving desktops does not need.
IPAddressDeny=169.254.169.254
NoNewPrivileges=yes
ProtectHome=yes
LimitNOFILE=65536
TasksMax=infinity

[Install]
WantedBy=multi-user.target
END
}

[ "$(id -u)" -eq 0 ] || fail "this script has to be run as root" "sudo sh $0"
apt_get update || say "the package lists could not be brought up to date"
apt_get install -y --no-install-recommends ca-certificates curl git openssl procps

on_google=0
if metadata id >/dev/null; then on_google=1; fi
setting OPERANT_SOURCE ""
setting OPERANT_TOKEN "$(openssl rand -hex 24)"
setting OPERANT_DESKTOPS $((2 * $(nproc)))
setting OPERANT_PORT 8765
setting OPERANT_HOST 0.0.0.0
setting OPERANT_PROTOCOL operant
[ -n "$OPERANT_SOURCE" ] || [ -e "$HOME_DIRECTORY/pyproject.toml" ] ||
    fail "nobody said where Operant comes from" "OPERANT_SOURCE, or the metadata operant-source: a git URL or a .tar.gz"
[ ${#OPERANT_TOKEN} -ge 16 ] || fail "the token has ${#OPERANT_TOKEN} characters" "openssl rand -hex 24"

fetch_source
allow_user_namespaces
id operant >/dev/null 2>&1 || useradd --system --create-home --home-dir /var/lib/operant --shell /usr/sbin/nologin operant
say "installing what desktops are made of"
APT=desktops EXTRAS=service sh "$HOME_DIRECTORY/scripts/setup.sh"
write_settings
write_unit
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl enable operant-desktops.service
    systemctl restart operant-desktops.service
    say "serving $OPERANT_DESKTOPS desktops on port $OPERANT_PORT"
else
    say "systemd does not run here; start it by hand: see ExecStart in $UNIT"
fi
