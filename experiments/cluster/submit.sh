#!/usr/bin/env bash
# submit.sh DEPLO N CONFIG FOLDER [FLAG…]: tunes an experiment in N shards as a Slurm job array, and merges what they stored
# into FOLDER/all.db. DEPLO is the program; the flags are of `deplo tune` (--time, --trials, …) and hold for each shard.
# The folder must be one that every node sees. Partition, account, time limit, GPUs: by Slurm's own variables
# (SBATCH_PARTITION, SBATCH_TIMELIMIT, SBATCH_GRES, …). Submitted again it goes on where it stopped.
set -euo pipefail
here=$(dirname "$(readlink -f "$0")")
[ $# -ge 4 ] && [[ $2 =~ ^[1-9][0-9]*$ ]] || { echo "submit.sh: expected DEPLO N CONFIG FOLDER [FLAG…], see the top of this file" >&2; exit 1; }
deplo=$(readlink -f "$(command -v "$1" || echo "$1")")
[ -x "$deplo" ] || { echo "submit.sh: expected the program deplo, found '$1'" >&2; exit 1; }
shards=$2 config=$(readlink -f "$3") folder=$(readlink -m "$4")
[ -r "$config" ] || { echo "submit.sh: expected an experiment, found '$3'" >&2; exit 1; }
shift 4
mkdir -p "$folder"

tune=$(sbatch --parsable --array="1-$shards" --output="$folder/shard%a.txt" \
  "$here/tune.sbatch" "$deplo" "$shards" "$config" "$folder" "$@")
tune=${tune%%;*}  # JOB;CLUSTER where there are several clusters
merge=$(sbatch --parsable --dependency="afterok:$tune" --kill-on-invalid-dep=yes --output="$folder/merge.txt" \
  "$here/merge.sbatch" "$deplo" "$shards" "$folder")
echo "job $tune tunes in $shards shards; job ${merge%%;*} merges them into $folder/all.db when all have succeeded"
