#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Nodes on which jobs of DFRS and others meet for a while; shared_nodes.bats has those that do for good.
# shellcheck disable=SC2154 # until_finished is in helpers.bash

load helpers

# Partitions are as at first, and the first one is DFRS's again.
setup() { controller cp /etc/slurm/scheduler.conf /tmp/scheduler.conf.before; }

teardown() {
	controller cp /tmp/scheduler.conf.before /etc/slurm/scheduler.conf
	reconfigured
	clean_up
}

change_partitions() {
	controller sed -i "$1" /etc/slurm/scheduler.conf
	reconfigure
}

started_beside() {
	local job
	job=$(submit --nodelist="$1" --ntasks=1 --mem=50 --time=2 -- "true")
	wait_for_state "$job" COMPLETED 20
}

@test "jobs started under OverSubscribe=NO share their nodes with those of DFRS" {
	change_partitions 's/OverSubscribe=FORCE:1/OverSubscribe=NO/'
	wait_until 20 logs "OverSubscribe=FORCE:1"
	old=$(submit --nodelist=n1 --ntasks=1 --mem=100 --time=20 -- "sleep 300")
	wait_for_state "$old" RUNNING 60
	change_partitions 's/OverSubscribe=NO/OverSubscribe=FORCE:1/'
	started_beside n1
	[ "$(state "$old")" = RUNNING ]
}

@test "node given to another partition takes jobs there when those of DFRS have ended" {
	job=$(submit --nodelist=n1 --ntasks=1 --mem=100 --time=20 -- "$until_finished")
	wait_for_state "$job" RUNNING 30
	controller scontrol update partition=main nodes='n[2-4]'
	controller scontrol create partition=batch nodes=n1 maxtime=20 state=up
	other=$(submit --partition=batch --ntasks=1 --mem=50 --time=2 -- "true")
	for _ in 1 2 3 4 5 6 7 8; do
		sleep 1
		[ "$(state "$other")" = PENDING ]
	done
	[ "$(state "$job")" = RUNNING ]
	finish "$job"
	wait_for_state "$job" COMPLETED 60
	wait_for_state "$other" COMPLETED 40
}
