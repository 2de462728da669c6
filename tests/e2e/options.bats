#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Options of users' that DFRS follows as Slurm does.
# shellcheck disable=SC2154 # burn and rate are in helpers.bash

load helpers

teardown() {
	in_cluster controller -u alice -- scrontab -r 2>/dev/null || true
	controller scontrol update nodename=n1 activefeatures= availablefeatures= state=resume 2>/dev/null || true
	controller rm -f /home/alice/cron
	clean_up
}

cron_runs() { controller sh -c 'cat /home/alice/cron 2>/dev/null | wc -l'; }
has_run() { [ "$(cron_runs)" -ge 1 ]; }
cron_jobs() { controller squeue --noheader --user=alice --format %T; }

@test "scrontab job runs at its times and not between them" {
	controller sh -c 'command -v scrontab' || skip "this Slurm comes without scrontab"
	controller sh -c 'echo "* * * * * echo ran >>/home/alice/cron" >/home/alice/table'
	in_cluster controller -u alice -- scrontab /home/alice/table
	wait_until 70 has_run
	# It is nearly a minute until the next one, unless this one was late.
	count=$(cron_runs)
	sleep 15
	echo "$count runs, then $(cron_runs)"
	[ "$(cron_runs)" -le $((count + 1)) ]
	[ "$(cron_jobs)" = PENDING ]
}

@test "job starts on another node when the one that it prefers is drained" {
	controller scontrol update nodename=n1 availablefeatures=fast activefeatures=fast
	controller scontrol update nodename=n1 state=drain reason=test
	job=$(submit --prefer=fast --ntasks=1 --mem=50 -- true)
	wait_for_state "$job" COMPLETED 20
	controller scontrol update nodename=n1 state=resume
}

# placed_by_list NODE...: the nodes of the tasks of an srun with this host file, in their order.
placed_by_list() {
	controller sh -c 'printf "%s\n" "$@" >/home/alice/hosts' list "$@"
	in_cluster controller -u alice -- env SLURM_HOSTFILE=/home/alice/hosts timeout 60 srun --distribution=arbitrary \
		--mem-per-cpu=50 --label printenv SLURMD_NODENAME | sort --numeric-sort | cut --delimiter=' ' --fields=2 | xargs
}

@test "tasks go where a host file has them, as many to each node" {
	[ "$(placed_by_list n3 n1 n2)" = "n3 n1 n2" ]
	# Before 23.11 slurmctld keeps of the list which nodes are in it, and not how often.
	[[ $(controller scontrol --version) == *" 22.05."* ]] || [ "$(placed_by_list n2 n4 n4 n2)" = "n2 n4 n4 n2" ]
	controller sh -c 'printf "%s\n" n1 n2 n2 >/home/alice/hosts'
	# shellcheck disable=SC2016 # expanded in the container
	job=$(in_cluster controller -u alice -- sh -c 'SLURM_HOSTFILE=/home/alice/hosts sbatch --parsable -n3 -m arbitrary \
		--nodelist=/home/alice/hosts --mem-per-cpu=50 --wrap=true --output=/dev/null')
	wait_until 20 says "$job" "different numbers of tasks on its nodes"
	controller scancel "$job"
}

@test "job shows its reason when it waits for a licence, and starts when the licence is free" {
	holds=$(submit --licenses=tool --ntasks=1 --mem=50 -- "$until_finished")
	wait_for_state "$holds" RUNNING 20
	waits=$(submit --licenses=tool --ntasks=1 --mem=50 -- true)
	wait_until 10 says "$waits" Licenses
	finish "$holds"
	wait_for_state "$waits" COMPLETED 40
}
