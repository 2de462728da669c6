#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: refused deleted file
# Temporary files without a name: one that was deleted, one that never had a name.

import hashlib
import os
import tempfile
import time

named = open("named.tmp", "w+b", buffering=0)
os.unlink("named.tmp")
unnamed = tempfile.TemporaryFile(dir=".", buffering=0)
files = [named, unnamed]
for step in range(26):
    for number, file in enumerate(files):
        file.write(b"%d %d\n" % (step, number) * 1000)
    print(step, *(os.fstat(file.fileno()).st_size for file in files))
    time.sleep(0.5)
for file in files:
    file.seek(0)
    print(hashlib.md5(file.read()).hexdigest())
