/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter's begin and end in a process. Without VT_SAMPLING it does nothing at all.
 *
 * Limits: threads that nobody announced (clone) have no samples before their first event.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "gputrace/syscall.h"
#include "gputrace/thread.h"
#include "sampling/sampling.h"

/* Is it known that nobody notices samples that were not asked for? aarch64 was tried in emulation only. */
#if defined(__x86_64__)
#define TRIED true
#else
#define TRIED false
#endif

static void fork_child(void)
{
	gt_sp_hide_forked();
	gt_sp_forked();
}

static void fork_returns(void)
{
	gt_sp_arm();
}

static void thread(bool begins)
{
	if (begins) {
		gt_sp_arm();
		return;
	}
	gt_sp_rest(true);
	gt_sp_disarm();
}

/* Before an exec the triggers may stay: they end with it. */
static void end(int how)
{
	if (gt_is_confined())
		return;
	if (how == GT_END_EXEC || how == GT_END_NONE)
		gt_sp_hide_exec(how == GT_END_EXEC);
	else
		gt_sp_all(false);
	if (how != GT_END_NONE)
		gt_sp_rest(how != GT_END_EXEC);
}

/* Has the compiler wrapper linked this object? Read-only dynamic sections have addresses of the file. */
static bool needs_gputrace(const struct link_map *map)
{
	const char *names = NULL;

	for (const ElfW(Dyn) *d = map->l_ld; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_STRTAB)
			names = (const char *)(d->d_un.d_ptr < map->l_addr ? map->l_addr + d->d_un.d_ptr
									   : d->d_un.d_ptr);
	for (const ElfW(Dyn) *d = map->l_ld; names && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_NEEDED && !strncmp(names + d->d_un.d_val, "libgputrace.so", 14))
			return true;
	return false;
}

/*
 * Are functions of this program recorded without samples? The loader's list stays as it is while constructors
 * run (lib/record/process.c).
 */
static bool is_instrumented(void)
{
	const char *python = gt_setting("VT_PYTHON");

	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		const char *slash = strrchr(map->l_name, '/'), *name = slash ? slash + 1 : map->l_name;

		if (strncmp(name, "libgputrace", 11) != 0 && needs_gputrace(map))
			return true;
	}
	return python && !strcmp(python, "yes");
}

/* A period of processor time, 0: no samples. */
static uint64_t wanted(void)
{
	const char *rate = gt_setting("VT_SAMPLING"), *mode = gt_setting("VT_MODE");
	unsigned long n;

	if (!rate || !mode || !strcmp(mode, "OFF"))
		return 0;
	gt_sp_chosen = !strcmp(rate, "auto");
	if (gt_sp_chosen)
		return TRIED && gt_sp_interrupts_nothing() && !is_instrumented() ? GT_SP_UNKNOWN : 0;
	n = strtoul(rate, NULL, 10);
	return n ? 1000000000 / n : 0;
}

/* Nanoseconds; 0: no call paths. */
static uint64_t paths_wanted(void)
{
	const char *us = gt_setting("VT_CALL_PATHS");

	if (us && strcmp(us, "auto") == 0)
		return gt_sp_chosen ? 0 : 50000;
	return us ? 1000 * strtoul(us, NULL, 10) : 0;
}

static int signal_asked(void)
{
	const char *name = gt_setting("VT_SAMPLING_SIGNAL");

	return name && !strcmp(name, "WINCH") ? SIGWINCH : SIGURG;
}

/* The processor time that passed before samples: the kernel's for exec, the loader's, and that of libraries
 * whose constructors ran before. */
static void note_start(void)
{
	struct timespec now = { 0, 0 };

	gt_raw(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &now);
	gt_sp_start = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Its one segment, by its own header. */
static void find_vdso(void)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Phdr) *segment;

	if (!header)
		return;
	gt_sp_vdso = (uintptr_t)header;
	segment = (const ElfW(Phdr) *)(gt_sp_vdso + header->e_phoff);
	for (unsigned i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_LOAD)
			gt_sp_vdso_bytes = segment[i].p_memsz;
}

static void set_up(void)
{
	static const struct gt_adapter adapter = {
		.bytes = sizeof(adapter),
		.abi = GT_ADAPTER_ABI,
		.name = "sampling",
		.fork_child = fork_child,
		.end = end,
		.threads = gt_sp_all,
		.fork_returns = fork_returns,
		.thread = thread,
		.ends_silently = true,
	};

	if (gt_adapter_register(&adapter))
		return;
	gt_sp_forked();
	gt_sp_keep_from_children();
	find_vdso();
	if (!gt_sp_chosen)
		gt_sp_say("sampling:period", gt_sp_period);
	if (!gt_sp_hide(signal_asked(), gt_sp_on_signal, gt_sp_give_up))
		gt_sp_give_up();
	gt_sp_arm();
	note_start();
	if (paths_wanted())
		gt_sp_paths(paths_wanted());
}

/* Forgets the code: other code may be loaded there next. */
GT_API int dlclose(void *handle)
{
	static __typeof__(dlclose) *real;
	int rc;

	if (!__atomic_load_n(&real, __ATOMIC_RELAXED))
		__atomic_store_n(&real, (__typeof__(dlclose) *)gt_next_symbol("dlclose"), __ATOMIC_RELAXED);
	rc = real(handle);
	if (gt_sp_period)
		gt_unwind_changed();
	return rc;
}

__attribute__((constructor)) static void begin(void)
{
	int saved = errno;

	gt_sp_period = wanted();
	if (gt_sp_period)
		set_up();
	errno = saved;
}
