# SPDX-License-Identifier: BSD-3-Clause
"""What does not begin and end in one function: `stacks.py ranges LIBRARY` has NVTX ranges whose __enter__ pushes and
whose __exit__ pops, as PyTorch's and nvtx.annotate do; `stacks.py greenlets` switches between stacks.

Prints "calls FUNCTION N" for functions and ranges. Limits: LIBRARY has range_push(name) and range_pop().
"""
import contextlib
import ctypes
import sys
import threading
import time


def ranges(library):
    nvtx = ctypes.CDLL(library)

    def push(name):
        nvtx.range_push(name.encode())

    def pop():
        nvtx.range_pop()

    class Annotate:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            push(self.name)

        def __exit__(self, *_):
            pop()

    @contextlib.contextmanager
    def during(name):
        push(name)
        try:
            yield
        finally:
            pop()

    def compute():
        time.sleep(0.005)

    for _ in range(20):
        with during("step"):
            with Annotate("forward"):
                compute()
            with during("backward"):
                time.sleep(0.005)
    print("calls step 20\ncalls forward 20\ncalls backward 20\ncalls __main__.ranges.<locals>.compute 20",
          file=sys.stderr)


def greenlets():
    import greenlet

    def one():
        time.sleep(0.05)
        other.switch()
        time.sleep(0.05)
        last()

    def last():
        time.sleep(0.02)

    def two():
        inner()

    def inner():
        time.sleep(0.03)
        first.switch()
        time.sleep(0.03)

    first, other = greenlet.greenlet(one), greenlet.greenlet(two)
    first.switch()
    other.switch()
    # one: until it switches, and from then on; inner: the same
    print("calls __main__.greenlets.<locals>.one 2\ncalls __main__.greenlets.<locals>.inner 2\n"
          "calls __main__.greenlets.<locals>.last 1", file=sys.stderr)


if sys.argv[1] == "ranges":
    ranges(sys.argv[2])
else:
    thread = threading.Thread(target=greenlets)
    thread.start()
    thread.join()
print("done")
