#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Nodes of DFRS's partition that are in another one, too, whose jobs Slurm's own schedulers start as if there were no
# DFRS; jobs of DFRS get the CPUs that these leave.

load helpers

setup_file() { schedule_beside 's/^PartitionName=batch Nodes=[^ ]*/PartitionName=batch Nodes=n[1-4] PriorityTier=2/'; }

teardown_file() { schedule_alone; }

teardown() { clean_up; }

# share_is JOB SHARE: what dfrsd on n1 was last ordered to give the job, as a part of the node.
share_is() { [ "$(node_job n1 "$1" share)" = "$2" ]; }

# fill_n1: four jobs of DFRS, each for all CPUs of n1, and a quarter of it each.
fill_n1() {
	jobs=()
	for _ in 1 2 3 4; do
		jobs+=("$(submit --nodelist=n1 --ntasks=4 --mem-per-cpu=10 --time=20 -- "sleep 300")")
	done
	for job in "${jobs[@]}"; do wait_until 30 share_is "$job" 0.25; done
}

@test "job of another partition starts at once among those of DFRS, which get what it leaves" {
	fill_n1
	run in_cluster controller -u alice -- srun --immediate --partition=batch --nodelist=n1 --ntasks=4 --mem-per-cpu=10 hostname
	[ "$status" = 0 ]
	other=$(submit --partition=batch --nodelist=n1 --ntasks=2 --mem-per-cpu=10 -- "sleep 300")
	wait_for_state "$other" RUNNING 20
	for job in "${jobs[@]}"; do wait_until 20 share_is "$job" 0.125; done
	# One more finds room beside all of them.
	beside=$(submit --nodelist=n1 --ntasks=1 --mem=10 --time=2 -- "true")
	wait_for_state "$beside" COMPLETED 20
	controller scancel "$other"
	for job in "${jobs[@]}"; do
		wait_until 20 share_is "$job" 0.25
		[ "$(state "$job")" = RUNNING ]
	done
}

@test "node without a core left keeps its jobs of DFRS and takes no more until there is one" {
	fill_n1
	other=$(submit --partition=batch --nodelist=n1 --exclusive --ntasks=1 --mem=10 -- "sleep 300")
	wait_for_state "$other" RUNNING 20
	later=$(submit --nodelist=n1 --ntasks=1 --mem=10 --time=2 -- "true")
	elsewhere=$(submit --ntasks=1 --mem=10 --time=2 -- "hostname")
	wait_for_state "$elsewhere" COMPLETED 20
	[ "$(output "$elsewhere")" != n1 ]
	wait_until 20 says "$later" "DFRS: waits for"
	for job in "${jobs[@]}"; do [ "$(state "$job")" = RUNNING ]; done
	controller scancel "$other"
	wait_for_state "$later" COMPLETED 30
}

@test "jobs of other partitions that are there when slurmctld is killed keep their cores" {
	fill_n1
	other=$(submit --partition=batch --nodelist=n1 --ntasks=2 --mem-per-cpu=10 -- "sleep 300")
	wait_for_state "$other" RUNNING 20
	wait_until_saved "$other"
	controller /opt/cluster/service slurmctld kill
	controller /opt/cluster/service slurmctld start
	wait_until 60 controller scontrol ping
	for job in "${jobs[@]}"; do wait_until 30 share_is "$job" 0.125; done
	run in_cluster controller -u alice -- srun --immediate=20 --partition=batch --nodelist=n1 --ntasks=2 --mem-per-cpu=10 hostname
	[ "$status" = 0 ]
	[ "$(state "$other")" = RUNNING ]
}
