#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: refused huge
# A file in memory of huge pages, reserved or not.

import os
import time

file = os.memfd_create("huge", os.MFD_HUGETLB | os.MFD_HUGE_2MB)
for step in range(26):
    print(step, os.fstat(file).st_size)
    time.sleep(0.5)
