# SPDX-License-Identifier: BSD-3-Clause
"""Archives of a GPU with known answers to `gputrace whatif`.

  gpus.py copying DIR MS...     ten times a copy to the device, a kernel and, if a third time is given, one back
  gpus.py beside DIR MS MS      ten times a kernel on each of two streams, for which the host waits
  gpus.py late DIR MS MS        the same, but the second stream has one kernel, in the last round
  gpus.py drifting DIR MS MS    kernels of a stream that begin just after those of another one, by chance

Limits: whatif.test runs it.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "report"))
from planted import api, gpu  # noqa: E402


def copying(*lengths):
    """All are launched at once and take turns on a stream, for which the host waits at the end."""
    m, _, thread, stream = gpu()
    ms, number, at = 1000000, 0, 100000
    for _ in range(10):
        for name, length in zip(("cudaMemcpy H2D", "void axpy<float>(float*)", "cudaMemcpy D2H"), lengths):
            number += 1
            copies = name.startswith("cudaMemcpy")
            m.call(thread, api(m, "cudaMemcpyAsync" if copies else "cudaLaunchKernel"), number * 1000,
                   number * 1000 + 500, number)
            (m.copy if copies else m.kernel)(stream, name, at, at + length * ms, 1000000, correlation=number)
            at += length * ms
    m.call(thread, api(m, "cudaDeviceSynchronize"), 80000, at + 10000)
    return m


def beside(*lengths, second=range(10)):
    """The host launches both, and waits for all of the device."""
    m, process, thread, stream = gpu()
    streams, ms, at = [stream, m.stream(process, 1 + m.node, "CUDA[0:13]")], 1000000, 0
    for i in range(10):
        for k, length in enumerate(lengths[:1 + (i in second)]):
            m.call(thread, api(m, "cudaLaunchKernel"), at + k * 2000, at + k * 2000 + 500, 1 + 2 * i + k)
            m.kernel(streams[k], ("first", "second")[k], at + 10000, at + 10000 + length * ms, 64, 128, 1 + 2 * i + k)
        m.call(thread, api(m, "cudaDeviceSynchronize"), at + 8000, at + 12000 + max(lengths) * ms)
        at += 20000 + max(lengths) * ms
    return m


def drifting(first, second):
    """Neither stream is told to wait for the other one."""
    m, process, thread, _ = gpu()
    streams, ms = [m.stream(process, 1 + m.node, f"CUDA[0:{n}]") for n in (13, 14)], 1000000
    for i in range(10):
        at = i * (first * ms + 50000)
        end = at + 5000 + first * ms
        for k, (sent, begin, length) in enumerate(((at, at + 5000, first), (end - 20000, end + 3000, second))):
            m.call(thread, api(m, "cudaLaunchKernel"), sent, sent + 500, 1 + 2 * i + k)
            m.kernel(streams[k], ("first", "second")[k], begin, begin + length * ms, 64, 128, 1 + 2 * i + k)
    m.call(thread, api(m, "cudaDeviceSynchronize"), end + 10000, end + 10000 + second * ms)
    return m


if __name__ == "__main__":
    {"copying": copying, "beside": beside, "drifting": drifting,
     "late": lambda *ms: beside(*ms, second=[9])}[sys.argv[1]](*map(int, sys.argv[3:])).write(sys.argv[2])
