/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided operations with every kind of window and synchronisation. Each rank says at the end how
 * often it did what: "count EVENT N", EVENT as otf2-print calls the record.
 *
 * Limits: no dynamic windows with more than one piece of memory.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PUT, GET, ATOMIC, CREATE, DESTROY, HERE, THERE, REQUEST, ACQUIRE, RELEASE, SYNC, COLL, KINDS };
static const char *const names[KINDS] = {
	"RMA_PUT", "RMA_GET", "RMA_ATOMIC", "RMA_WIN_CREATE", "RMA_WIN_DESTROY",
	"RMA_OP_COMPLETE_NON_BLOCKING", "RMA_OP_COMPLETE_REMOTE", "RMA_REQUEST_LOCK",
	"RMA_ACQUIRE_LOCK", "RMA_RELEASE_LOCK", "RMA_SYNC", "RMA_COLLECTIVE_END",
};
static long count[KINDS];
static int me, size, right, left;
static long long put_bytes;

static void put(MPI_Win win, int to, int n)
{
	int v[8] = { me, me, me, me };

	MPI_Put(v, n, MPI_INT, to, 0, n, MPI_INT, win);
	count[PUT]++;
	count[HERE]++;
	count[THERE]++;
	put_bytes += n * 4;
	MPI_Win_flush_local(to, win);
}

static void locked(MPI_Win win)
{
	int v = 1, old[4], zero = 0;
	MPI_Request requests[3];

	MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
	count[REQUEST]++, count[ACQUIRE]++;
	put(win, right, 4);
	MPI_Get(old, 4, MPI_INT, right, 0, 4, MPI_INT, win);
	count[GET]++, count[HERE]++;
	MPI_Win_unlock(right, win);
	count[RELEASE]++;

	MPI_Win_lock_all(0, win);
	count[REQUEST]++, count[ACQUIRE]++;
	MPI_Accumulate(&v, 1, MPI_INT, left, 0, 1, MPI_INT, MPI_SUM, win);
	MPI_Fetch_and_op(&v, old, MPI_INT, left, 1, MPI_SUM, win);
	MPI_Compare_and_swap(&v, &zero, old + 1, MPI_INT, left, 2, win);
	MPI_Get_accumulate(&v, 1, MPI_INT, old + 2, 1, MPI_INT, left, 3, 1, MPI_INT, MPI_SUM, win);
	count[ATOMIC] += 4, count[HERE] += 4, count[THERE] += 4;
	MPI_Win_flush(left, win);
	MPI_Rput(&v, 1, MPI_INT, right, 0, 1, MPI_INT, win, &requests[0]);
	MPI_Rget(old, 1, MPI_INT, right, 1, 1, MPI_INT, win, &requests[1]);
	MPI_Raccumulate(&v, 1, MPI_INT, right, 2, 1, MPI_INT, MPI_SUM, win, &requests[2]);
	count[PUT]++, count[GET]++, count[ATOMIC]++, count[HERE] += 3, count[THERE] += 2;
	put_bytes += 4;
	MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
	MPI_Put(&v, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
	MPI_Win_flush_all(win);
	MPI_Win_sync(win);
	count[SYNC]++;
	MPI_Win_unlock_all(win);
	count[RELEASE]++;
}

/* start, complete, post, wait: to the right, from the left. */
static void posted(MPI_Win win)
{
	MPI_Group all, to, from;
	int v = 7, done = 0;

	MPI_Comm_group(MPI_COMM_WORLD, &all);
	MPI_Group_incl(all, 1, &right, &to);
	MPI_Group_incl(all, 1, &left, &from);
	for (int i = 0; i < 2; i++) {
		MPI_Win_post(from, 0, win);
		MPI_Win_start(to, 0, win);
		MPI_Put(&v, 1, MPI_INT, right, 0, 1, MPI_INT, win);
		count[PUT]++, count[HERE]++, count[THERE]++;
		put_bytes += 4;
		MPI_Win_complete(win);
		if (i)
			MPI_Win_wait(win);
		while (!i && !done)
			MPI_Win_test(win, &done);
		count[SYNC] += 4;
	}
	MPI_Group_free(&all);
	MPI_Group_free(&to);
	MPI_Group_free(&from);
}

static void fenced(MPI_Win win)
{
	int v = me;

	for (int i = 0; i < 3; i++) {
		MPI_Win_fence(i ? 0 : MPI_MODE_NOPRECEDE, win);
		count[COLL]++;
		if (i == 2)
			break;
		for (int to = 0; to < size; to++) {
			MPI_Put(&v, 1, MPI_INT, to, me, 1, MPI_INT, win);
			count[PUT]++, count[HERE]++, count[THERE]++;
			put_bytes += 4;
		}
	}
}

static MPI_Win made(MPI_Win win, const char *name)
{
	count[CREATE]++, count[DESTROY]++, count[COLL] += 2;
	MPI_Win_set_name(win, name);
	return win;
}

/* Of another communicator: ranks are those of the window's. */
static void shared(void)
{
	MPI_Comm half;
	MPI_Win win;
	void *base;

	MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
	MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, half, &base, &win);
	made(win, "shared");
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
	count[REQUEST]++, count[ACQUIRE]++;
	put(win, 0, 2);
	MPI_Win_unlock(0, win);
	count[RELEASE]++;
	MPI_Win_free(&win);
	MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
	long long all_bytes;
	long all[KINDS];
	static int memory[256];
	MPI_Win win;
	int *base;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	right = (me + 1) % size;
	left = (me + size - 1) % size;

	MPI_Win_create(memory, sizeof(memory), 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	made(win, "created");
	fenced(win);
	posted(win);
	MPI_Win_free(&win);

	MPI_Win_allocate(1024, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
	made(win, "allocated");
	locked(win);
	MPI_Win_free(&win);

	MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	made(win, "dynamic");
	MPI_Win_attach(win, memory, sizeof(memory));
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_detach(win, memory);
	MPI_Win_free(&win);

	if (argc < 2) /* an argument: without them */
		shared();

	MPI_Reduce(count, all, KINDS, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Reduce(&put_bytes, &all_bytes, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	for (int i = 0; me == 0 && i < KINDS; i++)
		printf("count %s %ld\n", names[i], all[i]);
	if (me == 0)
		printf("bytes RMA_PUT %lld\n", all_bytes);
	MPI_Finalize();
	return 0;
}
