#!/usr/bin/env bash
# version_test.sh SOURCE VERSION: checks the text of cmake/revision.cmake for a clean checkout, for a modified one, and for
# sources without their own repository. Also checks that CHANGELOG.md begins with this version. Exit code 77: a tool is
# missing here.
set -euo pipefail
source=$1 version=$2
for tool in git cmake; do command -v $tool >/dev/null || { echo "no $tool"; exit 77; }; done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
git="git -c user.name=a -c user.email=a@b"

says() {  # FOLDER FUNCTION
  cmake -DSOURCE="$1" -DVERSION="$version" -DFILE="$folder/revision.cpp" -P "$source/cmake/revision.cmake"
  sed -n "s/.* deplo::engine::$2() { return \"\(.*\)\"; }/\1/p" "$folder/revision.cpp"
}
expect() { [ "$1" = "$2" ] || fail "expected '$2', found '$1'"; }

mkdir -p "$folder/checkout/tarball"
cd "$folder/checkout"
git init -q .
touch file
git add file
$git commit -q -m "A file"
$git tag v0.0.1  # a tag does not determine the version
commit=$(git rev-parse --short HEAD)
expect "$(says "$PWD" version)" "$version ($commit)"
expect "$(says "$PWD" revision)" "$commit"
before=$(stat -c %Y.%i "$folder/revision.cpp")
sleep 1.1
says "$PWD" version >/dev/null
expect "$(stat -c %Y.%i "$folder/revision.cpp")" "$before"  # an unchanged file is not compiled again
echo more >file
expect "$(says "$PWD" version)" "$version ($commit, modified)"
expect "$(says "$PWD" revision)" "$commit-dirty"
expect "$(says "$PWD/tarball" version)" "$version"  # not the commit of the repository around it
expect "$(says "$PWD/tarball" revision)" "v$version"

newest=$(grep -m1 '^## ' "$source/CHANGELOG.md")
[[ $newest == "## [$version] "* ]] || fail "CHANGELOG.md: expected $version first, found '$newest'"
echo "the version is right"
