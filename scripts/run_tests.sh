#!/usr/bin/env bash
# scripts/run_tests.sh BUILD FLAG…: runs ctest with these flags, then says how many tests were skipped, and why.
set -euo pipefail
build=$1; shift
status=0
ctest "$@" || status=$?
# ctest names what it skipped, without reasons. A test of GoogleTest says "FILE:LINE: Skipped" and the reason on the next
# line, a script exits with 77 after a line with its reason.
awk '
  /^[0-9]+\/[0-9]+ Testing: / { reason = ""; last = "" }
  last ~ /: Skipped$/ && reason == "" { reason = $0 }
  /^<end of output>$/ && reason == "" { reason = last }
  /^Test Skipped|^Skip regular expression found|SKIP_RETURN_CODE/ { ++count[reason]; ++skipped }
  { last = $0 }
  END {
    printf "%d skipped%s\n", skipped, (skipped > 0 ? ":" : "")
    for (reason in count) printf "  %4d  %s\n", count[reason], reason
  }' "$build/Testing/Temporary/LastTest.log"
exit "$status"
