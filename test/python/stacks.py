# SPDX-License-Identifier: BSD-3-Clause
"""What does not begin and end in one function: `stacks.py ranges LIBRARY` has NVTX ranges whose __enter__ pushes and
whose __exit__ pops, as PyTorch's and nvtx.annotate do; `stacks.py greenlets` switches between stacks, and `gevents`
between those of gevent: greenlets, patched threads, asyncio and a pool of real threads beside each other.

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


# Calls are parts: one more for each time that a greenlet waits in them.
class Gevents:
    def __init__(self):
        self.hub = threading.get_ident()
        self.nap = time.sleep  # as long as that, nobody else runs on the thread

    def worker(self, rounds):
        for _ in range(rounds):
            self.nap(0.004)
            self.gevent.sleep(0)
            self.inner()

    def inner(self):
        self.nap(0.002)
        self.gevent.sleep(0.001)
        self.nap(0.002)

    def consume(self, queue, count):
        for _ in range(count):
            queue.get()
            self.nap(0.003)

    def produce(self, queue, count):
        for i in range(count):
            queue.put(i)

    def patched(self):
        time.sleep(0.005)  # gevent's: others run
        self.nap(0.01)

    def apart(self):  # on a thread of the pool
        self.nap(0.02)
        return threading.get_ident() != self.hub

    async def sleeper(self):
        import asyncio
        await asyncio.sleep(0.002)
        self.nap(0.01)

    async def sleepers(self):
        import asyncio
        await asyncio.gather(self.sleeper(), self.sleeper())

    def with_asyncio(self):
        import asyncio
        asyncio.run(self.sleepers())

    def fails(self):
        self.nap(0.001)
        self.gevent.sleep(0)
        raise KeyError

    def killed(self):
        self.gevent.sleep(1000)

    def all(self):
        from gevent import monkey
        monkey.patch_all()
        import gevent
        import gevent.queue
        self.gevent = gevent
        queue = gevent.queue.Queue()
        idle = gevent.spawn(self.killed)
        failing = gevent.spawn(self.fails)
        failing.link_exception(lambda g: None)
        workers = [gevent.spawn(self.worker, 5) for _ in range(4)]
        workers += [gevent.spawn(self.consume, queue, 10), gevent.spawn(self.produce, queue, 10)]
        threads = [threading.Thread(target=self.patched) for _ in range(3)]
        for t in threads:
            t.start()
        pool = gevent.get_hub().threadpool
        results = [pool.spawn(self.apart) for _ in range(3)]
        gevent.joinall(workers)
        for t in threads:
            t.join()
        assert all(r.get() for r in results) and not failing.successful()
        idle.kill()
        self.with_asyncio()


def gevents():
    Gevents().all()
    # In parts: worker until it waits, itself and within inner; inner: until it waits.
    print("calls __main__.Gevents.worker 44\ncalls __main__.Gevents.inner 40\ncalls __main__.Gevents.produce 1\n"
          "calls __main__.Gevents.patched 6\ncalls __main__.Gevents.apart 3\n"
          "calls __main__.Gevents.fails 2\ncalls __main__.Gevents.killed 2", file=sys.stderr)


if sys.argv[1] == "ranges":
    ranges(sys.argv[2])
elif sys.argv[1] == "gevents":
    gevents()
else:
    thread = threading.Thread(target=greenlets)
    thread.start()
    thread.join()
print("done")
