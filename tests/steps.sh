# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The parts of ./test: each under a heading, with its output, its tests counted, and its time. Sourced, never
# run. Logs are in target/test.

logs=target/test
passed=0
failed=0
failures=()

# By heading, what runs in the background: sessions, which can be ended with all that is in them.
declare -A sessions=()

# Headings of the sessions that finish_beside is to show.
beside=()

# The process of the last queued session.
last_queued=

# Whether steps leave the CPU to what runs beside them, as long as it does.
steps_are_idle=no

log_of() { echo "$logs/$(tr -c '[:alnum:]\n' '-' <<<"$1").log"; }

# step HEADING COMMAND...: one part of the whole, whose output is shown as it comes.
step() {
	local heading=$1 log start
	log=$(log_of "$heading")
	echo "=== $heading"
	if [ $steps_are_idle = yes ] && any_beside_runs; then
		begin_session "$heading" at_idle_priority "${@:2}"
		tail --follow --lines=+1 --sleep-interval=0.2 --pid="${sessions[$heading]}" "$log"
		conclude_session "$heading"
	else
		start=$SECONDS
		measured "$log.cpu" "${@:2}" 2>&1 | tee "$log"
		conclude "$heading" "${PIPESTATUS[0]}" $((SECONDS - start))
	fi
}

# begin_beside HEADING COMMAND...: a part that goes on beside the steps that follow.
begin_beside() {
	echo "... $1: begins, beside what follows; see $(log_of "$1")"
	begin_session "$@"
	beside+=("$1")
}

# begin_queued HEADING COMMAND...: a part that goes on beside the steps that follow, as soon as all
# parts queued before it are over.
begin_queued() {
	predecessor=$last_queued begin_beside "$@"
	last_queued=${sessions[$1]}
}

any_beside_runs() {
	local heading
	for heading in "${beside[@]}"; do
		! kill -0 "${sessions[$heading]}" 2>/dev/null || return 0
	done
	return 1
}

# Waits for all that runs beside, and shows it, one after the other.
finish_beside() {
	local heading
	for heading in "${beside[@]}"; do
		wait "${sessions[$heading]}"
		echo "=== $heading"
		cat "$(log_of "$heading")"
		conclude_session "$heading"
	done
	beside=()
}

# begin_session HEADING COMMAND...: the command may be a function of ours. It begins when the process $predecessor, if
# there is one, is over.
begin_session() {
	local log
	log=$(log_of "$1")
	: >"$log"
	rm -f "$log.end"
	setsid bash -uo pipefail -c "$(declare -p logs); $(declare -f); run_session \"\$@\"" session "$log" "${predecessor:-}" "${@:2}" </dev/null &
	sessions[$1]=$!
}

# run_session LOG PREDECESSOR COMMAND...: in the new session. This shell outlives the end of the session, to say when
# all is over.
run_session() {
	trap : TERM
	[ -z "$2" ] || tail --pid="$2" --follow /dev/null
	SECONDS=0
	(measured "$1.cpu" "${@:3}") >>"$1" 2>&1
	echo $? $SECONDS >"$1.end"
}

# measured FILE COMMAND...: leaves in the file how many seconds of CPU it and its children took, apart from what Docker
# did for them.
measured() {
	local TIMEFORMAT='%0U %0S'
	{ time "${@:2}" 2>&3; } 3>&2 2>"$1"
}

# at_idle_priority COMMAND...: runs it on CPU that is idle otherwise, within this session and, where
# the kernel gives all sessions equal parts (autogroup), among the sessions.
at_idle_priority() {
	chrt --idle --pid 0 "$BASHPID"
	[ ! -e /proc/self/autogroup ] || echo 19 >/proc/self/autogroup
	"$@"
}

# Ends all sessions, in such a way that they can clean up, and waits for that.
end_sessions() {
	local session
	[ ${#sessions[@]} = 0 ] || echo "test: ending what was begun" >&2
	for session in "${sessions[@]}"; do kill -TERM -- "-$session" 2>/dev/null; done
	for session in "${sessions[@]}"; do wait "$session"; done
}

# conclude_session HEADING: concludes a session that is over, or soon will be.
conclude_session() {
	local status=1 seconds=0
	wait "${sessions[$1]}"
	unset "sessions[$1]"
	# There is no such file if the session was killed.
	read -r status seconds 2>/dev/null <"$(log_of "$1").end"
	conclude "$1" "$status" "$seconds"
}

# conclude HEADING STATUS SECONDS: counts its tests by what it has printed; a step that has printed no count is
# one test.
conclude() {
	local heading=$1 status=$2 seconds=$3 log counts user=0 system=0
	log=$(log_of "$heading")
	read -r user system 2>/dev/null <"$log.cpu"
	seconds="$seconds s ($((user + system)) s of CPU)"
	counts=$(count "$log")
	[ "$counts" != "0 0" ] || { [ "$status" = 0 ] && counts="1 0" || counts="0 1"; }
	passed=$((passed + ${counts% *}))
	failed=$((failed + ${counts#* }))
	if [ "$status" = 0 ] && [ "${counts#* }" = 0 ]; then
		echo "--- $heading: ${counts% *} passed, $seconds"
	else
		failures+=("$heading")
		echo "--- $heading: FAILED (${counts% *} passed, ${counts#* } failed), $seconds; see $log"
	fi
}

# "PASSED FAILED" from the output of cargo nextest, cargo test, bats, or a test script of ours, which
# prints "ok NAME" or "FAILED NAME" for each test. Tests that were skipped do not count.
count() {
	sed 's/\x1b\[[0-9;]*m//g' "$1" | awk '
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
	echo
	echo "$((passed + failed)) tests: $passed passed, $failed failed, $SECONDS s"
	grep -h '^# try 1 of' "$logs"/*.log
	[ ${#failures[@]} = 0 ] || { printf 'failed: %s\n' "${failures[@]}" && return 1; }
}
