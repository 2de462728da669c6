#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Jobs that want nodes next to each other or on few switches, and which nodes are preferred: n1 and n3 are at one
# switch, n2 and n4 at another.
# shellcheck disable=SC2154 # until_finished is in helpers.bash

load helpers

hosts=(controller n1 n2 n3 n4)

setup_file() {
	local host
	for host in "${hosts[@]}"; do
		in_cluster "$host" sh -c '
			cp /etc/slurm/nodes.conf /etc/slurm/nodes.conf.before
			printf "%s\n" "SwitchName=odd Nodes=n[1,3]" "SwitchName=even Nodes=n[2,4]" \
				"SwitchName=root Switches=odd,even" >/etc/slurm/topology.conf'
	done
	configure_nodes "$(controller cat /etc/slurm/nodes.conf.before)" TopologyPlugin=topology/tree
}

teardown_file() {
	local host
	configure_nodes "$(controller cat /etc/slurm/nodes.conf.before)"
	for host in "${hosts[@]}"; do in_cluster "$host" rm -f /etc/slurm/topology.conf; done
}

teardown() {
	clean_up
	controller scontrol update NodeName=n[1-4] Weight=1
	controller scontrol update NodeName=n2 AvailableFeatures= ActiveFeatures=
}

# fill NODE: a job that leaves no memory there for one of these tests, and stays.
fill() {
	local job
	job=$(submit --nodelist="$1" --ntasks=1 --mem=900 --comment=dfrs:never -- "$until_finished")
	wait_for_state "$job" RUNNING 30
}

# wants OPTION...: a job on two nodes.
wants() { submit --nodes=2 --ntasks=2 --mem=200 --comment=dfrs:never "$@" -- "$until_finished"; }

@test "nodes of a contiguous job have no gap between them" {
	local any contiguous
	fill n2
	contiguous=$(wants --contiguous)
	wait_for_state "$contiguous" RUNNING 30
	[ "$(nodes_of "$contiguous")" = "n[3-4]" ]
	# It is not so by chance.
	any=$(wants)
	wait_for_state "$any" RUNNING 30
	[ "$(nodes_of "$any")" != "n[3-4]" ]
}

@test "contiguous job waits for nodes without a gap between them" {
	local contiguous blocking
	fill n3
	blocking=$(submit --nodelist=n2 --ntasks=1 --mem=900 --comment=dfrs:never -- "$until_finished")
	wait_for_state "$blocking" RUNNING 30
	contiguous=$(wants --contiguous)
	wait_until 20 says "$contiguous" memory
	finish "$blocking"
	wait_for_state "$contiguous" RUNNING 30
	[ "$(nodes_of "$contiguous")" = "n[1-2]" ]
}

@test "job gets nodes of no more switches than it asks for" {
	local job
	fill n1
	job=$(wants --switches=1)
	wait_for_state "$job" RUNNING 30
	[ "$(nodes_of "$job")" = "n[2,4]" ]
}

@test "job starts at any switches when its --switches wait time has passed" {
	local job
	fill n1
	fill n4
	job=$(wants --switches=1@0:20)
	wait_for_state "$job" RUNNING 60
	[ "$(nodes_of "$job")" = "n[2-3]" ]
	[ "$(seconds_until_start "$job")" -ge 19 ]
}

@test "job has nodes at one switch without asking for it, while CPU is idle there" {
	local job
	job=$(wants)
	wait_for_state "$job" RUNNING 30
	[ "$(nodes_of "$job")" = "n[1,3]" ]
}

@test "nodes of lower weight are taken first, and those that a job prefers before them" {
	local by_weight preferring
	controller scontrol update NodeName=n[1-3] Weight=5
	controller scontrol update NodeName=n2 AvailableFeatures=large ActiveFeatures=large
	# One after the other, so that CPU is idle on all nodes.
	by_weight=$(submit --ntasks=1 --mem=50 --comment=dfrs:never -- "$until_finished")
	wait_for_state "$by_weight" RUNNING 30
	preferring=$(submit --ntasks=1 --mem=50 --prefer=large --comment=dfrs:never -- "$until_finished")
	wait_for_state "$preferring" RUNNING 30
	[ "$(nodes_of "$by_weight")" = n4 ]
	[ "$(nodes_of "$preferring")" = n2 ]
}
