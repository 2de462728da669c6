#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: refused /dev/shm
# A named file in /dev/shm, which is the node's.

import mmap
import os
import time

name = "/dev/shm/carry-zoo-%d" % os.getpid()
with open(name, "w+b") as file:
    file.truncate(4096)
    memory = mmap.mmap(file.fileno(), 4096)
for step in range(26):
    memory[step] = 65 + step
    print(step)
    time.sleep(0.5)
with open(name, "rb") as file:
    print(file.read(26))
os.unlink(name)
