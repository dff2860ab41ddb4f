# SPDX-License-Identifier: BSD-3-Clause
# The recording side of libgputrace.so: no malloc, no stdio, no OTF2.
lib_libgputrace_la_SOURCES += include/gputrace/call.h include/gputrace/compiler.h include/gputrace/hash.h \
	include/gputrace/gpu_metrics.h include/gputrace/lock.h include/gputrace/near.h include/gputrace/task_clock.h include/gputrace/window.h include/gputrace/word.h \
	lib/record/adapters.c lib/record/buffer.c lib/record/call_paths.c lib/record/call_paths.h lib/record/callstack.c \
	lib/record/callstack.h lib/record/clock.c lib/record/control.h lib/record/define.c \
	lib/record/elfsym.c lib/record/elfsym.h lib/record/events.c lib/record/files.c lib/record/finish.c \
	lib/record/hot.h lib/record/journal.c lib/record/kept.c lib/record/kept.h lib/record/launch.c lib/record/location.c lib/record/lock.c \
	lib/record/lock.h lib/record/message.c lib/record/metrics.c lib/record/metrics.h lib/record/modules.c \
	lib/record/patch.c lib/record/patch.h lib/record/process.c lib/record/ranks.c lib/record/record.h lib/record/run.c lib/record/sched.c lib/record/state.c lib/record/thread.c lib/record/verdict.c \
	lib/record/verdict.h lib/record/verdict_first.c lib/record/verdict_name.c lib/record/verdict_name.h
