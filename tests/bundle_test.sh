#!/usr/bin/env bash
# bundle_test.sh SOURCE BUILD: checks that the bundle needs only glibc, that it runs after it was copied to another folder,
# and that the four stages of its gpu_check work, with the same steps on PoCL. Exit code 77: a tool is missing here.
set -euo pipefail
source=$1 build=$2
for tool in readelf ldd strip cmake awk timeout; do command -v $tool >/dev/null || { echo "no $tool"; exit 77; }; done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

"$source/scripts/bundle.sh" "$build" "$folder/made"
mv "$folder/made" "$folder/elsewhere"  # no file may name the folder where it was made
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
code=0
env -i $path elsewhere/gpu_check warm-up >out.txt 2>&1 || code=$?
[ $code = 1 ] && grep -q 'expected a stage (correctness counters tune bench)' out.txt || fail "a wrong stage: code $code"

# check STAGE: the stage is right, and the page of results has its findings. Runs again if a busy machine exceeds the time.
check() {
  for minutes in 0.5 1 2 4; do
    code=0
    env -i $path HOME="$folder" elsewhere/gpu_check $3 --minutes $minutes --device opencl --suite tiny.yaml \
      --tiles tiles.yaml --output run 2>out.txt || code=$?
    [ $code = 3 ] || break
  done
  [ $code = 0 ] || fail "gpu_check, $1, code $code: $(cat out.txt run/results.txt run/errors.txt)"
  grep -q "$2" run/results.txt || fail "gpu_check, $1: $(cat run/results.txt)"
}

if grep -q '^opencl' <<<"$(env -i elsewhere/bin/deplo devices)"; then
  cat >tiny.yaml <<'YAML'
target: auto
device: opencl
search: {strategy: default, seed: 0}
budget: {time: 5, trials: 3, patience: 3}
kernels:
  - {kernel: softmax, symbols: {M: 5, N: 17}}
  - {name: product, expression: "torch.randn(5, 17) @ torch.randn(17, 64)"}
YAML
  data=$folder/elsewhere/share/deplo/experiments/tile/exported
  echo "kernels: [{tile: $data/softmax.tileirbc, arguments: ['x=f32[5,16]', 'y=f32[5,16]'], grid: 5}]" >tiles.yaml
  check correctness '^  correctness  right [0-9]* kernels, [0-9]* schedules' correctness
  grep -q '^VERDICT: no mistake so far: 1 of 4 stages' run/results.txt || fail "$(head -n 9 run/results.txt)"
  for program in locked_sum scatter_add cumulative_softmax; do
    grep -q "^$program block by block: " run/results.txt || fail "$program: $(cat run/results.txt)"
  done
  check counters '^left out: there is none here, or none for this device' ''
  grep -q '^5 rmsnorm\|model µs' run/results.txt || fail "no time of the model: $(cat run/results.txt)"
  check tune '^\$ bin/deplo tune .*--config tiny.yaml' ''
  check bench '^VERDICT: deplo works on this device: all four stages are right' ''
  grep -q '^0 *softmax .* none: no library has this kernel' run/results.txt ||
    fail "no tile program: $(cat run/results.txt)"
  [ -s run/gpu_check.db ] && tar -tzf run.tar.gz run/gpu_check.db >out.txt || fail "nothing to send back"
  code=0
  env -i $path HOME="$folder" elsewhere/gpu_check --device opencl --output run 2>out.txt || code=$?
  [ $code = 1 ] && grep -q 'all stages are done' out.txt || fail "after all: code $code, $(cat out.txt)"
  # A kernel without finite results is reported, even if everything else is right.
  echo 'kernels: [{name: bad, expression: "torch.log(torch.rand(100) - 2)"}]' >bad.yaml
  for minutes in 0.2 1 2; do
    code=0
    env -i $path HOME="$folder" elsewhere/gpu_check --minutes $minutes --device opencl --suite bad.yaml \
      --tiles tiles.yaml --output bad 2>out.txt || code=$?
    [ $code = 3 ] || break
  done
  [ $code = 1 ] && grep -q '^VERDICT: SOMETHING IS WRONG: see correctness' bad/results.txt || fail "a bad kernel: code $code"
fi
echo "the bundle is whole"
