# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the cluster tests share: talking to the mini-Slurm, submitting burners, waiting.

# shellcheck source=../../docker/common.sh
. "$BATS_TEST_DIRNAME/../../docker/common.sh"

# Cores that one of a node's four CPUs stands for: (0.44 - 0.12) / 4, see docker/compose.yaml.
rate=0.08
# shellcheck disable=SC2034 # used by the tests
burn=/opt/dfrs/dfrs-burn

controller() { in_cluster controller "$@"; }

# submit SBATCH-OPTIONS... -- COMMAND: a batch job of alice's; prints its id.
submit() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	in_cluster controller -u alice -- sbatch --parsable --chdir=/home/alice --open-mode=append \
		--output=/home/alice/%j.out "${options[@]}" --wrap "$*"
}

state() { controller squeue --noheader --states=all --jobs "$1" --format %T 2>/dev/null; }
reason() { controller squeue --noheader --states=all --jobs "$1" --format %r 2>/dev/null; }
nodes_of() { controller squeue --noheader --states=all --jobs "$1" --format %N; }
output() { controller cat "/home/alice/$1.out"; }

has_started() { [ "$(state "$1")" != PENDING ]; }

is_in_state() { [ "$(state "$1")" = "$2" ]; }

# wait_until SECONDS COMMAND...: succeeds as soon as the command does.
wait_until() {
	local end=$((SECONDS + $1))
	shift
	while ! "$@"; do
		[ $SECONDS -lt $end ] || {
			echo "gave up waiting for: $*"
			controller squeue --states=all || true
			return 1
		}
		sleep 0.2
	done
}

wait_for_state() { wait_until "$3" is_in_state "$1" "$2"; }

# How many jobs run.
running() { controller squeue --noheader --states=running | wc -l; }

two_are_running() { [ "$(running)" = 2 ]; }

queue_is_empty() { [ -z "$(controller squeue --noheader)" ]; }

# Memory that Slurm counts as used on all nodes together, MiB.
counted_memory() {
	controller scontrol --oneliner show node | grep -o 'AllocMem=[0-9]*' | awk -F= '{ sum += $2 } END { print sum }'
}

nothing_is_counted() { [ "$(counted_memory)" = 0 ]; }

# kernel_field NODE JOB FIELD: what dfrsd on the node reports of a job, from the kernel's accounting.
node_job() {
	in_cluster "$1" dfrsd status --node "$1" --json | python3 -c '
import json, sys
job, field = int(sys.argv[1]), sys.argv[2]
found = [entry for entry in json.load(sys.stdin)["jobs"] if entry["id"] == job]
print(found[0][field] if found else "none")' "$2" "$3"
}

# measured_yield NODE JOB SHARE: CPU that the job used over what its tasks need, by the kernel's
# accounting, over the intervals in which its promised share of the node was SHARE.
measured_yield() {
	in_cluster "$1" cat /var/log/dfrs-measurements.jsonl | python3 -c '
import json, sys
job, share, rate = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
lines = [json.loads(line) for line in sys.stdin]
mine = [m for m in lines if m["job"] == job and m["share"] is not None and abs(m["share"] - share) < 1e-6]
time = sum(m["end"] - m["start"] for m in mine)
assert time > 5, f"only {time} s were measured"
print(sum(m["cpu_seconds"] for m in mine) / time / rate)' "$2" "$3" "$rate"
}

node_is_idle() { [ "$(controller sinfo --noheader --nodes="$1" --format=%t)" = idle ]; }

controller_log() { controller cat /var/log/slurm/slurmctld.log; }

clean_up() {
	controller scancel --user=alice || true
	wait_until 60 queue_is_empty
}
