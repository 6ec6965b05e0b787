#!/usr/bin/env bash
# Installs the missing packages of scripts/packages.txt and of the arguments. Returns immediately if none is missing. Needs
# Debian or a relative of it, and root or sudo; otherwise it says what to install.
# With --cuda as the first argument it also installs NVRTC and nvdisasm from NVIDIA's wheels, for the tests that compile CUDA
# kernels and read their machine code. They go to build/cuda, where scripts/run_tests.sh finds them, and need no GPU.
set -euo pipefail

here=$(dirname "$(readlink -f "$0")")
cuda=
if [ "${1:-}" = --cuda ]; then
  cuda=$here/../build/cuda
  shift
  set -- python3-pip "$@"
fi
mapfile -t wanted < <(cat "$here/packages.txt"; printf '%s\n' "$@")

stop() {
  printf 'setup: %s. Install these packages (Debian 12 names), then run `make SETUP=: …`:\n' "$1" >&2
  printf '  %s\n' "${missing[*]}" >&2
  exit 1
}

missing=("${wanted[@]}")
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  stop "this is not a Debian-like distribution, so this script cannot install anything"
fi

# One query for all packages. It takes 15 ms if everything is installed.
installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  [[ -z $package || $'\n'$installed$'\n' == *$'\n'"installed $package"$'\n'* ]] || missing+=("$package")
done
wheels() {
  [ -n "$cuda" ] || return 0
  # The tests expect the texts of NVRTC 13.0. 13.2 is the first nvdisasm with its own wheel.
  local packages=(nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-nvdisasm==13.2.78)
  if [ "$(cat "$cuda/packages" 2>/dev/null)" = "${packages[*]}" ]; then return; fi
  echo "setup: ${packages[*]} (220 MB) into $(readlink -m "$cuda")"
  rm -rf "$cuda"
  mkdir -p "$cuda/bin"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$cuda/lib/python3/site-packages" "${packages[@]}"
  echo "${packages[*]}" >"$cuda/packages"
}
if [ ${#missing[@]} -eq 0 ]; then
  wheels
  exit
fi

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || stop "packages are missing, and this user may not install them (not root, no sudo)"
  as_root=(sudo)
  [ -t 0 ] || as_root=(sudo -n)  # without a terminal, nobody can type a password
  "${as_root[@]}" true || stop "packages are missing, and sudo refused"
fi

echo "setup: installing ${missing[*]}"
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@"
}
apt update || stop "apt-get update failed (no network?)"
# Installs one package after the other, so that each line says how many are left.
for number in "${!missing[@]}"; do
  echo "setup: $((number + 1)) of ${#missing[@]}: ${missing[number]}"
  apt install -y --no-install-recommends "${missing[number]}" >/dev/null ||
    stop "apt-get install ${missing[number]} failed"
done
wheels
