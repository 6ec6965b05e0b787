#!/usr/bin/env bash
# install_test.sh SOURCE BUILD: checks that an installation works after its prefix is moved: the programs, and the library in
# a separate project (examples/library), whose output is checked. Exit code 77: a tool is missing here.
set -euo pipefail
source=$1 build=$2
for tool in cmake c++ nm awk; do command -v $tool >/dev/null || { echo "no $tool"; exit 77; }; done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }

cmake --install "$build" --prefix "$folder/made" >"$folder/install.txt" || fail "$(cat "$folder/install.txt")"
prefix=$folder/elsewhere
mv "$folder/made" "$prefix"  # no file may name the folder where it was made
cd "$folder"
home=$folder/home
mkdir "$home"
clean="env -i PATH=/usr/bin:/bin HOME=$home"

# Each header compiles alone, in the oldest C++ that the library requires, with every compiler of this machine.
for compiler in c++ clang++; do
  command -v $compiler >/dev/null || continue
  for header in "$prefix"/include/deplo/*.h; do
    echo "#include <deplo/$(basename "$header")>" >alone.cpp
    $compiler -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only -I"$prefix/include" alone.cpp ||
      fail "$compiler: $header needs more than itself"
  done
done

# Only names that the headers declare are visible.
library=$(echo "$prefix"/lib*/libdeplo.so)
[ -e "$library" ] || library=$(echo "$prefix"/lib/*/libdeplo.so)
nm -D --defined-only -C "$library" | awk '{ $1 = $2 = ""; print }' | sed 's/^ *//; s/@.*//; s/(.*//; s/\[.*//' | sort -u >visible.txt
printf '%s\n' deplo::compile deplo::default_store deplo::devices deplo::tune | diff - visible.txt ||
  fail "libdeplo.so shows other names than those of its headers"

# The programs run from the prefix alone.
version=$($clean "$prefix/bin/deplo" --version) || fail "deplo does not start"
grep -qF "set(PACKAGE_VERSION \"$(cut -d' ' -f2 <<<"$version")\")" "$(find "$prefix" -name deploConfigVersion.cmake)" ||
  fail "the package has another version than the program: $version"
$clean "$prefix/bin/deplo" compile -k softmax -s M=4 -s N=8 --ir loop >loop.txt && grep -q softmax loop.txt || fail "no configs"
cat >tiny.yaml <<'YAML'
device: interpreter
budget: {time: 5, trials: 2, patience: 2}
kernels:
  - {kernel: softmax, symbols: {M: 5, N: 17}}
YAML
$clean "$prefix/bin/deplo-tune" --config tiny.yaml --store tiny.db --quiet >tuned.txt || fail "deplo-tune: $(cat tuned.txt)"
$clean "$prefix/bin/deplo" db best tiny.db >best.txt && grep -q softmax best.txt || fail "deplo-tune stored nothing"

# No tests are installed, and experiments do not name files that are missing.
[ -z "$(find "$prefix" -name 'test*')" ] || fail "tests are installed: $(find "$prefix" -name 'test*')"
grep -o 'tile: [^ ]*' "$prefix/share/deplo/experiments/tile_programs.yaml" | while read -r _ program; do
  [ -s "$prefix/share/deplo/experiments/$program" ] || fail "no $program"
done

# Completions and man pages are where shells and man look for them.
for file in bash-completion/completions/deplo{,-tune} fish/vendor_completions.d/deplo{,-tune}.fish \
  zsh/site-functions/_deplo man/man1/deplo{,-tune,-db-best}.1 doc/deplo/LICENSE; do
  [ -s "$prefix/share/$file" ] || fail "no share/$file"
done
grep -rqF -e "$HOME/" -e "$build" -e "$folder" "$prefix/share/man" && fail "man pages name folders of this machine"

# pkg-config and CMake find the library.
if command -v pkg-config >/dev/null; then
  printf '#include <deplo/deplo.h>\nint main() { return deplo::default_store().empty(); }\n' >small.cpp
  flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name deplo.pc)") pkg-config --cflags --libs deplo) || fail "no deplo.pc"
  # shellcheck disable=SC2086
  c++ -std=c++17 small.cpp $flags -Wl,-rpath,"$(dirname "$library")" -o small && $clean ./small || fail "pkg-config: $flags"
fi
cmake -S "$source/examples/library" -B example -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release >cmake.txt 2>&1 &&
  cmake --build example >>cmake.txt 2>&1 || fail "the example does not build: $(tail -20 cmake.txt)"
if ! grep -q "^opencl" <<<"$($clean "$prefix/bin/deplo" devices)"; then
  echo "no OpenCL device: the example was built, not run"
  exit 77
fi
run() { $clean example/example "$@" >out.txt 2>err.txt; }
run stopped.db 2 || fail "the example, stopped: $(cat out.txt err.txt)"
[ "$(grep -c '^trial ' out.txt)" = 2 ] && grep -q 'stopped: cancelled' out.txt || fail "false did not stop it: $(cat out.txt)"
run tuned.db || fail "the example: $(cat out.txt err.txt)"
kernels=$(grep -c '^kernel ' out.txt)
[ "$kernels" -ge 1 ] && [ "$(grep -c '^kernel .*: tuned, ' out.txt)" = "$kernels" ] ||
  fail "expected every schedule from the store: $(cat out.txt)"
[ "$(grep -c ', confirmed, stopped: ' out.txt)" = "$kernels" ] || fail "expected every kernel confirmed: $(cat out.txt)"
[ -z "$(ls -A "$home" | grep -v '^.cache$')" ] || fail "the library wrote to the home folder: $(ls -A "$home")"

# Random graphs run through the installed library, with its callers' tensor layouts.
tests=$build/bin/test_library
if [ -x "$tests" ]; then
  LD_PRELOAD=$library ldd "$tests" | grep -qF "=> $build/lib" && fail "the tests take the library of the build folder"
  LD_PRELOAD=$library "$tests" --gtest_filter='Contract.*' >contract.txt 2>&1 || fail "$(tail -20 contract.txt)"
fi

# Without its program, the library reports that and does not end the process.
mv "$prefix/bin" "$prefix/away"
code=0
run other.db || code=$?
[ $code = 1 ] && [ "$(wc -l <err.txt)" = 1 ] && grep -q 'bin/deplo' err.txt || fail "no worker: code $code, $(cat err.txt)"
echo "the installed programs and library work"
