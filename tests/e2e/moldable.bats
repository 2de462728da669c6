#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A partition of moldable jobs: Policy=DEMT.
# shellcheck disable=SC2154 # until_finished, parked_job and preempting_job are in helpers.bash

load helpers

setup() {
	controller sed -i 's/^Partition=main .*/Partition=main Policy=DEMT LinearSpeedup=4/' /etc/slurm/dfrs.conf
	reconfigured
}

teardown() {
	controller scontrol update nodename=n4 state=resume 2>/dev/null || true
	configure
	reconfigured
	clean_up
}

number_of_nodes() { controller squeue --noheader --states=all --jobs "$1" --format %D | tr -d ' '; }

# field JOB NAME: what scontrol shows.
field() { controller scontrol --oneliner show job "$1" | grep -o " $2=[^ ]*" | head -n 1 | cut -d= -f2-; }

@test "moldable job gets all nodes that make it faster when it is alone, whole, and srun inside sees them" {
	# shellcheck disable=SC2016 # expanded in the job
	job=$(submit --nodes=1-4 --time=10 -- 'srun --quiet bash -c "echo on \$SLURMD_NODENAME; sleep 5"')
	wait_for_state "$job" RUNNING 30
	[ "$(number_of_nodes "$job")" = 4 ]
	[ "$(field "$job" NumCPUs)" = 16 ]
	[ "$(field "$job" OverSubscribe)" = NO ]
	[ "$(counted_memory)" = 4000 ]
	wait_for_state "$job" COMPLETED 60
	[ "$(output "$job" | grep '^on ' | sort | tr '\n' ' ')" = "on n1 on n2 on n3 on n4 " ]
}

@test "moldable job has --ntasks-per-node tasks on each node, and -n tasks in all" {
	# shellcheck disable=SC2016 # expanded in the job
	each=$(submit --nodes=2-4 --ntasks-per-node=2 --time=10 -- 'srun --quiet hostname')
	wait_for_state "$each" COMPLETED 60
	[ "$(output "$each" | grep -c '^n[1-4]$')" = 8 ]
	together=$(submit --nodes=1-3 --ntasks=4 --time=10 -- 'srun --quiet hostname')
	wait_for_state "$together" COMPLETED 60
	[ "$(output "$together" | grep -c '^n[1-4]$')" = 4 ]
	[ "$(output "$together" | grep '^n[1-4]$' | sort -u | wc -l)" = 3 ]
	# shellcheck disable=SC2016 # expanded in the job
	overcommitted=$(submit --nodes=1-3 --overcommit --time=10 -- 'srun --quiet hostname; sleep 3')
	wait_for_state "$overcommitted" RUNNING 20
	controller dfrs explain "$overcommitted" --json | grep -q '"tasks": *3,'
	wait_for_state "$overcommitted" COMPLETED 60
	[ "$(output "$overcommitted" | grep '^n[1-4]$' | sort -u | wc -l)" = 3 ]
}

@test "pending moldable job shows what it waits for and until when, and nothing is shared or paused" {
	first=$(submit --nodes=3 --time=10 -- "$until_finished")
	wait_for_state "$first" RUNNING 30
	second=$(submit --nodes=2 --mem=100 --time=10 -- "sleep 5")
	wait_until 20 says "$second" "DFRS: waits for 2 nodes; expected to start at"
	[ "$(state "$first")" = RUNNING ]
	third=$(submit --nodes=1-4 --comment=dfrs:speedup=1,1,1,1 --time=10 -- "$until_finished")
	wait_for_state "$third" RUNNING 20
	[ "$(number_of_nodes "$third")" = 1 ]
	# The first ends long before its limit.
	finish "$first" "$third"
	wait_for_state "$second" RUNNING 60
	[ "$(state "$first")" != RUNNING ]
	wait_for_state "$second" COMPLETED 60
	controller dfrs check /var/log/slurm/dfrs-journal.jsonl
}

@test "moldable job gets no draining node, and shows how many nodes it waits for" {
	controller scontrol update nodename=n4 state=drain reason=upkeep
	job=$(submit --nodes=1-4 --time=10 -- "sleep 5")
	wait_for_state "$job" RUNNING 30
	[ "$(number_of_nodes "$job")" = 3 ]
	all=$(submit --nodes=4 --time=10 -- "sleep 1")
	wait_until 20 says "$all" "DFRS: waits for 4 nodes: only"
	controller scontrol update nodename=n4 state=resume
	wait_for_state "$all" COMPLETED 60
}

@test "partition keeps its running and parked jobs when it becomes one of moldable jobs" {
	needs_parking
	configure
	reconfigured
	park_for "$until_finished" --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "$until_finished; echo done"
	controller sed -i 's/^Partition=main .*/Partition=main Policy=DEMT/' /etc/slurm/dfrs.conf
	reconfigured
	later=$(submit --nodes=1-4 --nodelist=n1 --time=10 -- "sleep 1")
	finish "$preempting_job" "$parked_job"
	wait_for_state "$preempting_job" COMPLETED 60
	wait_for_state "$parked_job" COMPLETED 120
	[ "$(output "$parked_job" | grep -cx "done")" = 1 ]
	wait_for_state "$later" COMPLETED 60
}
