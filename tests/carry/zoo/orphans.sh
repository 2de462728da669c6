#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# Orphans: processes whose parent has ended, one of them in a session of its own.

# shellcheck disable=SC2016 # variables of inner shells
set -euo pipefail
write='for step in $(seq 24); do echo "$0 $step" >>"$0.txt"; sleep 0.5; done; touch "$0.end"'
(setsid bash -c "$write" session >/dev/null 2>&1 &)
(bash -c "$write" plain &)
for check in $(seq 12); do
	echo "check $check"
	sleep 1
done
until [ -e session.end ] && [ -e plain.end ]; do sleep 0.2; done
md5sum session.txt plain.txt
