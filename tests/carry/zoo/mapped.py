#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# Mapped memory: a file, shared; a file, private; shared by two processes without a file; and one that is nearly empty.

import hashlib
import mmap
import os
import time

SIZE = 1 << 20
with open("shared.bin", "w+b") as file:
    file.truncate(SIZE)
    shared = mmap.mmap(file.fileno(), SIZE)
with open("private.bin", "w+b") as file:
    file.write(b"p" * SIZE)
    file.flush()
    private = mmap.mmap(file.fileno(), SIZE, flags=mmap.MAP_PRIVATE)
common = mmap.mmap(-1, SIZE)
sparse = mmap.mmap(-1, 512 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
child = os.fork()
for step in range(26):
    if child == 0:
        common[step] = step + 1
    else:
        for area in (shared, private, sparse):
            area[step * 5000:step * 5000 + 4] = b"%04d" % step
        print(step, hashlib.md5(shared).hexdigest())
    time.sleep(0.5)
if child == 0:
    os._exit(0)
print("the child ended with", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(bytes(common[:26]) == bytes(range(1, 27)), hashlib.md5(private).hexdigest(), sparse[125000:125004])
with open("shared.bin", "rb") as file:
    print(hashlib.md5(file.read()).hexdigest())
with open("private.bin", "rb") as file:
    print(file.read() == b"p" * SIZE)
