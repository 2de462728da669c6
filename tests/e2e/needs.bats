#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Needs=measured: a job that uses less than it requested leaves the rest to others, and has it back
# when it needs more.

# shellcheck disable=SC2154 # burn, rate and until_finished are in helpers.bash

load helpers

# All CPUs of a node, and an eighth of them: what a job uses that sleeps most of the time.
all=0.32
little=0.04

setup() {
	controller rm -f /home/alice/compute
	controller sh -c 'echo Needs=measured >>/etc/slurm/dfrs.conf'
	reconfigured
}

teardown() {
	configure
	reconfigure
	clean_up
}

# share NODE JOB: the part of the node that a job may use, by what dfrsd there says.
share() { node_job "$1" "$2" share; }
# has_share NODE JOB LEAST MOST
has_share() { is_between "$3" "$(share "$1" "$2")" "$4"; }
need() { controller dfrs explain --json "$1" | /usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["need"])'; }
needs_all() { [ "$(need "$1")" = 1.0 ]; }

# cores JOB: what it uses on n1, by the kernel's accounting of ten seconds.
cores() {
	local before
	before=$(node_job n1 "$1" cpu_seconds)
	sleep 10
	awk -v before="$before" -v after="$(node_job n1 "$1" cpu_seconds)" 'BEGIN { print (after - before) / 10 }'
}

is_not_measured() { [ "$(node_job "$1" "$2" need 2>/dev/null || echo none)" = none ]; }

# One test, of jobs on n1 and on n2: both have to live on little for a minute first.
@test "job that uses little of its CPUs leaves more than half to another until it needs more, and is measured again when it was paused" {
	needs_answers "no job is measured"
	paused=$(submit --ntasks=1 --cpus-per-task=4 --nodelist=n2 --mem=600 -- "sleep 600")
	beside=$(submit --ntasks=1 --cpus-per-task=4 --nodelist=n2 --mem=50 --comment=dfrs:never -- "$burn --work 3600 --rate $all")
	sleeps=$(submit --ntasks=1 --cpus-per-task=4 --nodelist=n1 --mem=50 --comment=dfrs:never -- \
		"$burn --work 3600 --rate $little & until [ -e /home/alice/compute ]; do sleep 0.5; done; kill \$!; $burn --work 3600 --rate $all")
	works=$(submit --ntasks=1 --cpus-per-task=4 --nodelist=n1 --mem=50 --comment=dfrs:never -- "$burn --work 3600 --rate $all")
	for job in "$sleeps" "$works" "$paused" "$beside"; do wait_for_state "$job" RUNNING 30; done
	wait_until 10 has_share n1 "$works" 0.49 0.51
	wait_until 90 has_share n1 "$works" 0.6 1
	echo "the one needs $(need "$sleeps") of what it requested; the other may use $(share n1 "$works") of the node"
	is_between 0 "$(need "$sleeps")" 0.9
	needs_all "$works"
	# Less may be the doing of a busy machine, and is measured again.
	for _ in 1 2 3; do
		used=$(cores "$works")
		echo "it uses $used of $all cores"
		! is_between 0.17 "$used" 0.35 || break
	done
	is_between 0.17 "$used" 0.35
	in_cluster controller -u alice -- touch /home/alice/compute
	began=$SECONDS
	wait_until 10 has_share n1 "$sleeps" 0.45 0.55
	echo "it had its half again $((SECONDS - began)) s after it began to compute"
	needs_all "$sleeps"
	wait_until 90 has_share n2 "$beside" 0.6 1
	preempting=$(submit --ntasks=1 --nodelist=n2 --mem=600 -- "$until_finished")
	wait_for_state "$paused" SUSPENDED 40
	finish "$preempting"
	wait_for_state "$preempting" COMPLETED 90
	wait_for_state "$paused" RUNNING 60
	wait_until 10 needs_all "$paused"
	# No job is measured without Needs=measured.
	configure
	reconfigured
	for job in "$works" "$sleeps"; do wait_until 10 has_share n1 "$job" 0.49 0.51; done
	wait_until 10 has_share n2 "$beside" 0.49 0.51
	wait_until 10 is_not_measured n2 "$beside"
}
