#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# numpy: matrices multiplied by a library with threads of its own, a random generator, open files.

import hashlib
import os
import time

os.environ["OPENBLAS_NUM_THREADS"] = "2"
import numpy  # noqa: E402

generator = numpy.random.default_rng(5)
# Whole numbers: the order in which threads add does not matter.
matrix = generator.integers(0, 7, (120, 120)).astype(float)
with open("lines.txt", "w") as lines, open("rows.bin", "w+b", buffering=0) as rows:
    for step in range(26):
        matrix = (matrix @ generator.integers(0, 7, (120, 120)).astype(float)) % 1009
        digest = hashlib.md5(matrix.tobytes()).hexdigest()
        lines.write(digest + "\n")
        rows.write(matrix[0].tobytes())
        print(step, digest)
        time.sleep(0.5)
    rows.seek(0)
    print(hashlib.md5(rows.read()).hexdigest())
with open("lines.txt", "rb") as lines:
    print(hashlib.md5(lines.read()).hexdigest())
