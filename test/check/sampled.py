# SPDX-License-Identifier: BSD-3-Clause
"""Traces with samples of call stacks (traces.py).

Limits: imported by traces.py, which writes them.
"""
from goodtrace import NONE, R_LOCK, R_MAIN, R_WORK, UINT64, WORKER, case, s


def sampled(t, *samples):
    """Samples of the second thread: (time, context, unwind distance, time that it stands for, None: 100)."""
    t.definitions += [("Attribute", 2, s("SAMPLE_TIME"), 0, UINT64),
                      ("SourceCodeLocation", 0, s("file.c"), 5), ("SourceCodeLocation", 1, s("file.c"), 14),
                      ("CallingContext", 0, R_MAIN, 0, NONE), ("CallingContext", 1, R_WORK, 1, 0),
                      ("CallingContext", 2, R_LOCK, NONE, 1), ("CallingContext", 3, R_WORK, NONE, 0),
                      ("InterruptGenerator", 0, s("CPU_TIME"), 0, 1, -9, 100)]
    events = t.events[WORKER]
    for time, context, distance, _ in samples:
        place = sum(e[0] <= time for e in events)
        events.insert(place, (time, "CallingContextSample", context, distance, 0))
    for time, _, _, weight in samples:
        if weight is not None:
            t.attributes[(WORKER, t.event(WORKER, time, "CallingContextSample"))] = (2, UINT64, weight)


@case("-")
def samples(t):
    sampled(t, (310, 2, 4, 100), (320, 2, 1, 100), (330, 2, 0, 100), (340, 3, 2, 100), (350, 2, 3, 100),
            (360, 0, 1, 100))


def called(t, enters, sample):
    """A call by its context; unwind distances of its enter and of the sample behind it."""
    events = t.events[WORKER]
    for call in (320, "CallingContextEnter", 3, enters), (325, "CallingContextLeave", 3):
        events.insert(sum(e[0] <= call[0] for e in events), call)
    sampled(t, (310, 2, 4, 100), (330, 1, sample, 100))


@case("-")
def samples_and_calls(t):
    called(t, 2, 2)


@case("samples")
def call_keeps_too_much(t):
    called(t, 1, 2)


@case("samples")
def sample_keeps_what_was_left(t):
    called(t, 2, 1)


@case("-")
def samples_of_the_period(t):
    sampled(t, (310, 2, 4, None), (320, 2, 1, 200), (330, 2, 0, None))


@case("samples")
def sample_of_the_period_keeps_too_much(t):
    sampled(t, (310, 3, 3, None), (320, 2, 2, None))


@case("samples")
def samples_of_too_long_periods(t):
    sampled(t, (310, 2, 4, 100), (320, 2, 1, None))
    t.definitions = [d if d[0] != "InterruptGenerator" else d[:-1] + (20000000,) for d in t.definitions]


@case("-")
def samples_of_a_slice(t):
    """The first one builds upon one that is not there."""
    sampled(t, (310, 2, 2, 20000000), (320, 2, 1, 100))


@case("-")
def samples_of_a_slice_and_the_time_before(t):
    """The second one has what those before the slice have left over."""
    t.properties["GPUTRACE::SLICE_TIME"] = "2.36:2.41"
    sampled(t, (310, 2, 4, 100), (320, 2, 1, 20000000))


@case("-")
def samples_of_time_that_is_lost(t):
    t.properties["GPUTRACE::LOST_RING"] = "12"
    sampled(t, (310, 2, 4, 100), (320, 2, 1, 20000000))


@case("-")
def samples_of_time_that_was_switched_off(t):
    """The thread is older than its first sample."""
    t.clock[0] = 1000
    sampled(t, (310, 2, 4, 100), (315, 2, 1, 40000000))


@case("-")
def samples_of_others(t):
    """Between samples contexts are entered and left, which is why distances say something else."""
    sampled(t, (310, 1, 3, 100), (350, 1, 1, 100))
    t.insert(WORKER, 350, 320, "CallingContextEnter", 2, 2)
    t.insert(WORKER, 350, 330, "CallingContextLeave", 2)
    t.attributes = {k: v for k, v in t.attributes.items() if k[0] != WORKER}
    t.definitions = [d for d in t.definitions if d[:2] != ("Attribute", 2)]


@case("samples")
def sample_keeps_too_much(t):
    sampled(t, (310, 3, 3, 100), (320, 2, 2, 100))


@case("samples")
def sample_did_not_stay(t):
    sampled(t, (310, 2, 4, 100), (320, 1, 0, 100))


@case("samples")
def sample_too_deep(t):
    sampled(t, (310, 2, 5, 100))


@case("references,samples")
def sample_of_a_context_that_calls_itself(t):
    sampled(t, (310, 4, 3, 100))
    t.definitions.append(("CallingContext", 4, R_WORK, NONE, 4))


@case("samples")
def samples_of_too_much_time(t):
    sampled(t, (310, 2, 4, 100), (320, 2, 1, 20000000))


@case("event-references")
def sample_of_no_context(t):
    sampled(t, (310, 4, 2, 100))
