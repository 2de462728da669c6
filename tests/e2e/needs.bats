#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Needs=measured: a job that uses less than it requested leaves the rest to others, and has it back
# when it needs more.

# shellcheck disable=SC2154 # burn and rate are in helpers.bash

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

# The part of n1 that a job may use, by what dfrsd there says.
share() { node_job n1 "$1" share; }
has_share() { is_between "$2" "$(share "$1")" "$3"; }
need() { controller dfrs explain --json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["need"])'; }
needs_all() { [ "$(need "$1")" = 1.0 ]; }

# cores JOB: what it uses on n1, by the kernel's accounting of ten seconds.
cores() {
	local before
	before=$(node_job n1 "$1" cpu_seconds)
	sleep 10
	awk -v before="$before" -v after="$(node_job n1 "$1" cpu_seconds)" 'BEGIN { print (after - before) / 10 }'
}

@test "job that uses an eighth of its CPUs leaves more than half to another until it needs more" {
	needs_answers "no job is measured"
	sleeps=$(submit --ntasks=1 --cpus-per-task=4 --nodelist=n1 --mem=50 --comment=dfrs:never -- \
		"$burn --work 3600 --rate $little & until [ -e /home/alice/compute ]; do sleep 0.5; done; kill \$!; $burn --work 3600 --rate $all")
	works=$(submit --ntasks=1 --cpus-per-task=4 --nodelist=n1 --mem=50 --comment=dfrs:never -- "$burn --work 3600 --rate $all")
	for job in "$sleeps" "$works"; do wait_for_state "$job" RUNNING 30; done
	wait_until 10 has_share "$works" 0.49 0.51
	# It has to live on little for a minute first.
	wait_until 90 has_share "$works" 0.6 1
	echo "the one needs $(need "$sleeps") of what it requested; the other may use $(share "$works") of the node"
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
	wait_until 10 has_share "$sleeps" 0.45 0.55
	echo "it had its half again $((SECONDS - began)) s after it began to compute"
	needs_all "$sleeps"
}

@test "paused job is measured again, and no job is measured without Needs=measured" {
	needs_parking
	sleeps=$(submit --ntasks=1 --cpus-per-task=4 --nodelist=n1 --mem=600 -- "sleep 600")
	works=$(submit --ntasks=1 --cpus-per-task=4 --nodelist=n1 --mem=50 --comment=dfrs:never -- "$burn --work 3600 --rate $all")
	for job in "$sleeps" "$works"; do wait_for_state "$job" RUNNING 30; done
	wait_until 90 has_share "$works" 0.6 1
	preempting=$(submit --ntasks=1 --nodelist=n1 --mem=600 -- "sleep 10")
	wait_for_state "$sleeps" SUSPENDED 40
	wait_for_state "$preempting" COMPLETED 90
	wait_for_state "$sleeps" RUNNING 60
	wait_until 10 needs_all "$sleeps"
	configure
	reconfigured
	wait_until 10 has_share "$works" 0.49 0.51
	[ "$(node_job n1 "$works" need 2>/dev/null || echo none)" = none ]
}
