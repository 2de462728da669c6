#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: refused no_new_privs|Landlock
# expect-12: carried
# xz with threads: since 5.6 it shuts itself in with Landlock, which no image can hold. Debian 12 has 5.4.

set -euo pipefail
for part in $(seq 26); do
	awk -v part="$part" 'BEGIN { x = part * 7919; for (i = 0; i < 3000; i++) { x = (x * 16807) % 2147483647; print x } }'
	echo "part $part" >&2
	sleep 0.5
done | xz -1 -T2 --block-size=100000 -c >numbers.xz
xz -dc numbers.xz | md5sum
