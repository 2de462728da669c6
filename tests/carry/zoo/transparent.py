#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# Memory for which the kernel may use huge pages by itself.

import hashlib
import mmap
import time

memory = mmap.mmap(-1, 24 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.madvise(mmap.MADV_HUGEPAGE)
for step in range(26):
    for at in range(step * 4096, len(memory), 26 * 4096):
        memory[at] = step + 1
    print(step, hashlib.md5(memory).hexdigest())
    time.sleep(0.5)
