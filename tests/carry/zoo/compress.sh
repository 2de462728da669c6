#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# gzip, bzip2 and sort, all at once on a stream that comes slowly.

set -euo pipefail
# Numbers that look random, 20000 lines in 24 parts.
numbers() {
	local part
	for part in $(seq 24); do
		awk -v part="$part" 'BEGIN { x = part * 7919; for (i = 0; i < 800; i++) { x = (x * 16807) % 2147483647; print x } }'
		echo "part $part" >&2
		sleep 0.5
	done
}
numbers 2>parts | tee >(gzip -9 -n >numbers.gz) >(bzip2 >numbers.bz2) | sort -n -S 1M -T . >sorted &
# The parts, as they come.
for check in $(seq 13); do
	echo "check $check"
	sleep 1
done
wait
until gzip -t numbers.gz && bzip2 -t numbers.bz2; do sleep 0.1; done 2>/dev/null
cat parts
md5sum sorted
gzip -dc numbers.gz | sort -n | md5sum
bzip2 -dc numbers.bz2 | sort -n | md5sum
