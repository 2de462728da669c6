#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: refused named pipe
# A pipe with a name, and something in it.

import os
import time

os.mkfifo("fifo")
fifo = os.open("fifo", os.O_RDWR)
os.write(fifo, b"in the fifo")
for step in range(26):
    print(step)
    time.sleep(0.5)
print(os.read(fifo, 99))
