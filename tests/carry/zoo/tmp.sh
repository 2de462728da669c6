#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: refused /tmp
# A file of mktemp, open in the node's /tmp.

set -euo pipefail
file=$(mktemp)
exec 3>"$file"
for step in $(seq 26); do
	echo "$step" | tee /dev/fd/3
	sleep 0.5
done
exec 3>&-
md5sum <"$file"
rm "$file"
