#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# The shell's own state: a here-document, process substitution, arrays, RANDOM, a trap at the end, $$.

set -euo pipefail
RANDOM=7
own=$$
declare -A values=()
trap 'echo "at the end ${#values[@]}"; exit 5' EXIT
while read -r name value; do
	values[$name]=$value
	echo "$name $value $RANDOM"
	sleep 1.2
done <<-TEXT
	one 1
	two 2
	three 3
	four 4
	five 5
	six 6
TEXT
for name in "${!values[@]}"; do echo "$name=${values[$name]}"; done | sort
while read -r line; do echo "read $line"; done < <(for step in 1 2 3 4 5 6; do
	echo "$step"
	sleep 1
done)
[ "$own" = $$ ] && [ "$own" = "$(sh -c 'echo $PPID')" ] && echo "the same process"
