#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# awk with commands that it starts and reads, tee and sed after it.

set -euo pipefail
awk 'BEGIN {
	srand(3)
	for (i = 0; i < 26; i++) {
		"echo " i * i | getline square
		print i, square, int(rand() * 1e6)
		fflush()
		system("sleep 0.5")
	}
}' | tee kept | sed -u 's/^/> /'
wc -l <kept
