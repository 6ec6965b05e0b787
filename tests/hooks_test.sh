#!/usr/bin/env bash
# hooks_test.sh SOURCE: tests the hooks of scripts/hooks in a temporary repository. Exit code 77: a tool is missing here.
set -euo pipefail
source=$1
for tool in git clang-format; do command -v $tool >/dev/null || { echo "no $tool"; exit 77; }; done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
cd "$folder"
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE
git init -q .
git config core.hooksPath "$source/scripts/hooks"
cp "$source/.clang-format" .
commit() { git commit -q "$@" >out.txt 2>&1; }

# A staged file is formatted, in the commit and in the folder. Other files are unchanged.
printf 'int  f( ) {return 1;}\n' >"a file.cpp"
printf 'int  g( ) {return 1;}\n' >other.cpp
git add "a file.cpp" .clang-format
commit -m "Add f" || fail "$(cat out.txt)"
[ "$(git show "HEAD:a file.cpp")" = "int f() { return 1; }" ] || fail "committed: $(git show "HEAD:a file.cpp")"
[ "$(cat "a file.cpp")" = "int f() { return 1; }" ] || fail "in the folder: $(cat "a file.cpp")"
[ "$(cat other.cpp)" = "int  g( ) {return 1;}" ] || fail "a file that was not staged was changed"

# If a file is staged in part, only the staged part is committed.
printf 'int f() { return 1; }\nint  h( );\n' >"a file.cpp"
git add "a file.cpp"
printf 'int f() { return 1; }\nint  h( );\nint  later( );\n' >"a file.cpp"
commit -m "Declare h" || fail "$(cat out.txt)"
[ "$(git show "HEAD:a file.cpp" | tail -n 1)" = "int h();" ] || fail "committed: $(git show "HEAD:a file.cpp")"
[ "$(tail -n 1 "a file.cpp")" = "int later();" ] || fail "what was not staged is lost: $(cat "a file.cpp")"

# `git commit FILE` is refused if the file would have to be formatted, and passes otherwise.
git add other.cpp
commit -m "Add g" other.cpp && fail "other.cpp was committed as it was"
grep -q 'expected other.cpp as `make format` leaves it' out.txt || fail "$(cat out.txt)"
clang-format -i other.cpp
commit -m "Add g" other.cpp || fail "$(cat out.txt)"
[ -z "$(git diff --cached)" ] || fail "something is still staged: $(git diff --cached)"

# Subjects.
longest=$(printf 'ä%.0s' {1..72})
commit --allow-empty -m "$longest" || fail "72 characters: $(cat out.txt)"
commit --allow-empty -m "${longest}x" && fail "73 characters were accepted"
grep -q 'at most 72 characters, found 73' out.txt || fail "$(cat out.txt)"
commit --allow-empty -m "fixup! $longest" || fail "fixup!: $(cat out.txt)"
printf 'Subject\nmore\n' | commit --allow-empty -F - && fail "a second line that is not empty was accepted"
printf 'Subject\n\nmore\n' | commit --allow-empty -F - || fail "a body: $(cat out.txt)"
echo "the hooks work"
