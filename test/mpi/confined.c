/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of MPI, alone, that confines itself: no memory may be mapped any more. Before that it has done
 * once what it does then; after it come more communicators, requests at once, and a window's accesses than
 * before. Prints "sends N" and ends with 3, without MPI_Finalize; 77: this kernel has no such filters.
 *
 * Limits: MPI itself has what it needs.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MANY 1000
#define COMMS 70
#define KILL(call)                                                                                 \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1),                                             \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static MPI_Request requests[2 * MANY];
static MPI_Comm comms[COMMS];
static int sends;

static int confine(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		KILL(mmap), KILL(munmap), KILL(mremap), KILL(getpid), KILL(gettid), KILL(openat),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* MPI's functions: those that the program calls, or the library's own, which gputrace does not see. */
static struct {
	int (*irecv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
	int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
	int (*waitall)(int, MPI_Request *, MPI_Status *);
	int (*dup)(MPI_Comm, MPI_Comm *);
	int (*free)(MPI_Comm *);
} mpi;

static void use_own(void)
{
	mpi.irecv = MPI_Irecv;
	mpi.isend = MPI_Isend;
	mpi.waitall = MPI_Waitall;
	mpi.dup = MPI_Comm_dup;
	mpi.free = MPI_Comm_free;
}

static int find_library(struct dl_phdr_info *info, size_t size, void *found)
{
	if (!strstr(info->dlpi_name, "/libmpi"))
		return 0;
	*(void **)found = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	return 1;
}

static int use_library(void)
{
	void *library = NULL;

	dl_iterate_phdr(find_library, &library);
	*(void **)&mpi.irecv = dlsym(library, "PMPI_Irecv");
	*(void **)&mpi.isend = dlsym(library, "PMPI_Isend");
	*(void **)&mpi.waitall = dlsym(library, "PMPI_Waitall");
	*(void **)&mpi.dup = dlsym(library, "PMPI_Comm_dup");
	*(void **)&mpi.free = dlsym(library, "PMPI_Comm_free");
	return mpi.irecv && mpi.isend && mpi.waitall && mpi.dup && mpi.free;
}

/* Messages to this process itself, all at once. */
static void messages(MPI_Comm comm, int n)
{
	static int in[MANY], out[MANY];

	for (int i = 0; i < n; i++)
		mpi.irecv(&in[i], 1, MPI_INT, 0, i, comm, &requests[i]);
	for (int i = 0; i < n; i++)
		mpi.isend(&out[i], 1, MPI_INT, 0, i, comm, &requests[n + i]);
	mpi.waitall(2 * n, requests, MPI_STATUSES_IGNORE);
	sends += n;
}

static void communicators(int n)
{
	for (int i = 0; i < n; i++)
		mpi.dup(MPI_COMM_SELF, &comms[i]);
	for (int i = 0; i < n; i++) {
		messages(comms[i], 1);
		mpi.free(&comms[i]);
	}
}

int main(int argc, char **argv)
{
	char text[64];
	int n;

	MPI_Init(&argc, &argv);
	if (!use_library())
		return 2;
	communicators(COMMS);
	messages(MPI_COMM_WORLD, MANY);
	use_own();
	sends = 0;
	messages(MPI_COMM_WORLD, 10);
	if (confine())
		_exit(77);
	communicators(COMMS);
	messages(MPI_COMM_WORLD, MANY);
	n = snprintf(text, sizeof(text), "sends %d\n", sends);
	_exit(write(1, text, (size_t)n) == n ? 3 : 4);
}
