# SPDX-License-Identifier: BSD-3-Clause
"""gputrace timeline -i on a terminal: screen.py DIR types keys and prints what came.

Limits: looks for texts, not for places.
"""
import os
import pty
import re
import select
import sys
import time


def drive(command, steps):
    """Each step waits for a text on the screen and then types keys. Returns what was missing, and the status."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LINES="24", COLUMNS="100")
        os.execvp(command[0], command)
    seen, steps, end = "", list(steps), time.time() + 60
    while time.time() < end:
        if select.select([fd], [], [], 0.1)[0]:
            try:
                data = os.read(fd, 65536)
            except OSError:
                data = b""
            if not data:
                break
            seen += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\(B", "\n", data.decode(errors="replace"))
        if steps and re.search(steps[0][0], seen):
            seen = ""
            os.write(fd, steps.pop(0)[1])
    else:
        os.kill(pid, 9)
    return [step[0] for step in steps], os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def shown(keys):
    """The keys, and that all is drawn again."""
    return keys + b"\x0c"


print(*drive(["gputrace", "timeline", "-i", sys.argv[1]], [
    ("q quit", shown(b"s")),
    (r"row 1 of \d+, a row for each depth", shown(b"s")),
    (r"row 1 of 5\b(?!, a row)", shown(b"]")),
    ("calls down to depth 1", shown(b"[j")),
    (r"row 2 of 5\b(?!, calls)", shown(b"/CUDA\n")),
    ("row 3 of 5", shown(b"u")),
    ("row 1 of 5", shown(b"d")),
    (r"row [^1] of 5", shown(b"G")),
    ("row 5 of 5", shown(b"yh")),
    ("half a page", shown(b"x")),
    ("row 4 of 5", shown(b"?worker\n")),
    ("row 2 of 5", shown(b"n")),
    ("row 5 of 5", shown(b"N")),
    ("row 2 of 5", shown(b"/CUDA\n")),
    ("row 3 of 5", shown(b"++++++")),
    (r"\d ns: ", shown(b"0")),
    (r"\d us \+ .*: ", b"q")]))
