#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command on a terminal of a given width and prints what it shows there.

  terminal.py COLUMNS COMMAND [ARGUMENT...]

Limits: the command must not read.
"""
import fcntl
import os
import select
import struct
import sys
import termios

master, slave = os.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(sys.argv[1]), 0, 0))
child = os.fork()
if not child:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in range(3):
        os.dup2(slave, fd)
    os.closerange(3, 64)
    os.execvp(sys.argv[2], sys.argv[2:])
# Our own descriptor of the terminal stays open: what was written before its last one is closed can be lost.
shown, ended = b"", (0, 0)
while True:
    if select.select([master], [], [], 0.05)[0]:
        shown += os.read(master, 65536)
    elif ended[0]:
        break
    else:
        ended = os.waitpid(child, os.WNOHANG)
        termios.tcdrain(slave)
sys.stdout.write(shown.decode().replace("\r\n", "\n"))
sys.exit(os.waitstatus_to_exitcode(ended[1]))
