# SPDX-License-Identifier: BSD-3-Clause
"""Scenes of waits.py: processes that idle until another ends them, and the critical path.

Limits: as waits.py.
"""
from scene import PTHREAD, Archive, waits

SCENES = {}


def scene(function):
    """Registers one."""
    SCENES[function.__name__] = function
    return function


def server(wait, used=None, asked=90, client=None):
    """A process is made, and waited for after other work: it is in `wait` until then. used, client: ms of a
    processor."""
    a = Archive(processes=2)
    a.more = [("Parameter", 0, a.s("child process id"), 2)]
    for group, pid in ((0, "100"), (1, "101")):
        a.property(group, "GPUTRACE::PROCESS_ID", pid)
    for group, ms in ((0, client), (1, used)):
        if ms:
            a.property(group, "GPUTRACE::PROCESSOR_TIME_NS", str(ms * 1000000))
    a[0].do(a[0].call(0, 100, "client", [
        a[0].call(10, 12, "fork", [a.event(11, "ParameterUnsignedInt", 0, 101)], paradigm=PTHREAD),
        a[0].call(asked, 97, "waitpid", [a.event(97, "ParameterUnsignedInt", 0, 101)], paradigm=PTHREAD)]))
    inside = [a[1].call(16, 95, wait, paradigm=PTHREAD)] if wait else []
    a[1].do(a[1].call(15, 96, "server", inside))
    return a


@scene
def idle_server():
    """It waits for input until the other has done its work, which is on the path."""
    return server("poll"), {"critical_path": ["client,91", "fork,2", "server,1", "poll,5", "waitpid,1"]}


@scene
def awaited_server():
    """The other waits from early on: so does the path."""
    return server("poll", asked=20), {"critical_path": ["client,21", "fork,2", "server,1", "poll,75", "waitpid,1"]}


@scene
def sleeping_server():
    """Time does not pass earlier if the other is quicker."""
    return server("nanosleep"), {"critical_path": ["client,13", "fork,1", "(no region),4", "server,2",
                                                   "nanosleep,79", "waitpid,1"]}


@scene
def unseen_server():
    """Nothing says what it did, but that it did not use a processor."""
    return server(None, used=1, client=80), {"critical_path": ["client,91", "fork,2", "server,6", "waitpid,1"]}


@scene
def idle_client():
    """Neither did the one that waited for it."""
    return server("poll", used=1, client=1), {"critical_path": ["client,13", "fork,1", "(no region),4", "server,2",
                                                                "poll,79", "waitpid,1"]}


@scene
def early_child():
    """It begins before fork() returns: what its parent did until then is on the path."""
    a = Archive(processes=2)
    a.more = [("Parameter", 0, a.s("child process id"), 2)]
    for group, pid in ((0, "100"), (1, "101")):
        a.property(group, "GPUTRACE::PROCESS_ID", pid)
    a[0].do(a[0].call(0, 100, "parent", [
        a[0].call(10, 30, "fork", [a.event(29, "ParameterUnsignedInt", 0, 101)], paradigm=PTHREAD),
        a[0].call(40, 97, "waitpid", [a.event(97, "ParameterUnsignedInt", 0, 101)], paradigm=PTHREAD)]))
    a[1].do(a[1].call(15, 90, "child"))
    return a, {"critical_path": ["parent,13", "fork,5", "child,75", "waitpid,7"]}


@scene
def shell():
    """Of a shell that waits for a program, and then for a server that has nothing to do."""
    a = Archive(processes=3)
    a.more = [("Parameter", 0, a.s("child process id"), 2)]
    for group, ms in enumerate((4, 45, 1)):
        a.property(group, "GPUTRACE::PROCESS_ID", str(100 + group))
        a.property(group, "GPUTRACE::PROCESSOR_TIME_NS", str(ms * 1000000))
    a[0].do(a[0].call(0, 100, "shell", [
        *[a[0].call(t, t + 2, "fork", [a.event(t + 1, "ParameterUnsignedInt", 0, pid)], paradigm=PTHREAD)
          for t, pid in ((4, 102), (8, 101))],
        *[a[0].call(begin, end, "waitpid", [a.event(end, "ParameterUnsignedInt", 0, pid)], paradigm=PTHREAD)
          for begin, end, pid in ((12, 60, 101), (70, 97, 102))]]))
    a[1].do(a[1].call(9, 59, "program"))
    a[2].do(a[2].call(5, 96, "server"))
    return a, {"critical_path": ["shell,19", "fork,3", "program,50", "waitpid,2", "server,26"]}


@scene
def busy_server():
    """Or that it did."""
    return server(None, used=60), {"critical_path": ["client,13", "fork,1", "(no region),4", "server,81",
                                                     "waitpid,1"]}


def orphans(*systems):
    """Two children of a process that is not recorded, from 20 to 80, and others' calls of system()."""
    a = Archive(processes=2 + len(systems))
    for group in range(2 + len(systems)):
        a.property(group, "GPUTRACE::PROCESS_ID", str(100 + group))
    for i, (begin, end) in enumerate(systems):
        a[i].do(a[i].call(0, 100, "parent", [a[i].call(begin, end, "system", paradigm=PTHREAD)]))
    for i, begin in enumerate((15, 20), len(systems)):
        a.property(i, "GPUTRACE::PARENT_PROCESS_ID", "9")
        a[i].do(a[i].call(begin, begin + 60, "child"))
    return a


def shells(*rows):
    """What calls of system() waited: by process ms, and who ended it."""
    return {"waits": waits(*(("wait for child process", ms, 1, "program [%d], Master thread" % i, "system",
                              "program [%d], Master thread" % child if child else "")
                             for i, (ms, child) in enumerate(rows)))}


@scene
def orphans_of_one_call():
    """The others begin too late or end too soon."""
    return orphans((5, 60), (10, 90), (18, 70), (30, 95)), shells((55, 0), (70, 5), (52, 0), (65, 0))


@scene
def orphans_of_two_calls():
    """One was for both, but which one is not known."""
    return orphans((5, 80), (8, 85), (16, 40)), shells((75, 0), (77, 0), (24, 0))


@scene
def orphans_of_some_call():
    """The second one lives on after a call that may have been for the first."""
    return orphans((5, 78), (10, 90), (12, 30)), shells((73, 0), (70, 4), (18, 0))
