#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# What waits in the kernel: a full pipe, a pair of sockets, an eventfd, a pending signal, and epoll over them.

import os
import select
import signal
import socket
import time

reader, writer = os.pipe()
os.write(writer, b"in the pipe")
first, second = socket.socketpair()
first.send(b"in the socket")
datagrams = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
datagrams[0].send(b"one")
datagrams[0].send(b"two")
counter = os.eventfd(3)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
os.kill(os.getpid(), signal.SIGUSR2)
poll = select.epoll()
for file in (reader, second.fileno(), counter):
    poll.register(file, select.EPOLLIN)
for step in range(26):
    print(step, len(poll.poll(0)), signal.sigpending() == {signal.SIGUSR2})
    time.sleep(0.5)
print(os.read(reader, 99), second.recv(99), datagrams[1].recv(99), datagrams[1].recv(99))
print(os.eventfd_read(counter), signal.sigtimedwait([signal.SIGUSR2], 0).si_signo == signal.SIGUSR2)
