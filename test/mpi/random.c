/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random, correct MPI program: all ranks draw the same script from the seed, and each writes down
 * what it sends, receives and takes part in, so that the trace can be compared message by message.
 *
 *     random SEED STEPS LOGFILE     writes LOGFILE.<rank>
 *
 * With odd seeds it asks for MPI_THREAD_MULTIPLE, and in some steps several threads do at once what else
 * the main thread does; the thousands of a tag then tell the thread. Partitioned messages where the MPI
 * has them.
 */
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST    4096 /* bytes of a message */
#define COMMS   24
#define THREADS 4

static __thread unsigned long long state; /* drawn from: the same in all ranks */
static int me, size, multiple, windows;
static FILE *out;
static __thread char sent[64][MOST], got[64][MOST];

static struct {
	MPI_Comm comm;
	char name[32];
	int mine, rank, size; /* of this process */
} comms[COMMS];
static int comm_count;

static unsigned draw_from(unsigned long long *from, unsigned below)
{
	*from = *from * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(*from >> 33) % below;
}

static unsigned draw(unsigned below)
{
	return draw_from(&state, below);
}

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void note(const char *format, ...)
{
	va_list args;

	flockfile(out); /* threads */
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	fputc('\n', out);
	funlockfile(out);
}

static int bytes_of(MPI_Status *status)
{
	int n;

	MPI_Get_count(status, MPI_BYTE, &n);
	return n;
}

static void received(const char *comm, MPI_Status *status)
{
	note("R %s %d %d %d", comm, status->MPI_SOURCE, status->MPI_TAG, bytes_of(status));
}

/* Several ranks share a processor: one that polls lets the others go on. */
static int unready(int done)
{
	if (!done)
		sched_yield();
	return !done;
}

/* ---- one message ---------------------------------------------------------------------------- */

static void send_one(int c, int to, int tag, int bytes, int mode)
{
	MPI_Comm comm = comms[c].comm;
	MPI_Request request;
	MPI_Datatype type;
	int done = 0;

	note("S %s %d %d %d", comms[c].name, to, tag, bytes);
	switch (mode) {
	case 0: MPI_Send(sent[0], bytes, MPI_BYTE, to, tag, comm); break;
	case 1: MPI_Ssend(sent[0], bytes, MPI_BYTE, to, tag, comm); break;
	case 2: MPI_Isend(sent[0], bytes, MPI_BYTE, to, tag, comm, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE); break;
	case 3: MPI_Issend(sent[0], bytes, MPI_BYTE, to, tag, comm, &request);
		while (unready(done))
			MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		break;
	case 4: MPI_Bsend(sent[0], bytes, MPI_BYTE, to, tag, comm); break;
	case 5: /* every second byte of a buffer: `bytes` of them */
		MPI_Type_vector(bytes, 1, 2, MPI_CHAR, &type);
		MPI_Type_commit(&type);
		MPI_Send(sent, 1, type, to, tag, comm);
		MPI_Type_free(&type);
		break;
	default:
		MPI_Send_init(sent[0], bytes, MPI_BYTE, to, tag, comm, &request);
		MPI_Start(&request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		MPI_Request_free(&request);
		break;
	}
}

static void receive_one(int c, int from, int tag, int mode)
{
	MPI_Comm comm = comms[c].comm;
	MPI_Request request;
	MPI_Message message;
	MPI_Status status;
	int done = 0, index;

	switch (mode) {
	case 0: MPI_Recv(got[0], MOST, MPI_BYTE, from, tag, comm, &status); break;
	case 1: MPI_Irecv(got[0], MOST, MPI_BYTE, from, tag, comm, &request);
		MPI_Wait(&request, &status); break;
	case 2: MPI_Irecv(got[0], MOST, MPI_BYTE, from, tag, comm, &request);
		while (unready(done))
			MPI_Testany(1, &request, &index, &done, &status);
		break;
	case 3: MPI_Probe(from, tag, comm, &status);
		MPI_Recv(got[0], bytes_of(&status), MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm,
			 MPI_STATUS_IGNORE);
		break;
	case 4: MPI_Mprobe(from, tag, comm, &message, &status);
		MPI_Mrecv(got[0], MOST, MPI_BYTE, &message, &status);
		break;
	case 5: while (unready(done))
			MPI_Improbe(from, tag, comm, &done, &message, &status);
		MPI_Imrecv(got[0], MOST, MPI_BYTE, &message, &request);
		MPI_Wait(&request, &status);
		break;
	case 6: while (unready(done))
			MPI_Iprobe(from, tag, comm, &done, &status);
		MPI_Recv(got[0], MOST, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
		break;
	default:
		MPI_Recv_init(got[0], MOST, MPI_BYTE, from, tag, comm, &request);
		MPI_Start(&request);
		MPI_Wait(&request, &status);
		MPI_Request_free(&request);
		break;
	}
	received(comms[c].name, &status);
}

/* Two of its ranks; 0: this process is not in it, or they are one. */
static int choose_two(int c, unsigned *from, unsigned *to)
{
	*from = draw(64);
	*to = draw(64);
	if (!comms[c].mine)
		return 0;
	*from %= comms[c].size;
	*to %= comms[c].size;
	return *from != *to;
}

/* `c` 0 and 1 are copies of the world that are kept for receives from anybody. */
static void message(void)
{
	int wild = draw(4) == 0, c = wild ? (int)draw(2) : 2 + (int)draw(comm_count - 2);
	int tag = draw(100), bytes = draw(3) ? draw(64) : draw(MOST);
	int send_mode = draw(7), receive_mode = draw(8);
	unsigned from, to;

	if (!choose_two(c, &from, &to))
		return;
	if (comms[c].rank == (int)from)
		send_one(c, to, tag, send_mode == 5 ? bytes / 2 : bytes, send_mode);
	if (comms[c].rank == (int)to)
		receive_one(c, wild ? MPI_ANY_SOURCE : (int)from, wild ? MPI_ANY_TAG : tag,
			    receive_mode);
}

/* ---- many at once --------------------------------------------------------------------------- */

static void complete(int n, MPI_Request *requests, const char *comm, int receives, int mode)
{
	MPI_Status status[64];
	int index[64], count, done = 0, left = n;

	switch (mode) {
	case 0: MPI_Waitall(n, requests, status); break;
	case 1: while (unready(done))
			MPI_Testall(n, requests, &done, status);
		break;
	case 2: while (left--) {
			MPI_Status one;

			MPI_Waitany(n, requests, index, &one);
			status[index[0]] = one;
		}
		break;
	default:
		while (left) {
			MPI_Status some[64];

			if (mode == 3)
				MPI_Waitsome(n, requests, &count, index, some);
			else
				unready(MPI_Testsome(n, requests, &count, index, some) == MPI_SUCCESS &&
					count);
			for (int i = 0; i < count; i++)
				status[index[i]] = some[i];
			left -= count;
		}
		break;
	}
	for (int i = 0; i < receives; i++)
		received(comm, &status[i]);
}

static void exchange(void)
{
	int c = 2 + draw(comm_count - 2), n = 1 + draw(12), shift = draw(7), mode = draw(6);
	int persistent = draw(3) == 0, rounds = persistent ? 1 + draw(3) : 1, ignore = draw(4) == 0;
	int bytes[12], order = draw(100);
	MPI_Request requests[24];
	int to, from;

	for (int i = 0; i < n; i++)
		bytes[i] = draw(8) ? draw(200) : 70000 % MOST;
	if (!comms[c].mine)
		return;
	to = (comms[c].rank + 1 + shift) % comms[c].size;
	from = (comms[c].rank + 16 * comms[c].size - 1 - shift) % comms[c].size;
	for (int i = 0; i < n; i++) {
		if (persistent)
			MPI_Recv_init(got[i], MOST, MPI_BYTE, from, order + i, comms[c].comm, &requests[i]);
		else
			MPI_Irecv(got[i], MOST, MPI_BYTE, from, order + i, comms[c].comm, &requests[i]);
	}
	for (int i = 0; i < n; i++) {
		if (persistent)
			MPI_Send_init(sent[i], bytes[i], MPI_BYTE, to, order + i, comms[c].comm,
				      &requests[n + i]);
		else
			MPI_Isend(sent[i], bytes[i], MPI_BYTE, to, order + i, comms[c].comm,
				  &requests[n + i]);
	}
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < n; i++)
			note("S %s %d %d %d", comms[c].name, to, order + i, bytes[i]);
		if (persistent)
			MPI_Startall(2 * n, requests);
		if (ignore) {
			for (int i = 0; i < n; i++)
				note("R %s %d %d %d", comms[c].name, from, order + i, bytes[i]);
			MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
		} else {
			complete(2 * n, requests, comms[c].name, n, persistent ? mode % 2 : mode % 5);
		}
	}
	for (int i = 0; persistent && i < 2 * n; i++)
		MPI_Request_free(&requests[i]);
}

static void shift(void)
{
	int c = 2 + draw(comm_count - 2), bytes = draw(300), open = draw(2), replace = draw(2);
	int to, from;
	MPI_Status status;

	if (!comms[c].mine)
		return;
	to = comms[c].rank + 1;
	from = comms[c].rank - 1;
	if (to == comms[c].size)
		to = open ? MPI_PROC_NULL : 0;
	if (from < 0)
		from = open ? MPI_PROC_NULL : comms[c].size - 1;
	if (to != MPI_PROC_NULL)
		note("S %s %d 3 %d", comms[c].name, to, bytes);
	if (replace)
		MPI_Sendrecv_replace(sent[0], bytes, MPI_BYTE, to, 3, from, 3, comms[c].comm, &status);
	else
		MPI_Sendrecv(sent[0], bytes, MPI_BYTE, to, 3, got[0], MOST, MPI_BYTE, from, 3,
			     comms[c].comm, &status);
	if (from != MPI_PROC_NULL)
		received(comms[c].name, &status);
}

static void cancelled(void)
{
	MPI_Request request;
	MPI_Status status;
	int yes;

	MPI_Irecv(got[0], MOST, MPI_BYTE, MPI_ANY_SOURCE, 12345, comms[2].comm, &request);
	MPI_Cancel(&request);
	MPI_Wait(&request, &status);
	MPI_Test_cancelled(&status, &yes);
	if (!yes)
		abort();
	note("X");
}

/* ---- collectives ---------------------------------------------------------------------------- */

static void collective(void)
{
	int c = draw(comm_count), what = draw(9), root = draw(64), n = draw(20), later = draw(2);
	int mine, all;
	MPI_Request request;
	MPI_Comm comm = comms[c].comm;

	if (!comms[c].mine)
		return;
	all = comms[c].size;
	root %= all;
	mine = comms[c].rank == root;
#define DO(call, icall)                                                                            \
	do {                                                                                       \
		if (later) {                                                                       \
			MPI_I##icall;                                                              \
			MPI_Wait(&request, MPI_STATUS_IGNORE);                                     \
		} else {                                                                           \
			MPI_##call;                                                                \
		}                                                                                  \
	} while (0)
#define LOG(op, root, out_bytes, in_bytes)                                                         \
	note("%c %s %s %d %d %d", later ? 'N' : 'C', comms[c].name, op, root, out_bytes, in_bytes)
	switch (what) {
	case 0:
		LOG("BARRIER", -1, 0, 0);
		DO(Barrier(comm), barrier(comm, &request));
		break;
	case 1:
		LOG("BCAST", root, mine ? n * 4 * all : 0, n * 4);
		DO(Bcast(got, n, MPI_INT, root, comm), bcast(got, n, MPI_INT, root, comm, &request));
		break;
	case 2:
		LOG("REDUCE", root, n * 8, mine ? n * 8 * all : 0);
		DO(Reduce(sent, got, n, MPI_DOUBLE, MPI_SUM, root, comm),
		   reduce(sent, got, n, MPI_DOUBLE, MPI_SUM, root, comm, &request));
		break;
	case 3:
		LOG("ALLREDUCE", -1, n * 4, n * 4);
		DO(Allreduce(MPI_IN_PLACE, got, n, MPI_INT, MPI_MAX, comm),
		   allreduce(MPI_IN_PLACE, got, n, MPI_INT, MPI_MAX, comm, &request));
		break;
	case 4:
		LOG("GATHER", root, n, mine ? n * all : 0);
		DO(Gather(sent, n, MPI_CHAR, got, n, MPI_CHAR, root, comm),
		   gather(sent, n, MPI_CHAR, got, n, MPI_CHAR, root, comm, &request));
		break;
	case 5:
		LOG("SCATTER", root, mine ? n * all : 0, n);
		DO(Scatter(sent, n, MPI_CHAR, got, n, MPI_CHAR, root, comm),
		   scatter(sent, n, MPI_CHAR, got, n, MPI_CHAR, root, comm, &request));
		break;
	case 6:
		LOG("ALLTOALL", -1, n * all, n * all);
		DO(Alltoall(sent, n, MPI_CHAR, got, n, MPI_CHAR, comm),
		   alltoall(sent, n, MPI_CHAR, got, n, MPI_CHAR, comm, &request));
		break;
	case 7:
		LOG("ALLGATHER", -1, n * 2 * all, n * 2 * all);
		DO(Allgather(sent, n, MPI_SHORT, got, n, MPI_SHORT, comm),
		   allgather(sent, n, MPI_SHORT, got, n, MPI_SHORT, comm, &request));
		break;
	default:
		LOG("SCAN", -1, n * 4, n * 4);
		DO(Scan(sent, got, n, MPI_INT, MPI_BOR, comm),
		   scan(sent, got, n, MPI_INT, MPI_BOR, comm, &request));
		break;
	}
}

/* ---- partitioned messages ------------------------------------------------------------------- */

static void partitioned(void)
{
	int c = 2 + draw(comm_count - 2), parts = 1 + draw(8), bytes = draw(100), rounds = 1 + draw(3);
	int tag = draw(100), polls = draw(2), done = 0;
	unsigned from, to;
	MPI_Request request;
	MPI_Status status;

	if (!choose_two(c, &from, &to))
		return;
#if MPI_VERSION >= 4 /* those of Open MPI 5.0, which says 3, hang in such programs */
	if (comms[c].rank == (int)from)
		MPI_Psend_init(sent, parts, bytes, MPI_BYTE, to, tag, comms[c].comm, MPI_INFO_NULL, &request);
	else if (comms[c].rank == (int)to)
		MPI_Precv_init(got, parts, bytes, MPI_BYTE, from, tag, comms[c].comm, MPI_INFO_NULL,
			       &request);
	else
		return;
	for (int r = 0; r < rounds; r++) {
		if (comms[c].rank == (int)from)
			note("S %s %d %d %d", comms[c].name, to, tag, parts * bytes);
		MPI_Start(&request);
		for (int i = parts; comms[c].rank == (int)from && i-- > 0;)
			MPI_Pready(i, request);
		for (done = 0; comms[c].rank == (int)to && polls && unready(done);)
			MPI_Parrived(request, parts - 1, &done);
		MPI_Wait(&request, &status);
		if (comms[c].rank == (int)to)
			note("R %s %d %d %d", comms[c].name, from, tag, parts * bytes);
	}
	MPI_Request_free(&request);
#else
	(void)parts, (void)bytes, (void)rounds, (void)tag, (void)polls, (void)done, (void)request,
		(void)status;
#endif
}

/* ---- one-sided operations ------------------------------------------------------------------- */

enum { CELLS = 64 }; /* 8 bytes each */

/* One access, with a request from 6 on. */
static void access_one(MPI_Win win, const char *name, int target, unsigned what, int cells, int at)
{
	static __thread long from[CELLS], back[CELLS];
	MPI_Request request;
	long one = 1;

	switch (what) {
	case 0:
		note("P PUT %s %d %d", name, target, 8 * cells);
		MPI_Put(from, cells, MPI_LONG, target, at, cells, MPI_LONG, win);
		break;
	case 1:
		note("P GET %s %d %d", name, target, 8 * cells);
		MPI_Get(back, cells, MPI_LONG, target, at, cells, MPI_LONG, win);
		break;
	case 2:
		note("A ACCUMULATE %s %d %d 0", name, target, 8 * cells);
		MPI_Accumulate(from, cells, MPI_LONG, target, at, cells, MPI_LONG, MPI_SUM, win);
		break;
	case 3:
		note("A FETCH_AND_ACCUMULATE %s %d %d %d", name, target, 8 * cells, 8 * cells);
		MPI_Get_accumulate(from, cells, MPI_LONG, back, cells, MPI_LONG, target, at, cells, MPI_LONG,
				   MPI_SUM, win);
		break;
	case 4:
		note("A FETCH_AND_ADD %s %d 8 8", name, target);
		MPI_Fetch_and_op(&one, back, MPI_LONG, target, at, MPI_SUM, win);
		break;
	case 5:
		note("A COMPARE_AND_SWAP %s %d 8 8", name, target);
		MPI_Compare_and_swap(&one, from, back, MPI_LONG, target, at, win);
		break;
	case 6:
		note("P PUT %s %d %d", name, target, 8 * cells);
		MPI_Rput(from, cells, MPI_LONG, target, at, cells, MPI_LONG, win, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		break;
	default:
		note("P GET %s %d %d", name, target, 8 * cells);
		MPI_Rget(back, cells, MPI_LONG, target, at, cells, MPI_LONG, win, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		break;
	}
	/* Both ends are done when the epoch is over; what only reads has one. */
	note("D %s", name);
	if (what != 1 && what != 7)
		note("E %s", name);
}

static void one_sided(void)
{
	int c = 2 + draw(comm_count - 2), own = draw(2), epochs = 1 + draw(3);
	unsigned how = draw(4);
	unsigned long long mine = state ^ (unsigned long long)me * 0x9e3779b97f4a7c15ull;
	static long memory[CELLS];
	long *base = memory;
	char name[32];
	MPI_Win win;

	snprintf(name, sizeof(name), "win-%d", windows++);
	if (!comms[c].mine)
		return;
	/* Open MPI's windows in shared memory are its only ones with threads; the program gives none. */
	if (own && !multiple)
		MPI_Win_create(memory, sizeof(memory), sizeof(long), MPI_INFO_NULL, comms[c].comm, &win);
	else
		MPI_Win_allocate(sizeof(memory), sizeof(long), MPI_INFO_NULL, comms[c].comm, &base, &win);
	MPI_Win_set_name(win, name);
	memset(base, 0, sizeof(memory));
	MPI_Win_fence(0, win);
	for (int e = 0; e < epochs; e++) {
		int n = draw_from(&mine, 6), all = comms[c].size, to = draw_from(&mine, all);

		if (how == 1)
			MPI_Win_lock(draw_from(&mine, 2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, to, 0, win);
		else if (how >= 2)
			MPI_Win_lock_all(0, win);
		for (int i = 0; i < n; i++) {
			int cells = 1 + draw_from(&mine, 8),
			    target = how == 1 ? to : (int)draw_from(&mine, all);

			access_one(win, name, target, draw_from(&mine, how ? 8 : 6), cells,
				   draw_from(&mine, CELLS - cells));
			if (how == 3)
				draw_from(&mine, 2) ? MPI_Win_flush(target, win)
						    : MPI_Win_flush_local_all(win);
		}
		if (how == 0)
			MPI_Win_fence(0, win);
		else if (how == 1)
			MPI_Win_unlock(to, win);
		else
			MPI_Win_unlock_all(win);
	}
	MPI_Win_free(&win);
}

/* ---- threads -------------------------------------------------------------------------------- */

static struct job {
	unsigned long long state;
	int number, own, shared; /* communicators: of this thread alone, of all threads */
} jobs[THREADS];

/* All threads with the same number do the same in all ranks, but for who is whose partner. */
static void *thread(void *argument)
{
	const struct job *job = argument;
	int rounds;

	state = job->state;
	rounds = 2 + draw(8);
	for (int i = 0; i < rounds; i++) {
		unsigned how = draw(4), send_mode = draw(7), receive_mode = draw(8), shift = draw(7);
		int c = draw(2) ? job->own : job->shared, bytes = draw(200),
		    tag = 1000 * job->number + draw(100);
		int wild = draw(4) == 0;
		int to = (comms[c].rank + 1 + shift) % comms[c].size;
		int from = (comms[c].rank + 16 * comms[c].size - 1 - shift) % comms[c].size;
		MPI_Request request;
		MPI_Status status;
		int n = me;

		if (how == 0) {
			note("C %s ALLREDUCE -1 4 4", comms[job->own].name);
			MPI_Allreduce(MPI_IN_PLACE, &n, 1, MPI_INT, MPI_MAX, comms[job->own].comm);
		} else if (how == 1) {
			MPI_Irecv(got[1], MOST, MPI_BYTE, from, tag, comms[c].comm, &request);
			send_one(c, to, tag, send_mode == 5 ? bytes / 2 : bytes, send_mode);
			MPI_Wait(&request, &status);
			received(comms[c].name, &status);
		} else {
			note("S %s %d %d %d", comms[c].name, to, tag, bytes);
			MPI_Isend(sent[1], bytes, MPI_BYTE, to, tag, comms[c].comm, &request);
			receive_one(c, wild ? MPI_ANY_SOURCE : from, tag, receive_mode);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
			/* From anybody: nobody's next one may come before. */
			if (wild) {
				note("C %s BARRIER -1 0 0", comms[job->own].name);
				MPI_Barrier(comms[job->own].comm);
			}
		}
	}
	return NULL;
}

static int add(MPI_Comm comm, const char *kind);

static void threads(void)
{
	int n = 2 + draw(THREADS - 1), before = comm_count;
	unsigned long long first = state;
	pthread_t ids[THREADS];
	MPI_Comm made;

	if (comm_count + THREADS + 1 > COMMS || !multiple)
		return;
	for (int i = 0; i <= n; i++) {
		MPI_Comm_dup(comms[2].comm, &made);
		add(made, i < n ? "own" : "shared");
	}
	for (int i = 0; i < n; i++) {
		jobs[i] = (struct job){ first ^ (i + 1) * 0x9e3779b97f4a7c15ull, i + 1, before + i,
					before + n };
		if (pthread_create(&ids[i], NULL, thread, &jobs[i]))
			abort();
	}
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	while (comm_count > before)
		MPI_Comm_free(&comms[--comm_count].comm);
}

/* ---- communicators -------------------------------------------------------------------------- */

static int add(MPI_Comm comm, const char *kind)
{
	int c = comm_count++;

	comms[c].comm = comm;
	comms[c].mine = comm != MPI_COMM_NULL;
	snprintf(comms[c].name, sizeof(comms[c].name), "%s-%d", kind, c);
	if (comms[c].mine) {
		MPI_Comm_rank(comm, &comms[c].rank);
		MPI_Comm_size(comm, &comms[c].size);
		MPI_Comm_set_name(comm, comms[c].name);
	}
	return c;
}

static void communicator(void)
{
	unsigned what = draw(6), c = 2 + draw(comm_count - 2), colours = 1 + draw(3);
	unsigned up = draw(2);
	MPI_Comm made = MPI_COMM_NULL;
	MPI_Group group, half;
	MPI_Request request;
	int ranks[64], n = 0, all, periods = 1;

	if (comm_count == COMMS)
		return;
	switch (what) {
	case 0:
		if (comms[c].mine)
			MPI_Comm_dup(comms[c].comm, &made);
		add(made, "dup");
		break;
	case 1: /* several at once under one number: their names differ by their first member */
		if (comms[c].mine)
			MPI_Comm_split(comms[c].comm, comms[c].rank % colours,
				       up ? comms[c].rank : -comms[c].rank, &made);
		c = add(made, "split");
		if (comms[c].mine) {
			int first = me;

			MPI_Bcast(&first, 1, MPI_INT, 0, made);
			snprintf(comms[c].name, sizeof(comms[c].name), "split-%d-%d", c, first);
			MPI_Comm_set_name(made, comms[c].name);
			note("C %s BCAST 0 %d 4", comms[c].name,
			     comms[c].rank ? 0 : 4 * comms[c].size);
		}
		break;
	case 2:
		MPI_Comm_group(comms[2].comm, &group);
		MPI_Group_size(group, &all);
		for (int i = up; i < all; i += 2)
			ranks[n++] = i;
		MPI_Group_incl(group, n, ranks, &half);
		if (me % 2 == (int)up)
			MPI_Comm_create_group(comms[2].comm, half, 5, &made);
		MPI_Group_free(&half);
		MPI_Group_free(&group);
		add(made, "group");
		break;
	case 3:
		if (comms[c].mine)
			MPI_Cart_create(comms[c].comm, 1, &comms[c].size, &periods, 0, &made);
		add(made, "cart");
		break;
	case 4:
		if (comms[c].mine) {
			MPI_Comm_idup(comms[c].comm, &made, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
		add(made, "idup");
		break;
	default: /* one that is gone again */
		if (comms[c].mine) {
			MPI_Comm_dup(comms[c].comm, &made);
			MPI_Comm_free(&made);
		}
		break;
	}
}

/* Even against odd ranks of the world, once. */
static void between(void)
{
	MPI_Comm side, inter;
	MPI_Status status;
	int n, remote, rank, v = me;

	MPI_Comm_split(comms[2].comm, me % 2, me, &side);
	MPI_Intercomm_create(side, 0, comms[2].comm, 1 - me % 2, 9, &inter);
	MPI_Comm_set_name(side, me % 2 ? "odd" : "even");
	MPI_Comm_set_name(inter, "inter");
	MPI_Comm_remote_size(inter, &remote);
	MPI_Comm_size(inter, &n);
	MPI_Comm_rank(inter, &rank);
	if (rank < remote) {
		note("S inter %d 7 4", rank);
		MPI_Sendrecv(&v, 1, MPI_INT, rank, 7, got, 1, MPI_INT, rank, 7, inter, &status);
		received("inter", &status);
	}
	note("C inter BARRIER -1 0 0");
	MPI_Barrier(inter);
	MPI_Comm_free(&inter);
	MPI_Comm_free(&side);
}

int main(int argc, char **argv)
{
	static char buffer[1 << 20];
	int steps = argc > 3 ? atoi(argv[2]) : 0, provided = 0;
	char name[4096];
	MPI_Comm made;

	if (argc < 4)
		return 2;
	if (atoi(argv[1]) % 2) {
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
		multiple = provided >= MPI_THREAD_MULTIPLE;
	} else {
		MPI_Init(&argc, &argv);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	snprintf(name, sizeof(name), "%s.%d", argv[3], me);
	out = fopen(name, "w");
	if (!out)
		MPI_Abort(MPI_COMM_WORLD, 3);
	MPI_Buffer_attach(buffer, sizeof(buffer));
	state = strtoull(argv[1], NULL, 10) * 2654435761u + 12345;
	MPI_Comm_dup(MPI_COMM_WORLD, &made);
	add(made, "any");
	MPI_Comm_dup(MPI_COMM_WORLD, &made);
	add(made, "any");
	MPI_Comm_dup(MPI_COMM_WORLD, &made);
	add(made, "world");
	for (int i = 0; i < steps; i++) {
		switch (draw(16)) {
		case 0: case 1: case 2: case 3: message(); break;
		case 4: case 5: exchange(); break;
		case 6: shift(); break;
		case 7: case 8: case 9: collective(); break;
		case 10: communicator(); break;
		case 11: cancelled(); break;
		case 12: partitioned(); break;
		case 13: case 14: one_sided(); break;
		default: threads(); break;
		}
	}
	if (size > 1)
		between();
	fclose(out);
	for (int i = 0; i < comm_count; i++)
		if (comms[i].mine)
			MPI_Comm_free(&comms[i].comm);
	MPI_Finalize();
	return 0;
}
