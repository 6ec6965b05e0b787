#!/usr/bin/env bash
# Installs what scripts/packages.txt names (and the packages given as arguments) where it is missing; does nothing, at
# once, where all of it is there. Needs Debian or a relative of it, and root or sudo; else it says what to install.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
mapfile -t wanted < <(cat "$here/packages.txt"; printf '%s\n' "$@")

stop() {
  printf 'setup: %s. Install these packages (Debian 12 names), then run `make SETUP=: …`:\n' "$1" >&2
  printf '  %s\n' "${missing[*]}" >&2
  exit 1
}

missing=("${wanted[@]}")
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  stop "this is no Debian-like distribution, so nothing can be installed from here"
fi

# One query for all of them: 15 ms where everything is installed.
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  [[ -z $package || $'\n'$installed$'\n' == *$'\n'"installed $package"$'\n'* ]] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || stop "packages are missing, and there is no right to install (not root, no sudo)"
  as_root=(sudo)
  [ -t 0 ] || as_root=(sudo -n)  # without a terminal nobody can type a password
  "${as_root[@]}" true || stop "packages are missing, and sudo refused"
fi

echo "setup: installing ${missing[*]}"
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@"
}
apt update || stop "apt-get update failed (no network?)"
# One after the other, so that each line says how many are left.
for number in "${!missing[@]}"; do
  echo "setup: $((number + 1)) of ${#missing[@]}: ${missing[number]}"
  apt install -y --no-install-recommends "${missing[number]}" >/dev/null ||
    stop "apt-get install ${missing[number]} failed"
done
