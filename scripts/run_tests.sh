#!/usr/bin/env bash
# scripts/run_tests.sh BUILD FLAG…: runs ctest with these flags, then says how many tests were skipped, and why.
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
exit "$status"
