#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two slurmctlds, one state: jobs that DFRS has parked resume under either of them.
# shellcheck disable=SC2154 # parked_job and preempting_job are in helpers.bash

load ../e2e/helpers

setup() {
	controller rm -f "/home/alice/$BATS_TEST_NUMBER.report"
	for host in backup controller; do
		in_cluster $host sh -c 'pgrep -x slurmctld >/dev/null || /opt/cluster/service slurmctld start'
	done
	wait_until 60 is_in_control controller
}

teardown() {
	[ -n "$BATS_TEST_COMPLETED" ] || print_logs
	controller scancel --user=alice || true
	wait_for_empty_queue 60
}

print_logs() {
	for host in controller backup; do
		echo "# $host"
		log_of $host | tail -n 60
	done
}

log_of() { in_cluster "$1" cat /var/log/slurm/slurmctld.log; }

# Whether DFRS, on this host, is what schedules the cluster now: what it last said is that it begins.
is_in_control() {
	log_of "$1" | grep -E 'dfrs: .*schedules partition|dfrs: locks for reading' | tail -n 1 | grep -q schedules &&
		controller squeue --noheader >/dev/null
}

# How many times DFRS has said on this host that it schedules.
times_ready_on() { log_of "$1" | grep -c 'schedules partition' || true; }

has_begun() { [ "$(times_ready_on "$1")" -gt "$2" ]; }

# has_taken_over HOST BEFORE: it has begun since, and Slurm answers.
has_taken_over() { has_begun "$1" "$2" && controller squeue --noheader >/dev/null; }

# takes_over_after HOST COMMAND...: the command has that host's slurmctld take over.
takes_over_after() {
	local host=$1 before
	before=$(times_ready_on "$host")
	"${@:2}"
	wait_until 60 has_taken_over "$host" "$before"
}

# One job parked on n3 with 300 MB, for another that runs until it is cancelled.
park_one() {
	park_for "sleep 600" --ntasks=1 --nodelist=n3 --mem=900 -- \
		"$burn --work 25 --rate $rate --memory 300 --report /home/alice/$BATS_TEST_NUMBER.report"
	# slurmctld keeps its state every five seconds.
	sleep 6
}

# Both jobs are as they were. When the preempting job is cancelled, the parked one resumes, and does
# its work once.
all_ends_well() {
	[ "$(state "$parked_job")" = SUSPENDED ]
	[ "$(state "$preempting_job")" = RUNNING ]
	controller scancel "$preempting_job"
	wait_for_state "$parked_job" COMPLETED 120
	controller cat "/home/alice/$BATS_TEST_NUMBER.report"
	[ "$(controller grep -c ' start ' "/home/alice/$BATS_TEST_NUMBER.report")" = 1 ]
	[ "$(controller grep -c ' finish ' "/home/alice/$BATS_TEST_NUMBER.report")" = 1 ]
	wait_until 20 nothing_is_counted
}

starts_at_once() {
	local job
	job=$(submit --ntasks=1 --nodelist=n1 --mem=50 -- true)
	wait_for_state "$job" COMPLETED 20
}

@test "second slurmctld continues with parked jobs when the first is killed, and hands back" {
	park_one
	takes_over_after backup in_cluster controller /opt/cluster/service slurmctld kill
	[ "$(state "$parked_job")" = SUSPENDED ]
	starts_at_once
	takes_over_after controller in_cluster controller /opt/cluster/service slurmctld start
	starts_at_once
	all_ends_well
}

@test "second slurmctld takes over when the first is stopped" {
	park_one
	takes_over_after backup in_cluster controller /opt/cluster/service slurmctld stop
	starts_at_once
	all_ends_well
}

@test "control goes to the second slurmctld and back when an administrator orders it" {
	park_one
	takes_over_after backup controller scontrol takeover
	starts_at_once
	takes_over_after controller in_cluster controller sh -c 'pgrep -x slurmctld >/dev/null || /opt/cluster/service slurmctld start'
	all_ends_well
}
