/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding out which MPI the program has loaded; see choose.h.
 *
 * Limits: MPI libraries with Open MPI's or MPICH's binary interface; calls of others are handed on
 * untouched. Programs that carry their MPI inside (static linking) never come here.
 */
#include "config.h"

#include "mpi/choose.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gputrace/adapter.h"
#include "gputrace/syscall.h"

#define FOREIGN_ERROR 16 /* an MPI error of both interfaces: MPI_ERR_OTHER or near it */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void *handle;     /* where to look for symbols; NULL: behind us in the search order */
static void *first_caller;

/* Saves what carries arguments, chooses, and goes on through the table. */
#if defined(__x86_64__)
__asm__(".text\n.hidden gt_mpi_first\n.globl gt_mpi_first\n.type gt_mpi_first, @function\n.p2align "
	"4\ngt_mpi_first:\n"
	"\tpush %rdi\n\tpush %rsi\n\tpush %rdx\n\tpush %rcx\n\tpush %r8\n\tpush %r9\n"
	"\tmov 56(%rsp), %rdi\n"
	"\tcall gt_mpi_choose\n"
	"\tpop %r9\n\tpop %r8\n\tpop %rcx\n\tpop %rdx\n\tpop %rsi\n\tpop %rdi\n"
	"\tpop %r11\n"
	"\tlea gt_mpi_table(%rip), %rax\n"
	"\tjmp *(%rax,%r11,8)\n"
	".size gt_mpi_first, .-gt_mpi_first\n");
#elif defined(__aarch64__)
__asm__(".text\n.hidden gt_mpi_first\n.globl gt_mpi_first\n.type gt_mpi_first, %function\n.p2align "
	"4\ngt_mpi_first:\n"
	"\tstp x29, x30, [sp, #-96]!\n\tmov x29, sp\n"
	"\tstp x0, x1, [sp, #16]\n\tstp x2, x3, [sp, #32]\n\tstp x4, x5, [sp, #48]\n\tstp x6, x7, [sp, #64]\n"
	"\tstr x17, [sp, #80]\n"
	"\tmov x0, x30\n"
	"\tbl gt_mpi_choose\n"
	"\tldr x17, [sp, #80]\n"
	"\tldp x6, x7, [sp, #64]\n\tldp x4, x5, [sp, #48]\n\tldp x2, x3, [sp, #32]\n\tldp x0, x1, [sp, #16]\n"
	"\tldp x29, x30, [sp], #96\n"
	"\tadrp x16, gt_mpi_table\n\tadd x16, x16, :lo12:gt_mpi_table\n"
	"\tldr x16, [x16, x17, lsl #3]\n"
	"\tbr x16\n"
	".size gt_mpi_first, .-gt_mpi_first\n");
#endif

/* The linker's: where this library begins and ends. dladdr() would look at all its symbols each time. */
extern GT_HIDDEN const char __ehdr_start[], _end[];

static bool is_ours(const void *address)
{
	return (uintptr_t)address >= (uintptr_t)__ehdr_start && (uintptr_t)address < (uintptr_t)_end;
}

static void *find(const char *symbol)
{
	void *address = dlsym(handle ? handle : RTLD_NEXT, symbol);

	return address && !is_ours(address) ? address : NULL;
}

static bool has(const char *path, const char *symbol)
{
	handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return false;
	if (find(symbol))
		return true;
	dlclose(handle);
	handle = NULL;
	return false;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *name = strrchr(info->dlpi_name, '/');

	(void)size;
	if (name && (!strncmp(name, "/libmpi.so", 10) || !strncmp(name, "/libmpich.so", 12) ||
		     !strncmp(name, "/libmpi_abi.so", 14)))
		*(const char **)data = info->dlpi_name;
	return *(const char **)data != NULL;
}

/* The MPI may have been loaded for a plug-in alone (Python's mpi4py): then it is not behind us. */
static bool find_mpi(void)
{
	const char *path = NULL;
	Dl_info caller;
	bool known = dladdr(first_caller, &caller) && caller.dli_fname;

	if (find("PMPI_Init") || (known && has(caller.dli_fname, "PMPI_Init")))
		return true;
	dl_iterate_phdr(look_at, &path);
	if (path && has(path, "PMPI_Init"))
		return true;
	/* Stubs, with which programs for MPI run as one process: their calls are handed on. */
	return find("MPI_Init") || (known && has(caller.dli_fname, "MPI_Init"));
}

/* MPI 5's own binary interface, which Open MPI and MPICH have beside theirs, has other handles. */
static bool has_standard_abi(void)
{
	void *init = find("PMPI_Init");
	const char *name;
	Dl_info of;

	if (!init || !dladdr(init, &of) || !of.dli_fname)
		return false;
	name = strrchr(of.dli_fname, '/');
	return !strncmp(name ? name + 1 : of.dli_fname, "libmpi_abi.so", 13);
}

static const char *flavour(char *version, size_t size)
{
	static const char *const like_mpich[] = { "MPICH", "Intel(R) MPI", "MVAPICH" };
	int (*ask)(char *, int *) = (int (*)(char *, int *))find("PMPI_Get_library_version");
	char text[8192]; /* MPI_MAX_LIBRARY_VERSION_STRING of MPICH */
	int length = 0;

	if (has_standard_abi() || !ask || ask(text, &length))
		return NULL;
	snprintf(version, size, "%.*s", (int)strcspn(text, ",\n"), text);
	if (!strncmp(text, "Open MPI", 8))
		return "openmpi";
	for (size_t i = 0; i < sizeof(like_mpich) / sizeof(like_mpich[0]); i++)
		if (strstr(text, like_mpich[i]))
			return "mpich";
	return NULL;
}

/* Functions that the MPI does not have; and all but two when there is none. */
static int missing(void)
{
	return FOREIGN_ERROR;
}

static int not_begun(int *flag)
{
	*flag = 0;
	return 0;
}

static void fill(void *const *wrappers, void *const *real)
{
	for (unsigned i = 0; i < 2 * gt_mpi_count; i++) {
		void *to = real[i];

		if (to && wrappers && wrappers[i])
			to = wrappers[i];
		if (!to)
			to = !strcmp(gt_mpi_names[i / 2], "MPI_Initialized") ||
					     !strcmp(gt_mpi_names[i / 2], "MPI_Finalized")
				     ? (void *)not_begun
				     : (void *)missing;
		__atomic_store_n(&gt_mpi_table[i], to, __ATOMIC_RELEASE);
	}
}

/* Does this gputrace have wrappers for it? The loader's own words would not say what to do. */
static bool is_built(const char *name, const char *path)
{
	if (!gt_raw(SYS_faccessat, AT_FDCWD, path, F_OK))
		return true;
	if (!strcmp(name, "mpich") ? GT_HAVE_MPICH : GT_HAVE_OPENMPI) {
		gt_message(1, "MPI is not recorded: %s is not installed", strrchr(path, '/') + 1);
		gt_def_property("mpi-not-installed", name);
	} else {
		gt_message(1, "MPI is not recorded: this gputrace was built without %s",
			   !strcmp(name, "mpich") ? "MPICH" : "Open MPI");
	}
	return false;
}

static const struct gt_mpi_flavour *load(const char *name)
{
	const struct gt_mpi_flavour *found;
	char path[4096];
	const char *slash;
	Dl_info own;
	void *library;

	if (!dladdr((void *)is_ours, &own) || !(slash = strrchr(own.dli_fname, '/')))
		return NULL;
	snprintf(path, sizeof(path), "%.*s/gputrace/libgputrace-mpi-%s.so", (int)(slash - own.dli_fname),
		 own.dli_fname, name);
	if (!is_built(name, path))
		return NULL;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		gt_message(1, "MPI is not recorded: %s", dlerror());
		return NULL;
	}
	found = dlsym(library, "gt_mpi_flavour");
	return found && found->functions == gt_mpi_count ? found : NULL;
}

static void choose(void)
{
	const struct gt_mpi_flavour *f = NULL;
	static void *real[4096];
	char version[128] = "", *setting = (char *)gt_setting("VT_MPITRACE");
	const char *kind = NULL;
	bool there = find_mpi();

	for (unsigned i = 0; there && i < gt_mpi_count; i++) {
		char symbol[128];

		snprintf(symbol, sizeof(symbol), "P%s", gt_mpi_names[i]);
		real[2 * i] = find(symbol + 1);
		real[2 * i + 1] = find(symbol);
	}
	if (there && setting && !strcmp(setting, "yes") && gt_is_confined()) {
		gt_lost(GT_LOSS_SANDBOX, 1); /* nothing can be loaded any more */
	} else if (there && setting && !strcmp(setting, "yes")) {
		kind = flavour(version, sizeof(version));
		if (kind)
			f = load(kind);
		else
			gt_message(1, "MPI is not recorded: this MPI library is not supported");
	}
	if (f) {
		memcpy(f->real, real, 2 * gt_mpi_count * sizeof(*real));
		if (!f->setup(find))
			f = NULL;
	}
	if (f)
		gt_def_property("mpi-library", version);
	fill(f ? f->wrappers : NULL, real);
}

GT_HIDDEN void gt_mpi_choose(void *caller);
GT_HIDDEN void gt_mpi_choose(void *caller)
{
	__atomic_store_n(&first_caller, caller, __ATOMIC_RELAXED);
	pthread_once(&once, choose);
}
