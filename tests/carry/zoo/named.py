#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: refused unix socket with a name
# A unix socket whose name is a file.

import socket as sockets
import time

listener = sockets.socket(sockets.AF_UNIX)
listener.bind("socket")
listener.listen()
for step in range(26):
    print(step)
    time.sleep(0.5)
client = sockets.socket(sockets.AF_UNIX)
client.connect("socket")
client.sendall(b"hello")
print(listener.accept()[0].recv(9))
