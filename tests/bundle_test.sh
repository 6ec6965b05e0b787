#!/usr/bin/env bash
# bundle_test.sh SOURCE BUILD: the bundle needs nothing but glibc, runs where it is copied to, and its gpu_check works, by
# the same steps on PoCL. Exit code 77: a tool is missing here.
set -euo pipefail
source=$1 build=$2
for tool in readelf ldd strip cmake awk timeout; do command -v $tool >/dev/null || { echo "no $tool"; exit 77; }; done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

"$source/scripts/bundle.sh" "$build" "$folder/made"
mv "$folder/made" "$folder/elsewhere"  # nothing in it may name where it was made
cd "$folder"
for file in elsewhere/bin/* elsewhere/lib/*; do
  while read -r library; do
    [[ $library =~ ^(lib(c|m|dl|rt|pthread|resolv)\.so|ld-linux) ]] || [ -e "elsewhere/lib/$library" ] ||
      fail "$file needs $library, which is not in lib/"
  done < <(readelf -d "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
done
for program in elsewhere/bin/*; do
  readelf -d "$program" | grep -q 'RPATH.*\[$ORIGIN/../lib\]' || fail "$program: expected the RPATH \$ORIGIN/../lib"
  strays=$(env -i /usr/bin/ldd "$program" | awk '$2 == "=>" { print $3 }' | grep -v "^$folder/elsewhere/" |
    grep -Ev '/lib(c|m|dl|rt|pthread|resolv)\.so' || true)
  [ -z "$strays" ] || fail "$program takes $strays from the system"
done
version=$(cd / && env -i "$folder/elsewhere/bin/deplo" --version) || fail "deplo does not start"
[[ $version == deplo* ]] || fail "found the version '$version'"
env -i elsewhere/bin/deplo compile -k softmax -s M=4 -s N=8 --ir loop | grep -q softmax || fail "no configs"

path=PATH=/usr/bin:/bin
code=0
env -i $path elsewhere/gpu_check --minutes 5 --device interpreter:7 --output no >out.txt 2>&1 || code=$?
[ $code = 2 ] && [ "$(wc -l <out.txt)" = 1 ] && [ ! -e no ] || fail "no device: code $code, $(cat out.txt)"
code=0
env -i $path elsewhere/gpu_check --minutes many >out.txt 2>&1 || code=$?
[ $code = 1 ] || fail "a wrong flag: code $code"

if grep -q '^opencl' <<<"$(env -i elsewhere/bin/deplo devices)"; then
  cat >tiny.yaml <<'YAML'
target: auto
device: opencl
search: {strategy: default, seed: 0}
budget: {time: 5, trials: 3, patience: 3}
kernels:
  - {kernel: softmax, symbols: {M: 5, N: 17}}
YAML
  SECONDS=0
  env -i $path HOME="$folder" elsewhere/gpu_check --minutes 0.3 --device opencl --suite tiny.yaml --output run ||
    fail "gpu_check on OpenCL: $(cat run/report.txt run/errors.txt)"
  [ -s run/gpu_check.db ] && grep -q '^softmax' run/report.txt || fail "gpu_check's report: $(cat run/report.txt)"
fi
echo "the bundle is whole"
