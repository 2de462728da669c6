# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The root directory of a machine that a test boots. Sourced, never run; the caller defines fail.

# make_root DIRECTORY SUITE PACKAGES MMDEBSTRAP-OPTIONS...: makes DIRECTORY/root of these packages, if it is not there.
# All of these are part of the mark: others make a new root.
make_root() {
	local work=$1 suite=$2 packages=$3 mark=$1/root.made
	[ "$(cat "$mark" 2>/dev/null)" = "${*:2}" ] && return
	echo "making the root directory $work/root ($suite: $packages)" >&2
	rm -rf "$work/root" "$mark"
	mkdir -p "$work"
	mmdebstrap --quiet --variant=minbase --include="$packages" "${@:4}" "$suite" "$work/root" 2>"$work/mmdebstrap.log" ||
		fail "mmdebstrap failed, see $work/mmdebstrap.log: $(tail -n 1 "$work/mmdebstrap.log")"
	echo "${*:2}" >"$mark"
}
