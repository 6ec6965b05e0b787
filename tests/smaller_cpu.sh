#!/usr/bin/env bash
# tests/smaller_cpu.sh TARGET COMMAND…: runs COMMAND as if this machine had the smaller CPU of TARGET: opencl-cpu (AVX-512
# without dot products of bf16) or opencl-cpu-avx2 (no AVX-512). COMMAND and its children see a /proc/cpuinfo without the
# features that TARGET lacks; deplo recognises the CPU by this file. Needs Linux, and root or user namespaces. Exits with 77
# if it may not mount, or if this machine's CPU has no feature that TARGET lacks.
set -euo pipefail
case ${1-} in
  opencl-cpu) lacking='avx512_bf16' ;;
  opencl-cpu-avx2) lacking='avx512[a-z0-9_]*' ;;
  *) echo "smaller_cpu.sh: expected opencl-cpu or opencl-cpu-avx2 and a command, found '$*'" >&2; exit 2 ;;
esac
if ! grep -qE "^flags.* $lacking" /proc/cpuinfo; then
  echo "smaller_cpu.sh: the CPU here has nothing that $1 lacks" >&2
  exit 77
fi
shift
cpuinfo=$(mktemp)
trap 'rm -f "$cpuinfo"' EXIT
sed -E "/^flags/ s/ $lacking//g" /proc/cpuinfo >"$cpuinfo"
namespace=(unshare --mount)
[ "$(id -u)" = 0 ] || namespace=(unshare --mount --user --map-root-user)
if ! "${namespace[@]}" mount --bind "$cpuinfo" /proc/cpuinfo 2>/dev/null; then
  echo "smaller_cpu.sh: this user may not mount" >&2
  exit 77
fi
"${namespace[@]}" sh -c 'mount --bind "$0" /proc/cpuinfo && exec "$@"' "$cpuinfo" "$@"
