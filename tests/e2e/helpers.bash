# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the cluster tests share: talking to the mini-Slurm, submitting burners, waiting.

# shellcheck source=../../docker/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../docker/common.sh"

# Cores that one of a node's four CPUs stands for: (0.44 - 0.12) / 4, see docker/compose.yaml.
rate=0.08
# shellcheck disable=SC2034 # used by the tests
burn=/opt/dfrs/dfrs-burn

# Tests run in real time, and the machine may be busy with other work. A test that fails runs once
# more, and a line says so. What is wrong with DFRS fails both times.
# shellcheck disable=SC2034 # read by bats
BATS_TEST_RETRIES=1

controller() { in_cluster controller "$@"; }

# submit SBATCH-OPTIONS... -- COMMAND: a batch job of alice's; prints its id. Not by --wrap, which takes
# /bin/sh: in Slurm 25.05 and 25.11.0 dash never ends to wait for a program in the background.
submit() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	# shellcheck disable=SC2016 # expanded in the container
	in_cluster controller -u alice -- bash -c 'printf "#!/bin/bash\n%s\n" "$1" | sbatch "${@:2}"' submit "$*" \
		--parsable --chdir=/home/alice --open-mode=append --output=/home/alice/%j.out "${options[@]}"
}

# A command that goes on until finish lets its job end: as long as a test needs it, also on a busy machine.
# shellcheck disable=SC2016,SC2034 # expanded by the job, used by the tests
until_finished='until [ -e "finish.$SLURM_JOB_ID" ]; do sleep 0.3; done'

# holding MIB: the same, of a job that computes and holds memory until then.
holding() { echo "$burn --work 3600 --rate $rate --memory $1 & $until_finished; kill \$!"; }

# finish JOB...: these jobs end now, or as soon as they run again.
finish() { controller touch "${@/#//home/alice/finish.}"; }

state() { controller squeue --noheader --states=all --jobs "$1" --format %T 2>/dev/null; }
reason() { controller squeue --noheader --states=all --jobs "$1" --format %r 2>/dev/null; }
nodes_of() { controller squeue --noheader --states=all --jobs "$1" --format %N; }
output() { controller cat "/home/alice/$1.out"; }

says() { [[ "$(reason "$1")" == *"$2"* ]]; }

is_in_state() { [ "$(state "$1")" = "$2" ]; }

# wait_until SECONDS COMMAND...: succeeds as soon as the command does. The seconds are what an idle machine
# needs at most, and no promise; a busy one gets four times as long.
wait_until() {
	local end=$((SECONDS + 4 * $1))
	shift
	while ! "$@"; do
		[ $SECONDS -lt $end ] || {
			give_up "$*"
			return 1
		}
		# A look costs a tenth of a second of CPU, and most of that is a client of Slurm's.
		sleep 0.5
	done
}

# wait_inside SECONDS SCRIPT ARGUMENTS...: waits for a shell script in the controller, where a try
# costs least.
wait_inside() {
	# shellcheck disable=SC2016 # expanded in the container
	controller timeout $((4 * $1)) bash -c 'until eval "$0"; do sleep 0.2; done' "${@:2}" 2>/dev/null || {
		give_up "${*:2}"
		return 1
	}
}

give_up() {
	echo "gave up waiting for: $*"
	controller squeue --states=all || true
}

# shellcheck disable=SC2016 # expanded in the container
wait_for_state() {
	wait_inside "$3" '[ "$(squeue --noheader --states=all --jobs "$1" --format %T)" = "$2" ]' "$1" "$2"
}

# shellcheck disable=SC2016 # expanded in the container
wait_for_empty_queue() { wait_inside "$1" 'queue=$(squeue --noheader) && [ -z "$queue" ]'; }

# shellcheck disable=SC2016 # expanded in the container
wait_for_idle_nodes() { wait_inside "$1" '[ "$(sinfo --noheader --Node --format="%N %t" | sort -u | grep -c " idle$")" = 4 ]'; }

# wait_until_saved JOB: what slurmctld knows by now is on its disk; what is not, a killed one has forgotten. Not each
# change, as a start by backfill, has Slurm save its jobs; that of a name has, within five seconds.
# shellcheck disable=SC2016 # expanded in the container
wait_until_saved() {
	controller touch /tmp/unsaved
	controller scontrol update jobid="$1" name=kept
	wait_inside 20 '[ -n "$(find /var/lib/slurm/slurmctld/job_state -newer /tmp/unsaved)" ]'
}

# Skips a test that does not hold on Slurm 23.11, where slurmctld does not learn which messages have
# arrived (docs/install.md); $1 says why.
needs_answers() {
	[[ $(controller scontrol --version) != "slurm 23.11."* ]] || skip "Slurm 23.11: $1"
}

needs_parking() { needs_answers "no job is parked"; }

# park_for COMMAND SBATCH-OPTIONS... -- FIRST-COMMAND: starts a job that needs nearly all of its node's
# memory, and another with the same options that runs COMMAND, which it does as soon as the first has run for
# SettleTime. When this returns, the first, $parked_job, is parked, and the other, $preempting_job, runs.
park_for() {
	local command=$1 options=()
	shift
	parked_job=$(submit "$@")
	wait_for_state "$parked_job" RUNNING 30
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	preempting_job=$(submit "${options[@]}" -- "$command")
	wait_for_state "$preempting_job" RUNNING 40
	[ "$(state "$parked_job")" = SUSPENDED ]
}

# How many jobs run.
running() { controller squeue --noheader --states=running | wc -l; }

two_are_running() { [ "$(running)" = 2 ]; }

# Memory that Slurm counts as used on all nodes together, MiB.
counted_memory() {
	controller scontrol --oneliner show node | grep -o 'AllocMem=[0-9]*' | awk -F= '{ sum += $2 } END { print sum }'
}

nothing_is_counted() { [ "$(counted_memory)" = 0 ]; }

# node_job NODE JOB FIELD: what dfrsd on the node reports of a job, from the kernel's accounting. Debian's python3: that
# of pyenv is found by a script, which takes five times as long.
node_job() {
	in_cluster "$1" dfrsd status --node "$1" --json | /usr/bin/python3 -c '
import json, sys
job, field = int(sys.argv[1]), sys.argv[2]
found = [entry for entry in json.load(sys.stdin)["jobs"] if entry["id"] == job]
print(found[0][field] if found else "none")' "$2" "$3"
}

# measured_yield NODE JOB SHARE: CPU that the job used over what its tasks need, by the kernel's
# accounting, over the last seconds in which its promised share of the node was SHARE.
measured_yield() {
	in_cluster "$1" cat /var/log/dfrs-measurements.jsonl | /usr/bin/python3 -c '
import json, sys
job, share, rate = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
lines = [json.loads(line) for line in sys.stdin]
mine = [m for m in lines if m["job"] == job and m["share"] is not None and abs(m["share"] - share) < 1e-6][-5:]
time = sum(m["end"] - m["start"] for m in mine)
assert time > 5, f"only {time} s were measured"
print(sum(m["cpu_seconds"] for m in mine) / time / rate)' "$2" "$3" "$rate"
}

node_is_idle() { [ "$(controller sinfo --noheader --nodes="$1" --format=%t)" = idle ]; }

# is_between LEAST NUMBER MOST
is_between() { awk -v least="$1" -v number="$2" -v most="$3" 'BEGIN { exit !(number > least && number < most) }'; }

controller_log() { controller cat /var/log/slurm/slurmctld.log; }
logs() { controller_log | grep -qF "$1"; }

# How many times DFRS has said that it schedules.
times_ready() { controller_log | grep -c 'schedules partition' || true; }

was_ready_more_often_than() { [ "$(times_ready)" -gt "$1" ]; }

# slurmctld of 24.11.5 waits for open connections without a timeout before it reconfigures; scontrol
# gives up after 10 s. Then slurmctld is killed and started, lest all later tests fail, too.
reconfigure() {
	controller scontrol reconfigure && return
	controller /opt/cluster/service slurmctld kill
	controller /opt/cluster/service slurmctld start
	return 1
}

# Reconfigures slurmctld, and waits until DFRS schedules again.
reconfigured() {
	local before
	before=$(times_ready)
	reconfigure
	wait_until 20 was_ready_more_often_than "$before"
}

# open_partition NAME NODE OTHERS MINUTES: the node becomes a DFRS partition of its own, for jobs of so many minutes,
# and the others stay in the first one.
open_partition() {
	controller sed -i "s/^PartitionName=main Nodes=ALL/PartitionName=main Nodes=$3/" /etc/slurm/scheduler.conf
	controller sh -c "echo 'PartitionName=$1 Nodes=$2 OverSubscribe=FORCE:1 MaxTime=$4 State=UP' >>/etc/slurm/scheduler.conf"
	controller sh -c "echo 'Partition=$1' >>/etc/slurm/dfrs.conf"
	reconfigured
}

# close_partition NAME: all nodes are the first one's again.
close_partition() {
	controller sed -i -e 's/^PartitionName=main .* Default/PartitionName=main Nodes=ALL Default/' -e "/^PartitionName=$1/d" /etc/slurm/scheduler.conf
	controller sed -i "/^Partition=$1/d" /etc/slurm/dfrs.conf
	reconfigure
}

# configure_nodes LINE...: slurm.conf's lines about nodes, on all hosts.
configure_nodes() {
	local ready
	ready=$(times_ready)
	# shellcheck disable=SC2016 # expanded in the container
	change_hosts 'printf "%s\n" "$@" >/etc/slurm/nodes.conf' "$@"
	wait_until 60 was_ready_more_often_than "$ready"
}

# with_scheduler FILE: restarts slurmctld with this scheduler.conf.
with_scheduler() {
	local ready
	ready=$(times_ready)
	controller sh -c "cp $1 /etc/slurm/scheduler.conf && /opt/cluster/service slurmctld restart"
	wait_until 60 was_ready_more_often_than "$ready"
	wait_for_idle_nodes 60
}

# schedule_beside [SED-SCRIPT]: DFRS for a partition beside that of Slurm's backfill, docker/conf/beside.conf changed by
# the script. A journal of its own: DFRS has other nodes here, and a journal keeps to those that it began with.
schedule_beside() {
	controller cp /etc/slurm/scheduler.conf /etc/slurm/scheduler.conf.before
	# Backfill, which alone starts heterogeneous jobs, looks every 30 s where nothing says otherwise.
	controller sh -c 'sed "$1; \$aSchedulerParameters=bf_interval=2" /opt/conf/beside.conf >/tmp/beside.conf' sed "${1:-}"
	configure
	with_scheduler /tmp/beside.conf
}

# All nodes are of DFRS's partition again.
schedule_alone() {
	controller rm /tmp/beside.conf
	configure
	with_scheduler /etc/slurm/scheduler.conf.before
}

# Seconds from a job's submission to its start, by Slurm's own clock.
seconds_until_start() {
	local submitted started
	read -r submitted started < <(controller squeue --noheader --states=all --jobs "$1" --Format=SubmitTime,StartTime)
	echo $(($(date --date="$started" +%s) - $(date --date="$submitted" +%s)))
}

# The mini-Slurm's dfrs.conf, with the papers' policy: its yields follow from the jobs alone, and
# not from how long they have run, and a new job preempts others at once.
configure() {
	controller sh -c 'sed "s#^Policy=.*#Policy=GreedyPM*/per/OPT=MIN/MINVT=20#; /^MoveCost=/d" /opt/conf/dfrs.conf >/etc/slurm/dfrs.conf
		[ ! -e /tmp/beside.conf ] || sed -i "s#^Journal=.*#Journal=/var/log/slurm/dfrs-beside.jsonl#" /etc/slurm/dfrs.conf'
}

# After a failed test: says so, and restores the cluster.
# shellcheck disable=SC2016 # the containers' words
recover() {
	echo "# try $BATS_TEST_TRY_NUMBER of '$BATS_TEST_DESCRIPTION' failed" >&3
	controller_log | tail -n 60
	sed 's/^/# /' "$BATS_OUT" >&3
	configure
	# As schedule_beside made it, or else docker/node/setup.sh.
	controller sh -c 'cat /tmp/beside.conf 2>/dev/null >/etc/slurm/scheduler.conf ||
		cat /opt/slurm-conf/slurm-dfrs.conf /opt/conf/deferred.conf /opt/conf/dfrs-partition.conf >/etc/slurm/scheduler.conf'
	controller sh -c 'pgrep -x slurmctld >/dev/null || /opt/cluster/service slurmctld start'
	for node in n1 n2 n3 n4; do
		in_cluster $node pkill -CONT -x "slurmd|dfrsd" || true
		in_cluster $node sh -c 'for daemon in dfrsd slurmd; do pgrep -x $daemon >/dev/null || /opt/cluster/service $daemon start; done'
	done
	wait_until 20 controller scontrol ping
	reconfigure
	controller scontrol update partition=main AllowAccounts=ALL
	controller scontrol update nodename=n[1-4] state=resume || true
}

slurmctld_has_ended() { ! controller pgrep -x slurmctld >/dev/null; }

nodes_are_idle() { [ "$(controller sinfo --noheader --Node --format="%N %t" | sort -u | grep -c " idle$")" = 4 ]; }

clean_up() {
	[ -n "$BATS_TEST_COMPLETED" ] || recover
	controller scancel --user=alice || true
	wait_for_empty_queue 60
	wait_for_idle_nodes 60
}
