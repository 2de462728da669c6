#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016 # expanded by jobs
#
# Jobs below dfrs-carrier run as before. Those of partition main have it, those of plain have not.

load helpers

images=/var/lib/dfrs/images

setup_file() {
	make_partition_plain
}

@test "the batch script of a partition that is named is below the carrier, and no other" {
	local job command='cat /proc/$PPID/comm; srun cat /proc/self/status | grep NSpid'
	job=$(run_job -p main -- "$command")
	[ "$(output "$job" | head -n 1)" = dfrs-carrier ]
	# Steps are not.
	[ "$(output "$job" | grep -c .)" = 2 ]
	[ "$(output "$job" | tail -n 1 | wc -w)" = 2 ]
	job=$(run_job -p plain -- "$command")
	[ "$(output "$job" | head -n 1)" = slurmstepd ]
	job=$(run_job -p main -N 2 -n 2 -- "$command")
	[ "$(output "$job" | head -n 1)" = slurmstepd ]
}

@test "a script sees no difference" {
	local job partition
	for partition in main plain; do
		job=$(run_job -p $partition -w n1 --mem=100 -- 'sleep 0.2
			env | grep -v -E "TASK_PID|PARTITION|JOB_(ID|START|END)|JOBID|SLURM_SCRIPT|_TIME=" | sort
			id; pwd; umask; ulimit -a; nice; taskset -p $$ | sed "s/.*://"
			grep -E "Sig[PBIC]|Groups|Cpus|Mems|Cap|NoNew|Seccomp|TracerPid|Uid" /proc/$$/status
			sed "s/^[0-9]*://; s/job_[0-9]*/job/" /proc/$$/cgroup; cat /proc/$$/oom_score_adj
			ls -l /proc/$$/fd | sed "s/.*:.. //; s/[0-9]*[.]out/out/; s/job[0-9]*/job/"
			for fd in 1 2; do grep flags /proc/$$/fdinfo/$fd; done
			[ "$(ps -o pgid= $$)" -eq $$ ] && echo a group of its own')
		output "$job" | sed "s/\b$job\b/JOB/g" >"$BATS_TEST_TMPDIR/$partition"
	done
	grep -q 'a group of its own' "$BATS_TEST_TMPDIR/main"
	diff "$BATS_TEST_TMPDIR/plain" "$BATS_TEST_TMPDIR/main"
}

@test "exit codes" {
	local job
	job=$(run_job -- 'exit 0')
	[ "$(state "$job") $(exit_code "$job")" = "COMPLETED ExitCode=0:0" ]
	job=$(run_job -- 'exit 7')
	[ "$(state "$job") $(exit_code "$job")" = "FAILED ExitCode=7:0" ]
	job=$(run_job -- 'kill -KILL $$')
	[ "$(state "$job") $(exit_code "$job")" = "FAILED ExitCode=0:9" ]
	job=$(run_job -- 'kill -SEGV $$')
	[ "$(state "$job") $(exit_code "$job")" = "FAILED ExitCode=0:11" ]
}

@test "scancel ends a job and all that it has begun" {
	local job
	job=$(submit_and_wait ready -w n1 -- 'trap "echo TERM for the script" TERM; (setsid sleep 300 &); sleep 300 & echo ready; wait; sleep 300')
	controller scancel "$job"
	wait_until 20 nothing_is_left n1
	wait_for_state "$job" CANCELLED 20
	prints "$job" "TERM for the script"
}

@test "scancel --batch --signal reaches the script, and the script only" {
	local job
	job=$(submit_and_wait ready -w n1 -- 'trap "echo got USR1; exit 5" USR1; trap "echo got TERM" TERM
		bash -c "trap \"echo bad\" USR1 TERM; for i in {1..100}; do sleep 0.3; done" & echo ready
		while :; do wait; done')
	controller scancel --batch --signal=TERM "$job"
	wait_until 10 prints "$job" "got TERM"
	controller scancel --batch --signal=USR1 "$job"
	wait_for_state "$job" FAILED 20
	[ "$(exit_code "$job")" = ExitCode=5:0 ]
	[ "$(output "$job" | grep -c got)" = 2 ]
	[ "$(output "$job" | grep -c "^bad")" = 0 ]
}

@test "a warning before the time limit, and the limit" {
	local job
	job=$(submit_and_wait ready --time=1 --signal=B:USR1@40 -- 'trap "echo got USR1" USR1; trap "echo got TERM" TERM; echo ready
		while :; do sleep 1; done')
	wait_until 70 prints "$job" "got USR1"
	wait_for_state "$job" TIMEOUT 120
	prints "$job" "got TERM"
}

@test "too much memory" {
	local job
	job=$(submit_and_wait ready -w n1 --mem=60 -- 'echo ready; until [ -e "finish.$SLURM_JOB_ID" ]; do sleep 0.3; done
		python3 -c "b = bytearray(400 << 20); print(\"bad\")"; echo "python ended with $?"; exit 9')
	# The mini-Slurm has swap, and without dfrsd its jobs use it.
	in_cluster n1 find /sys/fs/cgroup/memory -path "*/job_$job/*" -name memory.swappiness -exec sh -c 'echo 0 >"$1"' _ {} \;
	finish "$job"
	wait_for_state "$job" OUT_OF_MEMORY 30
	prints "$job" "python ended with 137"
	[ "$(output "$job" | grep -c "^bad")" = 0 ]
}

@test "suspend and resume" {
	local job count
	job=$(submit_and_wait 'count 3' -- 'for i in {1..25}; do echo count $i; sleep 0.2; done; exit 4')
	controller scontrol suspend "$job"
	wait_for_state "$job" SUSPENDED 20
	sleep 1
	count=$(output "$job" | wc -l)
	sleep 2
	[ "$(output "$job" | wc -l)" = "$count" ]
	controller scontrol resume "$job"
	wait_for_state "$job" FAILED 60
	[ "$(exit_code "$job")" = ExitCode=4:0 ]
	[ "$(output "$job" | grep -c count)" = 25 ]
}

@test "a script that stops itself goes on by scancel --signal=CONT" {
	local job
	job=$(submit_and_wait ready -- 'echo ready; kill -STOP $$; exit 6')
	sleep 1
	is_in_state "$job" RUNNING
	controller scancel --batch --signal=CONT "$job"
	wait_for_state "$job" FAILED 20
	[ "$(exit_code "$job")" = ExitCode=6:0 ]
}

@test "srun in the script" {
	local job
	job=$(run_job -n 2 -- 'srun bash -c "echo task \$SLURM_PROCID on \$(hostname)"; srun bash -c "exit 3"; echo "srun ended with $?"; exit 2')
	[ "$(output "$job" | grep -c '^task [01] on n[1-4]')" = 2 ]
	prints "$job" 'srun ended with 3'
	[ "$(exit_code "$job")" = ExitCode=2:0 ]
}

@test "sstat and sacct count what the script uses" {
	local job
	job=$(submit_and_wait ready -w n1 --mem=300 -- 'python3 -c "
import time
b = bytearray(100 << 20)
for i in range(0, len(b), 4096): b[i] = 1
print(\"ready\", flush=True)
while time.process_time() < 2: pass
time.sleep(15)"; exit 3')
	wait_until 20 counts_memory "$job"
	[ "$(controller sstat --noheader --parsable2 --format=NTasks --jobs "$job.batch")" = 1 ]
	wait_for_state "$job" FAILED 60
	wait_until 20 is_accounted "$job"
}

# shellcheck disable=SC2317 # for wait_until
counts_memory() { [ "$(controller sstat --noheader --parsable2 --noconvert --format=MaxRSS --jobs "$1.batch" | tr -dc 0-9)" -gt 100000000 ]; }

# shellcheck disable=SC2317
is_accounted() {
	controller sacct --noheader --parsable2 --jobs "$1.batch" --format=State,ExitCode,CPUTimeRAW,TotalCPU | grep -qE '^FAILED\|3:0\|[0-9]+\|00:0[2-9]'
}

@test "a requeued job appends, and has PIDs of its own" {
	local job other
	job=$(submit_and_wait begin --error=/home/alice/%j.err -- 'echo begin $$; echo error >&2; sleep 300')
	requeue_now "$job"
	wait_until 30 has_begun_twice "$job"
	[ "$(controller grep -c '^error' "/home/alice/$job.err")" = 2 ]
	[ "$(output "$job" | grep "^begin" | sort -u | wc -l)" = 1 ]
	[ "$(output "$job" | awk 'NR == 1 { print $2 }')" -gt 300 ]
	other=$(run_job -- 'echo begin $$')
	[ "$(output "$other")" != "$(output "$job" | head -n 1)" ]
}

# shellcheck disable=SC2317
has_begun_twice() { [ "$(output "$1" | grep -c "^begin")" = 2 ]; }

@test "what a script leaves behind ends with it" {
	local job
	job=$(run_job -w n1 -- '(setsid sleep 300 &); nohup sleep 300 >/dev/null 2>&1 & disown; (sleep 0.2; exit 1) & sleep 1; ls /proc/[0-9]*/stat | xargs cat | grep -c ") Z " ; exit 0')
	[ "$(state "$job")" = COMPLETED ]
	prints "$job" '^0$'
	wait_until 10 nothing_is_left n1
}

@test "an image that cannot be restored is kept, and the job held" {
	local job
	job=$(submit_and_wait begin -w n1 -- 'echo begin; sleep 300')
	in_cluster n2 mkdir -m 700 "$images/$job"
	in_cluster n2 sh -c "echo garbage >$images/$job/ready"
	requeue_now "$job"
	wait_for_state "$job" SPECIAL_EXIT 60
	[ "$(output "$job" | grep -c "^begin")" = 1 ]
	in_cluster n1 test -e "$images/$job/ready"
	in_cluster n1 rm -r "$images/$job"
	controller scancel "$job"
}

# starts PARTITION: milliseconds from slurmd's order to the script's first command, of 8 jobs: the median, and the most.
starts() {
	local job ordered
	for _ in {1..8}; do
		job=$(run_job -p "$1" -w n1 -- 'echo $EPOCHREALTIME')
		ordered=$(in_cluster n1 grep -oE "^\[[^]]*\] Launching batch job $job " /var/log/slurm/slurmd.log | grep -oE '^\[[^]]*' | tail -c +2)
		awk -v a="$(in_cluster n1 date -d "$ordered" +%s.%N)" -v b="$(output "$job")" 'BEGIN { printf "%d\n", 1000 * (b - a) }'
	done | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)], all[NR] }'
}

@test "how long a start takes" {
	local with without
	with=$(starts main)
	without=$(starts plain)
	echo "# start of a script, ms (median, most): $with below the carrier, $without without" >&3
	[ "${with%% *}" -lt $((${without%% *} + 200)) ]
}
