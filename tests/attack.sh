#!/bin/bash
# Attacks deplo: does to its files, processes and stores what disks, crashes and people do. Prints one table at the end, with
# a row for each kind of attack. All columns except the first must be 0.
#   tests/attack.sh            a few minutes: 2,400 damaged files, the tests as `make test` runs them
#   tests/attack.sh --full     about an hour: 30,000 damaged files, 100 kills of every kind
#   --files N                  the number of damaged files
#   --build FOLDER             the folder of the programs, built by `make build` [build/release]
#   --keep FOLDER              keeps the output of each attack, and the files that revealed an error [attack_findings]
# Exit code 1: something was lost, demoted, wrong or crashed.
set -uo pipefail
build=$(dirname "$0")/../build/release
files=2400 full= keep=attack_findings
while [ $# -gt 0 ]; do
  case $1 in
    --full) full=1 files=30000 ;;
    --files) files=${2:?}; shift ;;
    --build) build=${2:?}; shift ;;
    --keep) keep=${2:?}; shift ;;
    --help) sed -n '2,/^set/{s/^# \{0,1\}//p}' "$0"; exit ;;
    *) echo "attack.sh: unknown flag '$1'; see --help" >&2; exit 2 ;;
  esac
  shift
done
for program in attack_inputs test_apps test_measure deplo deplo-tune; do
  [ -x "$build/bin/$program" ] || { echo "attack.sh: expected $build/bin/$program, found none: make build" >&2; exit 2; }
done
mkdir -p "$keep"

columns=(tried lost demoted wrong crashed)
format='%-36s %7s %7s %7s %7s %7s\n'
table=$(printf "$format" attack "${columns[@]}")
found=0
row() {  # NAME TRIED LOST DEMOTED WRONG CRASHED
  table+=$'\n'$(printf "$format" "$@")
  [ $(($3 + $4 + $5 + $6)) = 0 ] || found=1
}

# attack NAME COLUMN PROGRAM FLAGS…: runs a program, which exits with 0 if it found nothing. The program may print rows of
# the table itself. For other programs, each test or each kill is one trial, and a failed test counts in COLUMN.
attack() {
  local name=$1 column=$2 log code tried failed i
  shift 2
  log="$keep/${name//[^a-z]/_}.txt"
  echo "$name: $*" >&2
  "$build/bin/$1" "${@:2}" >"$log" 2>&1
  code=$?
  local number='([0-9]+) *' rows=0
  while read -r line; do
    [[ $line =~ ^(.*[^\ 0-9])\ +$number$number$number$number$number$ ]] || continue
    row "${BASH_REMATCH[@]:1}"
    rows=1
  done < <(grep -v '^\[' "$log")
  failed=$(grep -cE '^\[ +FAILED +\] .* \(.* ms\)' "$log")
  tried=$(awk '$2 ~ /^kills[:,]$/ {sum += $1} END {print sum + 0}' "$log")
  [ "$tried" != 0 ] || tried=$(grep -cE '^\[ +(OK|FAILED) +\] .* \(.* ms\)' "$log")
  if [ "$rows" = 0 ] && [ "$tried" != 0 ] && [ "$code" -lt 2 ]; then
    local counts=()
    for i in "${columns[@]:1}"; do counts+=($([ "$i" = "$column" ] && echo "$failed" || echo 0)); done
    row "$name" "$tried" "${counts[@]}"
  elif [ "$rows" = 0 ]; then
    row "$name" "$tried" 0 0 0 1  # the program crashed, or there is no such test
  elif [ "$code" != 0 ]; then
    found=1
  fi
}

# tests NAME COLUMN PROGRAM FILTER [LONG FILTER]
tests() {
  attack "$1" "$2" "$3" --gtest_filter="$([ "$full" ] && echo "${5:-$4}" || echo "$4")" --gtest_also_run_disabled_tests
}

attack "damaged files" wrong attack_inputs --cases "$files" --jobs 2 --keep "$keep"
tests "tuner killed" lost test_apps Killed.AtAnyMoment:Killed.TwoWritersAndAReader 'Killed.*'
tests "worker killed" demoted test_apps KilledWorker.AtAnyMoment:KilledWorker.WhileItCompiles 'KilledWorker.*ForLong'
tests "worker that dies of its candidate" demoted test_measure 'Worker.*:BuildPool.*'
tests "store deleted, replaced, truncated" lost test_apps '*LostStore.*:Lost.*'
tests "store locked, read-only, disk full" lost test_apps 'SharedStore.*:WriteFile.*:*/WriteFile.*:BadInput.FullDisk*:BadInput.ClosedOutput*'
tests "store whose writes fail" lost test_measure 'StoreFaults.*'
tests "store tampered with" wrong test_apps '*Tampered.*'
echo
echo "$table"
exit $found
