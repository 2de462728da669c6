#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Nodes whose cores have two threads: a job that needs one of each holds the other one, too, as
# Slurm counts, and srun inside finds what it expects.
# shellcheck disable=SC2154 # burn and rate are in helpers.bash

load helpers

# as_nodes WORDS: restarts all daemons of Slurm with nodes like this.
as_nodes() {
	local ready host
	ready=$(times_ready)
	for host in controller n1 n2 n3 n4; do
		in_cluster $host sed -i "s/^NodeName=n.*/NodeName=n[1-4] CPUs=4 $1RealMemory=1000 State=UNKNOWN/" /etc/slurm/nodes.conf
	done
	controller /opt/cluster/service slurmctld restart
	for host in n1 n2 n3 n4; do
		in_cluster $host /opt/cluster/service slurmd restart
	done
	wait_until 60 was_ready_more_often_than "$ready"
	wait_for_idle_nodes 60
}

setup_file() { as_nodes "Sockets=1 CoresPerSocket=2 ThreadsPerCore=2 "; }

teardown_file() { as_nodes ""; }

teardown() { clean_up; }

# What Slurm counts for a job, as CPUs and MiB.
counted_for() {
	controller scontrol --oneliner show job "$1" | sed -E 's/.* NumCPUs=([0-9]+) .* (Alloc)?TRES=cpu=[0-9]+,mem=([0-9]+)M.*/\1 \3/'
}

# check_job CPUS MEMORY LINES JOB: the job completes, has written so many lines, and Slurm counted
# so many CPUs and MiB for it.
check_job() {
	wait_for_state "$4" COMPLETED 30
	[ "$(counted_for "$4")" = "$1 $2" ]
	[ "$(output "$4" | wc -l)" = "$3" ]
}

@test "task that needs one thread of its core has the core, and srun starts it" {
	check_job 1 50 1 "$(submit --ntasks=1 --mem-per-cpu=50 -- "srun hostname")"
	check_job 2 50 1 "$(submit --ntasks=1 --mem-per-cpu=50 --hint=nomultithread -- "srun hostname")"
	check_job 4 100 2 "$(submit --ntasks=2 --mem-per-cpu=50 --threads-per-core=1 -- "srun hostname")"
	check_job 4 100 1 "$(submit --ntasks=1 --cpus-per-task=2 --mem-per-cpu=50 --threads-per-core=1 -- "srun --cpus-per-task=2 hostname")"
	# On two nodes: none has cores for three.
	check_job 6 150 3 "$(submit --ntasks=3 --mem-per-cpu=50 --hint=nomultithread -- "srun hostname")"
}

@test "tasks alone on their cores have these cores, and srun starts them" {
	check_job 4 200 2 "$(submit --ntasks=2 --mem-per-cpu=50 --ntasks-per-core=1 -- "srun hostname")"
	check_job 4 200 1 "$(submit --ntasks=1 --cpus-per-task=3 --mem-per-cpu=50 --ntasks-per-core=1 -- "srun --cpus-per-task=3 hostname")"
}

# counts SAID OPTIONS: what a job with these options finds as SLURM_CPUS_ON_NODE, in its script and in a step.
counts() {
	local said=$1 job
	shift
	# shellcheck disable=SC2016 # expanded by the job
	job=$(submit --ntasks=1 --nodelist=n1 --mem=50 "$@" -- 'echo $SLURM_CPUS_ON_NODE; srun printenv SLURM_CPUS_ON_NODE')
	wait_for_state "$job" COMPLETED 30
	[ "$(output "$job" | tr '\n' ' ')" = "$said" ]
}

@test "step finds the CPUs that its job requested, as whole cores" {
	counts "1 2 " --cpus-per-task=1
	counts "2 2 " --cpus-per-task=2
	counts "4 4 " --cpus-per-task=4
}

yield_is() { controller scontrol show job "$1" | grep -qx " *AdminComment=\[DFRS: yield $2\] *"; }

@test "jobs that hold all threads of a node share it" {
	first=$(submit --ntasks=2 --nodelist=n1 --mem-per-cpu=50 --hint=nomultithread -- "srun $burn --work 120 --rate $rate")
	wait_for_state "$first" RUNNING 30
	wait_until 20 yield_is "$first" 1.00
	second=$(submit --ntasks=4 --nodelist=n1 --mem-per-cpu=50 -- "srun $burn --work 120 --rate $rate")
	wait_for_state "$second" RUNNING 30
	wait_until 20 yield_is "$first" 0.50
	wait_until 20 yield_is "$second" 0.50
	# After a restart slurmctld derives their tasks from their CPUs.
	ready=$(times_ready)
	controller /opt/cluster/service slurmctld restart
	wait_until 60 was_ready_more_often_than "$ready"
	wait_until 20 yield_is "$first" 0.50
}
