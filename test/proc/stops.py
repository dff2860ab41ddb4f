# SPDX-License-Identifier: BSD-3-Clause
"""What a parent sees of a command that stops: waitpid() with WUNTRACED and WCONTINUED, as text.

    stops.py PREFIX...    # the words in front of each command: nothing, or gputrace run ...
"""

import os
import signal
import sys

STOPS = "kill -STOP $$; read x; kill -TSTP $$; read x; exit 5"


def describe(status):
    if os.WIFSTOPPED(status):
        return f"stopped {os.WSTOPSIG(status)}"
    if os.WIFCONTINUED(status):
        return "continued"
    return f"exit {os.WEXITSTATUS(status)}" if os.WIFEXITED(status) else f"signal {os.WTERMSIG(status)}"


def watch(command, go_on):
    """Each time the command has stopped, go_on(pid) is to let it go on."""
    read, write = os.pipe()
    line, lines = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.dup2(line, 0)
        os.dup2(write, 9)  # it writes its process id
        os.execvp(command[0], command)
    os.close(write)
    os.close(line)
    inner, seen = int(os.read(read, 20)), []
    while True:
        status = os.waitpid(pid, os.WUNTRACED | os.WCONTINUED)[1]
        seen.append(describe(status))
        if os.WIFSTOPPED(status):
            go_on(pid, inner)
        elif os.WIFCONTINUED(status):
            try:
                os.write(lines, b"\n")
            except BrokenPipeError:
                pass
        else:
            os.close(read)
            os.close(lines)
            return ", ".join(seen)


signal.alarm(40)
shell = sys.argv[1:] + ["sh", "-c", "echo $$ >&9; exec 9>&-; " + STOPS]
print("the group:", watch(shell, lambda pid, inner: os.killpg(pid, signal.SIGCONT)))
print("the child:", watch(shell, lambda pid, inner: os.kill(pid, signal.SIGCONT)))
print("the command alone:", watch(shell, lambda pid, inner: os.kill(inner, signal.SIGCONT)))
# gputrace run has to go on before it can end.
ends = watch(shell, lambda pid, inner: os.kill(inner, signal.SIGKILL))
print("killed while it is stopped:", ends.replace(", continued", ""))
