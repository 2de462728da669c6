#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# A pipeline: a program with 60 MB of changing memory, sed, a loop of the shell, and tee.

set -euo pipefail
python3 -u -c '
import hashlib, time
memory = bytearray(60 << 20)
for step in range(26):
    for at in range(step * 4096, len(memory), 26 * 4096):
        memory[at] = (at >> 12) % 251
    print(step, hashlib.md5(memory).hexdigest())
    time.sleep(0.5)
' | sed -u 's/ / : /' | while read -r line; do echo "[$line]"; done | tee kept
wc -l <kept
md5sum kept
