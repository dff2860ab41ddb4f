# SPDX-License-Identifier: BSD-3-Clause
# libgputrace-cuda.so: the adapter for CUDA. It needs neither CUDA nor CUPTI to build, and links none.
lib_libgtassemble_la_SOURCES += cuda/assemble/cuda.c cuda/assemble/pcsamples.c cuda/assemble/pcsamples.h
lib_LTLIBRARIES += cuda/libgputrace-cuda.la
CUDA_SOURCES = cuda/abi.h cuda/account.c cuda/align.c cuda/api.c cuda/api.h cuda/buffers.c cuda/calls.c \
	cuda/capture.c cuda/capture.h cuda/clock.c cuda/contexts.c cuda/cuda.h cuda/devices.c \
	cuda/elect.c cuda/elect.h cuda/extras.c cuda/hooks.h cuda/implicit.c cuda/kernels.c cuda/life.c cuda/nvtx.c \
	cuda/nvtx_abi.h cuda/options.c cuda/profiler.c cuda/profiler.h cuda/profiler_abi.h \
	cuda/records.c cuda/rules.c cuda/state.c cuda/streams.c cuda/worker.c \
	cuda/counters/counting.c cuda/counters/counting.h cuda/counters/exact.c cuda/counters/exact.h \
	cuda/counters/list.c cuda/counters/metrics.c cuda/counters/metrics.h cuda/counters/older.h \
	cuda/counters/sampler.c cuda/counters/sampler.h cuda/counters/select.c cuda/counters/select.h \
	cuda/legacy/events.c cuda/legacy/events_abi.h \
	cuda/samples/code.c cuda/samples/pcsampling.c cuda/samples/pcsampling_abi.h \
	cuda/samples/samples.h cuda/samples/sass.c
# Its objects; test/cuda/replay links them, too. Callbacks run at every launch: no way through the PLT.
noinst_LTLIBRARIES += cuda/libgtcuda.la
cuda_libgtcuda_la_SOURCES = $(CUDA_SOURCES)
cuda_libgtcuda_la_CFLAGS = $(AM_CFLAGS) -fno-plt
cuda_libgtcuda_la_LIBADD = accel/libgtaccel.la
cuda_libgputrace_cuda_la_SOURCES =
cuda_libgputrace_cuda_la_LDFLAGS = -version-info 0:0:0 -Wl,-z,nodelete -Wl,-z,relro,-z,now \
	-Wl,--version-script=$(top_srcdir)/cuda/libgputrace-cuda.map
cuda_libgputrace_cuda_la_LIBADD = cuda/libgtcuda.la lib/libgputrace.la -ldl -lpthread
EXTRA_cuda_libgputrace_cuda_la_DEPENDENCIES = cuda/libgputrace-cuda.map
EXTRA_DIST += cuda/libgputrace-cuda.map

SETTINGS += cuda/settings.def
dist_doc_DATA += doc/cuda.md
include test/cuda/local.mk
