# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# How ./test runs its parts: each is a job in a session of its own, with a heading, a log in $logs, its tests
# counted, and its time. Sourced, never run.

logs=target/test
passed=0 failed=0 failures=()
# By heading: the process of each job that is not finished, which leads a session.
declare -A jobs=()
# Headings of the jobs that finish_begun is to show.
begun=()
# Whether steps have only the CPU that the jobs beside them leave.
idle=no

log_of() { echo "$logs/$(tr -c '[:alnum:]\n' '-' <<<"$1").log"; }

# step HEADING COMMAND...: a job, until it is over.
step() {
	start "$@"
	finish "$1"
}

# begin HEADING COMMAND...: a job that goes on beside what follows.
begin() {
	echo "... $1: begins, beside what follows; see $(log_of "$1")"
	idle=no start "$@"
	begun+=("$1")
}

# begin_next HEADING COMMAND...: the same, once the job that was begun last is over.
begin_next() { predecessor=${jobs[${begun[-1]}]} begin "$@"; }

# Waits for all jobs that were begun, and shows them, one after the other.
finish_begun() {
	local heading
	for heading in "${begun[@]}"; do finish "$heading"; done
	begun=()
}

# start HEADING COMMAND...: the command may be a function; of variables it sees what is exported.
start() {
	local log && log=$(log_of "$1")
	truncate --size 0 "$log" "$log.time"
	# A shell has what it starts in the background ignore Ctrl-C, and then nothing in it could do otherwise.
	setsid env --default-signal=INT,QUIT bash -uo pipefail -c "$(declare -f); run_job \"\$@\"" \
		job "$log" "$idle" "${predecessor:-}" "${@:2}" </dev/null &
	jobs[$1]=$!
}

# run_job LOG IDLE PREDECESSOR COMMAND...: in the new session. If that is ended, this shell goes last: when the command
# has cleaned up. LOG.time gets the command's seconds, and those of CPU, without what Docker did for it.
run_job() {
	trap 'exit 143' TERM
	if [ "$2" = yes ]; then
		chrt --idle --pid 0 $$
		# The kernel may give all sessions equal parts.
		[ ! -e /proc/self/autogroup ] || echo 19 >/proc/self/autogroup
	fi
	[ -z "$3" ] || tail --pid="$3" --follow /dev/null
	local TIMEFORMAT='%0R %0U %0S'
	{ time "${@:4}" >>"$1" 2>&1; } 2>"$1.time"
}

# Ends all jobs, in such a way that they can clean up, and waits for that.
end_jobs() {
	local job
	[ ${#jobs[@]} = 0 ] || echo "test: ending what was begun" >&2
	for job in "${jobs[@]}"; do kill -TERM -- "-$job" 2>/dev/null || kill -TERM "$job" 2>/dev/null; done
	for job in "${jobs[@]}"; do wait "$job"; done
}

# finish HEADING: shows what the job prints until it is over, and counts its tests; what prints no count is one test.
finish() {
	local log status=0 good bad seconds=0 user=0 system=0
	log=$(log_of "$1")
	echo "=== $1"
	tail --follow --lines=+1 --sleep-interval=0.2 --pid="${jobs[$1]}" "$log" &
	# Signals end this wait; they would not end that for a program in the foreground.
	wait "${jobs[$1]}" || status=$?
	unset "jobs[$1]"
	wait $!
	read -r seconds user system < <(tail --lines=1 "$log.time") # before it: what bash says of a command that was killed
	read -r good bad < <(count <"$log")
	[ "$good $bad" != "0 0" ] || grep -q '^skipped: ' "$log" || { [ $status = 0 ] && good=1 || bad=1; }
	passed=$((passed + good)) failed=$((failed + bad))
	if [ $status = 0 ] && [ "$bad" = 0 ]; then
		echo "--- $1: $good passed, $seconds s ($((user + system)) s of CPU)"
	else
		failures+=("$1")
		echo "--- $1: FAILED ($good passed, $bad failed), $seconds s ($((user + system)) s of CPU); see $log"
	fi
}

# "PASSED FAILED" from the output of cargo nextest, cargo test, bats, or a test script of ours, which
# prints "ok NAME" or "FAILED NAME" for each test. Tests that were skipped do not count.
count() {
	sed 's/\x1b\[[0-9;]*m//g' | awk '
		/^test result: / { passed += $4; failed += $6 }
		/^ *Summary \[/ { for (i = 2; i <= NF; i++) {
			if ($i ~ /^passed/) passed += $(i - 1)
			if ($i ~ /^(failed|timed)/) failed += $(i - 1) } }
		/^ok / && !/ # skip/ { passed++ }
		/^(not ok|FAILED) / { failed++ }
		END { print passed + 0, failed + 0 }'
}

# Says how all of it went; the status is 0 only if nothing failed.
totals() {
	printf '\n%s tests: %s passed, %s failed, %s s\n' $((passed + failed)) $passed $failed $SECONDS
	grep -h -e '^# try 1 of' -e '^skipped: ' "$logs"/*.log
	[ ${#failures[@]} = 0 ] && return
	printf 'failed: %s\n' "${failures[@]}"
	# Most of what fails at once fails for this.
	printf '%s MB are free on the disk of this directory\n' "$(df --output=avail --block-size=1M . | tail --lines=1)"
	return 1
}
