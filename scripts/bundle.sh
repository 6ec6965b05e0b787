#!/usr/bin/env bash
# bundle.sh BUILD FOLDER: copies the programs of a finished build to FOLDER, with every library that they are linked to
# except those of the kernel and of glibc. The folder runs on another Linux machine with the same processor architecture and
# glibc 2.36 or later. Libraries that are opened at run time (NVRTC, the CUDA driver, cuBLAS, oneDNN, OpenCL's drivers) are
# not included.
set -euo pipefail

build=$1
folder=$2
here=$(dirname "$(readlink -f "$0")")
[ ! -e "$folder" ] || [ -e "$folder/gpu_check" ] || { echo "bundle: expected no folder '$folder', or an older bundle" >&2; exit 1; }

rm -rf "$folder"
cmake --install "$build" --component programs --prefix "$folder" --strip >"$build/bundle.log"
mkdir -p "$folder/lib"
cp "$here/gpu_check" "$folder/gpu_check"
# The parts of glibc (and what the kernel adds) must come from the other machine.
ldd "$folder"/bin/* | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
  grep -Ev '/(lib(c|m|dl|rt|pthread|resolv)\.so|ld-linux)' | while read -r library; do cp -L "$library" "$folder/lib/"; done
megabytes=$(du -sm "$folder" | cut -f1)
[ "$megabytes" -lt 60 ] || { echo "bundle: expected less than 60 MB, found $megabytes MB in $folder" >&2; exit 1; }
echo "$folder: $megabytes MB; copy it to another machine and run $(basename "$folder")/gpu_check there, once for each stage"
