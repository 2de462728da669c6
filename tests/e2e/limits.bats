#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# DFRS under slurmdbd with enforced associations, QOS and limits. Runs after cluster.bats, and only
# on a cluster with a database.
# shellcheck disable=SC2154 # burn, rate, parked_job and preempting_job are in helpers.bash

load helpers

has_database() { controller scontrol show config | grep -q 'AccountingStorageType *= accounting_storage/slurmdbd'; }

setup_file() {
	has_database || return 0
	{
		# An account without users: users of accounts below it would count as its own.
		account add account elsewhere || true
		add_qos few MaxJobsPerUser=2
		add_qos narrow GrpTRES=cpu=4
		add_qos small MaxTRESPerJob=cpu=2,mem=500
		add_qos brief MaxWall=1
		add_qos wide MinTRESPerJob=cpu=4
		account modify user alice set qos=normal,few,narrow,small,brief,wide
		account modify user bob set MaxJobs=1
	} >/dev/null
}

setup() {
	has_database || skip "this cluster has no database"
}

teardown_file() {
	has_database || return 0
	account modify user bob set MaxJobs=-1 >/dev/null
}

teardown() {
	controller scancel --user=bob || true
	clean_up
}

account() { controller sacctmgr --immediate "$@"; }

# It may be there from an earlier run on the same cluster.
add_qos() { account add qos "$@" || true; }

# What counts towards the limits of a QOS: jobs, CPUs, memory, nodes.
counted() {
	controller scontrol show assoc_mgr flags=qos "qos=$1" | tr ' ,' '\n' | sed -n '
		s/^GrpJobs=.*(\(.*\))/jobs=\1/p
		s/^GrpTRES=cpu=.*(\(.*\))/cpu=\1/p
		/^GrpTRESMins/q
		s/^\(mem\|node\)=.*(\(.*\))/\1=\2/p' | paste --serial --delimiters=' '
}

counts() { [ "$(counted "$1")" = "$2" ]; }

waits_for() { [ "$(state "$1") $(reason "$1")" = "PENDING $2" ]; }

@test "nothing counts towards a limit when the jobs of all other tests have ended" {
	counted normal
	wait_until 10 counts normal "jobs=0 cpu=0 mem=0 node=0"
}

@test "job over a limit waits with Slurm's own reason, and others start" {
	jobs=()
	for _ in 1 2 3; do jobs+=("$(submit --qos=few --mem=50 -- "sleep 60")"); done
	narrow=$(submit --qos=narrow --ntasks=3 --mem-per-cpu=20 -- "sleep 60")
	over=$(submit --qos=narrow --ntasks=2 --mem-per-cpu=20 -- "sleep 1")
	within=$(submit --qos=narrow --ntasks=1 --mem=20 -- "sleep 60")
	large=$(submit --qos=small --ntasks=3 --mem-per-cpu=20 -- "sleep 1")
	big=$(submit --qos=small --ntasks=1 --mem=600 -- "sleep 1")
	long=$(submit --qos=brief --time=5 --mem=20 -- "sleep 1")
	wide=$(submit --qos=wide --ntasks=4 --nodes=1 --mem-per-cpu=20 -- "sleep 1")
	for job in "${jobs[0]}" "${jobs[1]}" "$narrow" "$within"; do wait_for_state "$job" RUNNING 10; done
	wait_until 5 waits_for "${jobs[2]}" QOSMaxJobsPerUserLimit
	wait_until 5 waits_for "$over" QOSGrpCpuLimit
	wait_until 5 waits_for "$large" QOSMaxCpuPerJobLimit
	wait_until 5 waits_for "$big" QOSMaxMemoryPerJob
	wait_until 5 waits_for "$long" QOSMaxWallDurationPerJobLimit
	# The minimum of a QOS applies to the job's request, not to how it is started.
	wait_for_state "$wide" COMPLETED 10
	counted narrow
	counts narrow "jobs=2 cpu=4 mem=80 node=4" || counts narrow "jobs=2 cpu=4 mem=80 node=3"
	controller scancel "$narrow" "${jobs[0]}"
	wait_for_state "$over" COMPLETED 10
	wait_for_state "${jobs[2]}" RUNNING 10
}

@test "no job is preempted for a job that its limits block" {
	old=$(in_cluster controller -u bob -- sbatch --parsable --output=/dev/null --nodelist=n1 --mem=900 --wrap "sleep 60")
	wait_for_state "$old" RUNNING 10
	filler=$(submit --qos=narrow --ntasks=3 --nodes=1 --nodelist=n2 --mem-per-cpu=20 -- "sleep 60")
	wait_for_state "$filler" RUNNING 10
	over=$(submit --qos=narrow --ntasks=2 --nodes=1 --nodelist=n1 --mem=900 -- "sleep 1")
	wait_until 5 waits_for "$over" QOSGrpCpuLimit
	sleep 2
	[ "$(state "$old")" = RUNNING ]
	second=$(in_cluster controller -u bob -- sbatch --parsable --output=/dev/null --mem=50 --wrap "sleep 1")
	wait_until 5 waits_for "$second" AssocMaxJobsLimit
	controller scontrol update partition=main AllowAccounts=elsewhere
	foreign=$(submit --ntasks=1 --nodelist=n1 --mem=900 -- "sleep 1")
	# By then the old job may be preempted for a job that may start.
	sleep 3
	[ "$(state "$old") $(state "$foreign")" = "RUNNING PENDING" ]
	controller scontrol update partition=main AllowAccounts=ALL
}

@test "parked job counts towards limits as a suspended one, and no longer when it has ended" {
	needs_parking
	park_for "sleep 60" --nodelist=n3 --mem=900 --time=10 -- "$burn --work 100 --rate $rate --memory 100"
	counted normal
	wait_until 5 counts normal "jobs=2 cpu=2 mem=1800 node=1"
	controller scancel "$parked_job" "$preempting_job"
	wait_until 20 counts normal "jobs=0 cpu=0 mem=0 node=0"
	run controller sacct --noheader --parsable2 --allocations --jobs "$parked_job,$preempting_job" --format=State,AllocTRES
	echo "$output"
	[ "$(echo "$output" | grep -c '^CANCELLED by 0|billing=1,cpu=1,mem=900M,node=1$')" = 2 ]
}
