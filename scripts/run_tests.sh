#!/usr/bin/env bash
# scripts/run_tests.sh BUILD FLAG…: runs ctest with these flags, then says how many tests were skipped, and why, and how
# each failed test ended. The file BUILD/Testing/Temporary/failures.txt has the failures, too.
set -euo pipefail
build=$1; shift
logs=$build/Testing/Temporary
cuda=$(readlink -m "$build/../cuda/bin")  # from scripts/setup.sh --cuda
[ ! -d "$cuda" ] || PATH=$cuda:$PATH
rm -f "$logs/LastTestsDisabled.log"  # of an earlier run
status=0
# One test more than cores, because some wait for locks and deadlines. With more than 8, tests that measure would only
# disturb each other.
jobs=$(($(nproc) < 8 ? $(nproc) + 1 : 8))
ctest --parallel "$jobs" "$@" || status=$?
[ -f "$logs/LastTestsDisabled.log" ] || : >"$logs/LastTestsDisabled.log"
# ctest lists skipped and disabled tests without reasons. A GoogleTest test prints "FILE:LINE: Skipped" and the reason on the
# next line. The last line of a script is its reason. A disabled test has no output.
awk '
  FILENAME == ARGV[1] { sub(/^[0-9]+:/, ""); listed[$0]; next }
  /^[0-9]+\/[0-9]+ Testing: / { name = $0; sub(/^[^:]*: /, "", name); reason = ""; last = "" }
  last ~ /: Skipped$/ && reason == "" { reason = $0 }
  /^<end of output>$/ && reason == "" && last !~ /^-+$/ { reason = last }
  /^<end of output>$/ && name in listed && reason != "" { ++count[reason]; ++skipped }
  { last = $0 }
  END {
    printf "%d skipped%s\n", skipped, (skipped > 0 ? ":" : "")
    for (reason in count) printf "  %4d  %s\n", count[reason], reason
  }' "$logs/LastTestsDisabled.log" "$logs/LastTest.log"
# The output of a failed test stands thousands of lines above the end, and whoever reads a log that was cut short sees the
# end only. 20 lines have the message of a check and its values.
awk '
  /^[0-9]+\/[0-9]+ Testing: / { name = $0; sub(/^[^:]*: /, "", name); count = 0; inside = 0 }
  /^<end of output>$/ { inside = 0 }
  inside { lines[count++] = $0 }
  /^-+$/ { inside = inside || count == 0 }
  /^Test Failed\.$/ {
    print "failed: " name
    for (i = count > 20 ? count - 20 : 0; i < count; ++i) print "    " lines[i]
  }
  /^Unable to find executable: / { print "failed: " $0 }' "$logs/LastTest.log" | tee "$logs/failures.txt"
exit "$status"
