# SPDX-License-Identifier: BSD-3-Clause
"""Scenes of waits.py: GPUs, and the host that waits for them.

Limits: as waits.py.
"""
from scene import CUDA, MASTER, Archive, waits

SCENES = {}


def scene(function):
    """Registers one."""
    SCENES[function.__name__] = function
    return function


def host(a, begin, end, number=None, name="cuLaunchKernel"):
    """A call of the main thread that launches something."""
    return a[0].call(begin, end, name, attributes=number)


def on(stream, begin, end, number=None, name="kernel", group="CUDA_KERNEL"):
    """An activity."""
    return stream.call(begin, end, name, attributes=number, paradigm=CUDA, group=group)


@scene
def device():
    """The host waits for a kernel; then the device for the host, and the host for a copy."""
    a = Archive(processes=1)
    s = a.stream(0, "CUDA[0:7]")
    a[0].do(a[0].call(0, 100, "main", [
        host(a, 10, 11, 1), a[0].call(12, 41, "cuStreamSynchronize"), host(a, 60, 61, 2),
        a[0].call(62, 91, "cuMemcpyDtoH_v2", [a[0].call(63, 82, "HOST_IDLE")], attributes=3)]))
    s.do(on(s, 15, 40, 1), on(s, 65, 80, 2), on(s, 82, 90, 3, "cudaMemcpy D2H pageable", "CUDA_MEMCPY"))
    return a, {"waits": waits(("host waits for device", 28, 1, MASTER, "cuStreamSynchronize", "CUDA[0:7]"),
                              ("device starves", 20, 1, "CUDA[0:7]", "(GPU idle)", MASTER),
                              ("host waits for device, hidden", 17, 1, MASTER, "HOST_IDLE", "CUDA[0:7]"),
                              ("host waits for device, hidden", 8, 1, MASTER, "cuMemcpyDtoH_v2", "CUDA[0:7]")),
               "critical_path": ["main,38", "kernel,40", "cuStreamSynchronize,1", "(GPU idle),12",
                                 "cudaMemcpy D2H pageable,8", "cuMemcpyDtoH_v2,1"]}


@scene
def streams():
    """A kernel waits for a copy on another stream, a copy for a kernel; nothing starves meanwhile."""
    a = Archive(processes=1)
    s, t = a.stream(0, "CUDA[0:7]"), a.stream(0, "CUDA[0:8]")
    a[0].do(a[0].call(0, 100, "main", [host(a, i, i + 0.5, i) for i in (1, 2, 3, 4)] + [
        a[0].call(10, 91, "cuCtxSynchronize")]))
    s.do(on(s, 5, 10, 1), on(s, 50.005, 80, 3))
    t.do(on(t, 6, 50, 2, "cudaMemcpy H2D pinned", "CUDA_MEMCPY"),
         on(t, 80.01, 90, 4, "cudaMemcpy D2H pinned", "CUDA_MEMCPY"))
    return a, {"waits": waits(("kernel waits for copy", 40, 1, "CUDA[0:7]", "(GPU idle)", "CUDA[0:8]"),
                              ("waits for another stream", 30, 1, "CUDA[0:8]", "(GPU idle)", "CUDA[0:7]"),
                              ("host waits for device", 80, 1, MASTER, "cuCtxSynchronize", "CUDA[0:8]")),
               "critical_path": ["main,10.5", "cuCtxSynchronize,1", "cudaMemcpy D2H pinned,9.99",
                                 "(GPU idle),4.015", "kernel,29.995", "cudaMemcpy H2D pinned,44",
                                 "cuLaunchKernel,0.5"]}


@scene
def streams_without_ties():
    """The same of a producer that does not say which call launched what: it may have been launched later."""
    a = Archive(processes=1)
    s, t = a.stream(0, "CUDA[0:7]"), a.stream(0, "CUDA[0:8]")
    a[0].do(a[0].call(0, 100, "main", [host(a, i, i + 0.5) for i in (1, 2, 49, 79)] + [
        a[0].call(80, 91, "cuCtxSynchronize")]))
    s.do(on(s, 5, 10), on(s, 50.005, 80))
    t.do(on(t, 6, 50, name="cudaMemcpy H2D pinned", group="CUDA_MEMCPY"),
         on(t, 80.01, 90, name="cudaMemcpy D2H pinned", group="CUDA_MEMCPY"))
    return a, {"waits": waits(("host waits for device", 10, 1, MASTER, "cuCtxSynchronize", "CUDA[0:8]"))}


@scene
def launches():
    """Kernels of 1 ms, each launched by a call of 9 ms."""
    a = Archive(processes=1)
    s = a.stream(0, "CUDA[0:7]")
    a[0].do(a[0].call(0, 100, "main", [host(a, 10 * i, 10 * i + 9, i) for i in range(1, 6)]))
    s.do(*[on(s, 10 * i + 8, 10 * i + 9, i) for i in range(1, 6)])
    return a, {"waits": waits(("launch-bound", 4, 4, "CUDA[0:7]", "(GPU idle)", MASTER))}


@scene
def late_launch():
    """Kernels of 0.1 ms, launched by calls of 0.2 ms; between the last two the host does something else."""
    a = Archive(processes=1)
    s = a.stream(0, "CUDA[0:7]")
    a[0].do(a[0].call(0, 100, "main", [host(a, t, t + 0.2, t) for t in (1, 2, 3, 80)]))
    s.do(*[on(s, t + 0.2, t + 0.3, t) for t in (1, 2, 3, 80)])
    return a, {"waits": waits(("device starves", 76.7, 1, "CUDA[0:7]", "(GPU idle)", MASTER),
                              ("launch-bound", 1.4, 2, "CUDA[0:7]", "(GPU idle)", MASTER))}


@scene
def busy_device():
    """One stream is idle, but not the device: nothing starves."""
    a = Archive(processes=1)
    s, t = a.stream(0, "CUDA[0:7]"), a.stream(0, "CUDA[0:8]")
    a[0].do(a[0].call(0, 100, "main", [host(a, 1, 2, 1), host(a, 3, 4, 2), host(a, 50, 51, 3)]))
    s.do(on(s, 3, 10, 1), on(s, 53, 60, 3))
    t.do(on(t, 5, 90, 2))
    return a, {"waits": []}
