#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a command on a terminal of a given width and prints what it shows there.

  terminal.py COLUMNS COMMAND [ARGUMENT...]

Limits: the command must not read.
"""
import fcntl
import os
import pty
import struct
import sys
import termios

child, fd = pty.fork()
if not child:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
shown = b""
try:
    while data := os.read(fd, 65536):
        shown += data
except OSError:
    pass
sys.stdout.write(shown.decode().replace("\r\n", "\n"))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
