#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# A program that checks itself: its clock (not that of its CPU time, which begins at 0 after a carry), the state of its
# random generator, and the sum of a file that it reads.

import hashlib
import os
import random
import time

with open("input", "wb") as file:
    file.write(random.Random(9).randbytes(26 * 40000))
generator = random.Random(11)
expected = random.Random(11)
drawn = [expected.random() for _ in range(26)]
digest = hashlib.sha256()
begin = time.monotonic()
last = begin
os.umask(0o27)
identity = (os.getpid(), os.getppid(), os.getsid(0), os.getuid(), os.getcwd(), os.umask(0o27))
with open("input", "rb", buffering=0) as file:
    for step in range(26):
        digest.update(file.read(40000))
        if generator.random() != drawn[step]:
            raise SystemExit("the random generator lost its state")
        now = time.monotonic()
        if now < last:
            raise SystemExit("a clock went back")
        last = now
        print(step, digest.hexdigest())
        time.sleep(0.5)
if identity != (os.getpid(), os.getppid(), os.getsid(0), os.getuid(), os.getcwd(), os.umask(0o27)):
    raise SystemExit("the process is not what it was")
with open("input", "rb") as file:
    print(hashlib.sha256(file.read()).hexdigest() == digest.hexdigest(), 13 <= time.monotonic() - begin < 40)
