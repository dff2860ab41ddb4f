# SPDX-License-Identifier: BSD-3-Clause
# One awkward program per file, named by its trouble, and the scripts that try them.
TROUBLE = test/trouble/common.sh test/trouble/trouble.h test/trouble/counts.h \
	test/trouble/big_name.c test/trouble/clock_hop.c test/trouble/clock_shim.c test/trouble/close_fds.c \
	test/trouble/confined.c test/trouble/confined_child.c test/trouble/contexts.cc test/trouble/contexts_host.c \
	test/trouble/contexts_old.c test/trouble/ctor.c test/trouble/ctor_lib.c test/trouble/early.c test/trouble/early_lib.c \
	test/trouble/early_signal.c test/trouble/dl.c test/trouble/dl_lib.c \
	test/trouble/events.c test/trouble/exception.cc test/trouble/exec_path.c \
	test/trouble/exit_path.c test/trouble/fibres.c test/trouble/fork_handlers.c test/trouble/fork_in_malloc.c test/trouble/fork_lib.c \
	test/trouble/fork_path.c test/trouble/held.c test/trouble/jump.c test/trouble/killed.c test/trouble/limited.c \
	test/trouble/no_counter.c test/trouble/no_tls.c test/trouble/off_jump.c test/trouble/readings.c test/trouble/records.c test/trouble/records_lib.c test/trouble/room.c \
	test/trouble/late_child.c test/trouble/main_gone.c test/trouble/told.c test/trouble/main_returns.c test/trouble/own_malloc.c test/trouble/recursion.c test/trouble/refused.c test/trouble/rights.c \
	test/trouble/sandbox.c test/trouble/signal_storm.c test/trouble/small_stack.c test/trouble/swapped.c test/trouble/state.c \
	test/trouble/stands_before.c test/trouble/static_object.cc test/trouble/tail_call.c test/trouble/threads.c \
	test/trouble/tsd.c test/trouble/ucontext.c
EXTRA_DIST += $(TROUBLE)
dist_check_SCRIPTS += test/trouble/exit.test test/trouble/exec.test test/trouble/fork.test test/trouble/rights.test \
	test/trouble/unwind.test test/trouble/contexts.test test/trouble/thread.test test/trouble/signal.test \
	test/trouble/load.test test/trouble/state.test test/trouble/space.test \
	test/trouble/place.test test/trouble/hostile.test test/trouble/clock.test \
	test/trouble/records.test test/trouble/metrics.test
