# SPDX-License-Identifier: BSD-3-Clause
"""Traces of processes that end with or without MPI_Finalize while others are in a collective (traces.py).

Limits: imported by traces.py, which writes them.
"""
from goodtrace import MAIN, MPI, NONE, RANK1, R_LOCK, STRINGS, case


def lives(t, location, *names):
    """Calls of MPI_Init and MPI_Finalize, at the location's begin and before its end."""
    for i, name in enumerate(names):
        region, string, time = R_LOCK + 1 + i, len(STRINGS) + i, 930 * i + 50
        if not any(d[:2] == ("Region", region) for d in t.definitions):
            t.definitions.insert(t.find("String", string - 1) + 1, ("String", string, name))
            t.definitions.insert(t.find("Region", region - 1) + 1,
                                 ("Region", region, string, string, 0, 1, MPI, 0, NONE, 0, 0))
        before = next(e[0] for e in t.events[location] if e[0] >= max(time, 100))
        t.insert(location, before, time, "Enter", region)
        t.insert(location, before, time, "Leave", region)


@case("noted")
def ends_before_a_collective(t):
    """exit() in place of MPI_Finalize, and of the broadcast before it."""
    lives(t, MAIN, "MPI_Init", "MPI_Finalize")
    lives(t, RANK1, "MPI_Init")
    t.change(RANK1, 161, "MpiCollectiveBegin")
    t.change(RANK1, 171, "MpiCollectiveEnd")


@case("noted")
def ends_inside_a_collective(t):
    lives(t, RANK1, "MPI_Init_thread")
    t.change(RANK1, 171, "MpiCollectiveEnd")


@case("collectives")
def member_is_missing_before_finalize(t):
    lives(t, MAIN, "MPI_Init", "MPI_Finalize")
    lives(t, RANK1, "MPI_Init", "MPI_Finalize")
    t.change(RANK1, 161, "MpiCollectiveBegin")
    t.change(RANK1, 171, "MpiCollectiveEnd")


@case("collectives")
def another_member_than_the_one_that_left_is_missing(t):
    lives(t, MAIN, "MPI_Init", "MPI_Finalize")
    lives(t, RANK1, "MPI_Init")
    t.change(MAIN, 160, "MpiCollectiveBegin")
    t.change(MAIN, 170, "MpiCollectiveEnd")


@case("collectives")
def collective_without_end(t):
    lives(t, RANK1, "MPI_Init", "MPI_Finalize")
    t.change(RANK1, 171, "MpiCollectiveEnd")


@case("collectives")
def ends_inside_and_nothing_is_known_of_its_life(t):
    t.change(RANK1, 171, "MpiCollectiveEnd")
