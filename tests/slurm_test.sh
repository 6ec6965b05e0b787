#!/usr/bin/env bash
# slurm_test.sh SOURCE BUILD: runs Slurm on this machine alone, with four nodes of one processor each. It tunes
# experiments/smoke.yaml by experiments/cluster in four shards, and checks that the merged store has the results of a single
# process. The interpreter's times are the same in every run, so every trial and every winner must agree to the last digit.
# All files are in a temporary folder, and all daemons are ended. Exit code 77: Slurm is not installed.
set -euo pipefail
source=$1 build=$2
PATH=$PATH:/usr/sbin:/sbin
for tool in slurmctld slurmd munged sbatch squeue scontrol; do
  command -v $tool >/dev/null || { echo "no $tool (Debian: slurmctld slurmd slurm-client munge): skipped"; exit 77; }
done
deplo=$build/bin/deplo
folder=$(mktemp -d)
chmod 755 "$folder"
daemons() { cat "$folder"/*.pid 2>/dev/null || true; }
stop() {
  local pids
  pids=$(daemons)
  [ -z "$pids" ] || kill $pids 2>/dev/null || true
  for _ in $(seq 50); do
    [ -z "$pids" ] || kill -0 $pids 2>/dev/null || break
    sleep 0.1
  done
  [ -z "$pids" ] || kill -9 $pids 2>/dev/null || true
  rm -rf "$folder"
}
trap stop EXIT
fail() {
  echo "FAILED: $*"
  tail -n 20 "$folder"/*.log "$folder"/result/*.txt 2>/dev/null || true
  exit 1
}

is_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
port=
for _ in $(seq 20); do
  port=$((20000 + RANDOM % 12000))
  for i in 0 1 2 3 4; do is_free $((port + i)) || continue 2; done
  break
done

cat >"$folder/slurm.conf" <<CONF
ClusterName=deplo
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/slurmctld.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdSpoolDir=$folder/spool.%n
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmdLogFile=$folder/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
ReturnToService=2
MpiDefault=none
MailProg=/bin/true
$(for i in 1 2 3 4; do echo "NodeName=n$i NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=$((port + i)) CPUs=1"; done)
PartitionName=all Nodes=n[1-4] Default=YES MaxTime=30 State=UP
CONF
export SLURM_CONF=$folder/slurm.conf
mkdir "$folder/state"
(umask 077 && head -c 64 /dev/urandom >"$folder/munge.key")
munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
  --log-file="$folder/munged.log" --seed-file="$folder/munged.seed" || fail "munged does not start"
slurmctld -f "$SLURM_CONF" || fail "slurmctld does not start"
for i in 1 2 3 4; do slurmd -N "n$i" -f "$SLURM_CONF" || fail "slurmd n$i does not start"; done
for _ in $(seq 300); do
  [ "$(sinfo --noheader --format=%D --states=idle 2>/dev/null)" = 4 ] && break
  sleep 0.1
done
[ "$(sinfo --noheader --format=%D --states=idle)" = 4 ] || fail "expected four idle nodes: $(sinfo 2>&1)"

flags=(--device interpreter --search mcts --seed 3 --trials 6 --time 3600 --winners 0)
cd /  # the jobs must not depend on where they are submitted from
"$source/experiments/cluster/submit.sh" "$deplo" 4 "$source/experiments/smoke.yaml" "$folder/result" "${flags[@]}" ||
  fail "submit.sh"
"$deplo" tune --config "$source/experiments/smoke.yaml" --store "$folder/one.db" --quiet "${flags[@]}" >"$folder/one.txt" ||
  fail "one process: $(cat "$folder/one.txt")"
while [ -n "$(squeue --noheader)" ]; do sleep 0.3; done
[ -s "$folder/result/all.db" ] || fail "nothing was merged"

for node in n1 n2 n3 n4; do
  grep -qx "shard . on $node" <(sed 's|/4||' "$folder"/result/shard?.txt) || fail "$node tuned nothing"
done
trials="SELECT k.name, t.stage, t.trail, t.digest, t.status, t.median_us, t.samples FROM trial t
        JOIN kernel k ON k.id = t.kernel ORDER BY 1, 2, 3, 4, 7"
for store in "$folder/one.db" "$folder/result/all.db"; do
  name=$(basename "$store")
  "$deplo" db sql "$trials" "$store" --json >"$folder/trials.$name"
  "$deplo" db best "$store" --json | grep -v '"created"' >"$folder/best.$name"
done
for what in trials best; do
  [ -s "$folder/$what.one.db" ] || fail "one process found nothing"
  diff "$folder/$what.one.db" "$folder/$what.all.db" || fail "four shards found other $what than one process"
done
kernels=$("$deplo" db sql "SELECT count(DISTINCT kernel) AS n FROM trial" "$folder/result/all.db" --json)
[[ $kernels == *6* ]] || fail "expected six kernels: $kernels"

# A second merge adds nothing.
bash "$source/experiments/cluster/merge.sbatch" "$deplo" 4 "$folder/result" >"$folder/again.txt" || fail "$(cat "$folder/again.txt")"
"$deplo" db sql "$trials" "$folder/result/all.db" --json | diff "$folder/trials.all.db" - || fail "a second merge changed something"
echo "a one-machine Slurm: four shards found what one process finds"
