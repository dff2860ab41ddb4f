# SPDX-License-Identifier: BSD-3-Clause
"""gputrace run on a terminal of its own: Ctrl-C, Ctrl-Z and fg, a program that reads keys."""

import os
import pty
import re
import select
import time


def drive(command, steps):
    """Runs a command on a terminal; each step waits for a text and then types keys."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(command[0], command)
    seen, steps, end = "", list(steps), time.time() + 40
    while time.time() < end:
        ready = select.select([fd], [], [], 0.1)[0]
        if ready:
            try:
                data = os.read(fd, 4096)
            except OSError:
                break
            if not data:
                break
            seen += data.decode(errors="replace")
        if steps and re.search(steps[0][0], seen):
            time.sleep(0.3)
            os.write(fd, steps[0][1])
            seen = ""
            steps.pop(0)
    else:
        os.kill(pid, 9)
    return seen, os.waitpid(pid, 0)[1]


_, status = drive(["gputrace", "run", "-q", "-o", "tty.c", "sh", "-c", "echo on; sleep 30"], [("on", b"\x03")])
print(f"c: signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"c: status {status}")

text, _ = drive(["bash", "--norc", "--noediting", "-i"], [
    (r"[$#] $", b"PS1='> '; gputrace run -q -o tty.z sh -c 'echo o''n; sleep 1; exit 5'\n"),
    ("on\r\n", b"\x1a"),
    ("Stopped", b"fg\n"),
    (r"> $", b"echo rc=$?; exit\n")])
print("z: Stopped, " + re.search(r"rc=\d+", text).group())

text, status = drive(["gputrace", "run", "-q", "-o", "tty.in", "python3", "-q"], [
    (">>> ", b"print(6*7)\n"),
    ("42\r\n.*>>> ", b"print(42)\n\x03"),
    ("KeyboardInterrupt", b"print(42, 'Keyboard'+'Interrupt', 5*5)\nexit(3)\n")])
found = re.search(r"^42 KeyboardInterrupt 25", text, re.M)
print("in:", found.group() if found else text, f"rc={os.waitstatus_to_exitcode(status)}")
