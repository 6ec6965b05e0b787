#!/usr/bin/env bash
# tests/compile_alone.sh SOURCE BUILD COUNT: compiles the COUNT sources and headers of the layers that commits changed most
# recently, each on its own, in the folder BUILD. The release preset compiles a room's files together
# (cmake/layers.cmake), where a file may accidentally use the includes and names of another.
set -euo pipefail
source=$1 build=$2 count=$3
layers='core|ir|rules|search|measure|engine|apps|library'
# Only the syntax is checked: no object is written, so nothing can be linked and no precompiled header can be used.
cmake -S "$source" -B "$build" -G Ninja --log-level=NOTICE -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-fsyntax-only \
  -DCMAKE_COMPILE_WARNING_AS_ERROR=ON -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_VERIFY_INTERFACE_HEADER_SETS=ON
build=$(readlink -f "$build")
outputs=()
while read -r file; do
  [ ${#outputs[@]} -lt "$count" ] || break
  [ -e "$source/$file" ] || continue
  if [[ $file =~ ^($layers)/.*\.cpp$ ]]; then
    outputs+=("$source/$file^")  # ninja's name for the output of this file
  elif [[ $file =~ ^($layers)/.*\.h$ ]] && [ -e "$build/${file%%/*}_verify_interface_header_sets/$file.cxx" ]; then
    outputs+=("$build/${file%%/*}_verify_interface_header_sets/$file.cxx^")
  fi
done < <(git -C "$source" log --name-only --format= | awk 'NF && !seen[$0]++')
echo "${#outputs[@]} files alone"
[ ${#outputs[@]} -eq 0 ] || NINJA_STATUS= ninja -C "$build" --quiet -k 0 "${outputs[@]}"
