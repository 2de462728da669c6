#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Memory without a process: files in a tmpfs.
head -c $((MEMORY - 60))M /dev/urandom >"$SHARED"
exec sleep 1000
