#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# A coprocess, a pipe to a reader, and jobs in the background that the shell waits for.

set -euo pipefail
coproc DOUBLE { while read -r number; do echo $((number * 2)); done; }
exec 3> >(while read -r text; do echo "reader: $text"; done >read.txt)
reader=$!
(
	sleep 9
	exit 7
) &
sleeper=$!
for step in $(seq 24); do
	echo "$step" >&"${DOUBLE[1]}"
	read -r answer <&"${DOUBLE[0]}"
	echo "$step $answer"
	echo "step $step" >&3
	sleep 0.5
done
exec 3>&-
wait $reader
md5sum read.txt
status=0
wait $sleeper || status=$?
echo "the sleeper ended with $status"
