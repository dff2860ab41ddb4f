/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What few programs do and MPI allows, one case for each run: corners CASE [NUMBER]. It prints what came
 * of it, which must be the same with and without gputrace, and "calls NAME N" where a trace has to know
 * them all.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi4.h"

static int me, size, x, y;
static jmp_buf out;
static sigjmp_buf timed_out;

/* ---- errors --------------------------------------------------------------------------------- */

static int refuses(MPI_Comm c, int k, void *e, void *in, void *copy, int *flag)
{
	return 4711;
}

static void no_variable(const char *when)
{
	int i, rc = MPI_T_cvar_get_index("no_such_variable", &i);

	printf("%s: %s\n", when, rc ? "refused" : "there");
	fflush(stdout);
}

static int tools(int argc, char **argv)
{
	int provided;

	MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
	no_variable("before MPI_Init");
	MPI_Init(&argc, &argv);
	no_variable("after MPI_Init");
	MPI_Finalize();
	no_variable("after MPI_Finalize");
	_exit(0); /* Open MPI 4.1 does not survive MPI_T_finalize() here */
}

static void own_code(int n)
{
	MPI_Comm c, d;
	int key;

	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
	MPI_Comm_create_keyval(refuses, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_set_attr(c, key, &key);
	printf("dup: %s\n", MPI_Comm_dup(c, &d) ? "refused" : "done");
}

static int handled;

static void count(MPI_Comm *c, int *rc, ...)
{
	handled++;
}

static void own_handler(int n)
{
	MPI_Errhandler h;
	MPI_Comm c;
	int key;

	MPI_Comm_create_errhandler(count, &h);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
	MPI_Comm_create_keyval(refuses, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
	MPI_Comm_dup(MPI_COMM_WORLD, &c);
	printf("handled %d\n", handled);
}

static void null(int n)
{
	MPI_Request r = MPI_REQUEST_NULL;
	MPI_Status s;
	int rc = -1;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Irecv(&x, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &r);
	switch (n) {
	case 0: rc = MPI_Comm_free(NULL); break;
	case 1: rc = MPI_Request_free(NULL); break;
	case 2: rc = MPI_Wait(NULL, &s); break;
	case 3: rc = MPI_Cancel(NULL); break;
	case 4: rc = MPI_Start(NULL); break;
	case 5: rc = MPI_Waitall(2, NULL, MPI_STATUSES_IGNORE); break;
	case 6: rc = MPI_File_close(NULL); break;
	case 7: rc = MPI_Win_free(NULL); break;
	case 8: rc = MPI_Startall(2, NULL); break;
	case 9: rc = MPI_Gatherv(&x, 1, MPI_INT, &y, NULL, NULL, MPI_INT, 0, MPI_COMM_SELF); break;
	case 10: rc = MPI_Test(NULL, &y, &s); break;
	}
	printf("null %d: %s\n", n, rc ? "refused" : "done");
	MPI_Send(&y, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
	MPI_Wait(&r, &s);
}

/* ---- jumps ---------------------------------------------------------------------------------- */

static void leave(MPI_Comm *c, int *rc, ...)
{
	longjmp(out, 1);
}

static void wake(int s)
{
	siglongjmp(timed_out, 1);
}

/* From a deeper frame than the call that was left, whose words it may not touch. */
static __attribute__((noinline)) void work(int n)
{
	volatile char pad[512];

	for (int i = 0; i < n; i++)
		MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	pad[1] = 0;
	(void)pad;
}

/* A wait of the program's own, from such a frame. */
static __attribute__((noinline)) void nap(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	const struct timespec over = { 1, 0 };
	volatile char pad[512];

	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&cond, &mutex, &over);
	pthread_mutex_unlock(&mutex);
	pad[1] = 0;
	(void)pad;
}

static __attribute__((noinline)) void deeper(void)
{
	volatile char pad[64];

	pad[0] = 0;
	MPI_Send(&x, 1, MPI_INT, 999, 0, MPI_COMM_WORLD);
	pad[1] = 0;
}

static void jump(int n)
{
	MPI_Errhandler h;

	MPI_Comm_create_errhandler(leave, &h);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
	work(10);
	if (!setjmp(out))
		MPI_Send(&x, 1, MPI_INT, 999, 0, MPI_COMM_WORLD);
	nap();
	work(500);
	if (!setjmp(out))
		deeper();
	work(500);
	nap();
	printf("calls MPI_Allreduce %d\n", 1010 * size);
	printf("calls pthread_cond_timedwait %d\n", 2 * size);
}

static void strike(void *in, void *result, int *len, MPI_Datatype *type)
{
	(void)in, (void)result, (void)len, (void)type;
	raise(SIGALRM);
}

/* Where the signal strikes does no harm to the MPI: what an alarm() leaves behind in the middle of a call
 * is up to luck, and Open MPI may hang afterwards. */
static void alarmed(int n)
{
	MPI_Op op;

	signal(SIGALRM, wake);
	MPI_Op_create(strike, 1, &op);
	if (!sigsetjmp(timed_out, 1))
		MPI_Reduce_local(&x, &y, 1, MPI_INT, op);
	work(1000);
	printf("calls MPI_Allreduce %d\n", 1000 * size);
}

/* ---- requests ------------------------------------------------------------------------------- */

static MPI_Request copying;

static __attribute__((noinline)) MPI_Comm begin_copy(void)
{
	MPI_Comm c;

	MPI_Comm_idup(MPI_COMM_WORLD, &c, &copying);
	return c;
}

static __attribute__((noinline)) void use_stack(void)
{
	volatile char pad[4096];

	for (int i = 0; i < 4096; i++)
		pad[i] = 0x5a;
}

static void copy(int n)
{
	MPI_Comm c = begin_copy();

	use_stack();
	MPI_Wait(&copying, MPI_STATUS_IGNORE);
	MPI_Barrier(c);
	MPI_Comm_free(&c);
	printf("copied\n");
}

static void both(int n)
{
#ifdef HAS_MPI4
	MPI_Request r;

	for (int i = 0; i < 10; i++) {
		MPI_Isendrecv(&x, 1, MPI_INT, !me, 0, &y, 1, MPI_INT, !me, 0, MPI_COMM_WORLD, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		MPI_Isendrecv_replace(&x, 1, MPI_INT, !me, 1, !me, 1, MPI_COMM_WORLD, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		/* MPICH gives its request, with its status, to the next MPI_Isendrecv */
		MPI_Sendrecv(&x, 1, MPI_INT, !me, 3, &y, 1, MPI_INT, !me, 3, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
	}
	if (me) {
		MPI_Isendrecv(&x, 1, MPI_INT, 0, 0, &y, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
	} else {
		MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(&y, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Isendrecv(&x, 1, MPI_INT, me ? MPI_PROC_NULL : 1, 2, &y, 1, MPI_INT, me ? 0 : MPI_PROC_NULL, 2,
		      MPI_COMM_WORLD, &r);
	MPI_Wait(&r, MPI_STATUS_IGNORE);
#else
	exit(77);
#endif
}

/* Messages that are made of parts. */
static void parts(int n)
{
#ifdef HAS_MPI4
	static int out[8], in[8];
	MPI_Request r[2];

	MPI_Psend_init(out, 4, 2, MPI_INT, !me, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
	MPI_Precv_init(in, 4, 2, MPI_INT, !me, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
	for (int i = 0; i < n; i++) {
		MPI_Startall(2, r);
		for (int p = 0; p < 4; p++)
			MPI_Pready(p, r[0]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&r[0]);
	MPI_Request_free(&r[1]);
#else
	(void)n;
	exit(77);
#endif
}

/* Messages of all lengths, and with more tags than short records can name. */
static void sizes(int n)
{
	static char out[2][80 << 20];
	int tag = 0;

	for (int bytes = 0; bytes <= n; bytes = bytes * 5 + 1)
		MPI_Sendrecv(out[0], bytes, MPI_CHAR, !me, tag++, out[1], bytes, MPI_CHAR, !me, MPI_ANY_TAG,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < 10000; i++)
		MPI_Sendrecv(out[0], 2, MPI_CHAR, !me, i % 5000, out[1], 2, MPI_CHAR, !me, i % 5000,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* ---- windows -------------------------------------------------------------------------------- */

static void nobody(int n)
{
	int *memory, one = 1;
	MPI_Win w;

	MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w);
	if (!me) {
		MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w);
		MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, w);
		MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, w);
		MPI_Put(&one, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w);
		MPI_Win_unlock(MPI_PROC_NULL, w);
		MPI_Barrier(MPI_COMM_SELF);
		MPI_Win_unlock(1, w);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&w);
}

/* ---- communicators -------------------------------------------------------------------------- */

/* 100 bytes on the first and 4 on the second, received the other way round. */
static void use(MPI_Comm first, MPI_Comm second)
{
	char buffer[100] = "";
	MPI_Request r[2];

	MPI_Comm_set_name(first, "first");
	MPI_Comm_set_name(second, "second");
	if (me == 0) {
		MPI_Isend(buffer, 100, MPI_CHAR, 1, 7, first, &r[0]);
		MPI_Isend(&x, 4, MPI_CHAR, 1, 7, second, &r[1]);
		MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	} else if (me == 1) {
		MPI_Recv(&x, 4, MPI_CHAR, 0, 7, second, MPI_STATUS_IGNORE);
		MPI_Recv(buffer, 100, MPI_CHAR, 0, 7, first, MPI_STATUS_IGNORE);
	}
}

static void tags(int n)
{
	MPI_Group g;
	MPI_Comm a, b;

	MPI_Comm_group(MPI_COMM_WORLD, &g);
	for (int i = 0; i < n; i++) {
		MPI_Comm_create_group(MPI_COMM_WORLD, g, i, &a);
		MPI_Comm_free(&a);
	}
	MPI_Comm_create_group(MPI_COMM_WORLD, g, n, &a);
	MPI_Comm_create_group(MPI_COMM_WORLD, g, n, &b);
	use(a, b);
}

static MPI_Comm inner[2];
static int inners;

static int makes(MPI_Comm c, int k, void *e, void *in, void *copy, int *flag)
{
	MPI_Comm_dup(MPI_COMM_WORLD, &inner[inners++]);
	*flag = 0;
	return MPI_SUCCESS;
}

static void callback(int n)
{
	MPI_Comm c, d[2];
	int key;

	MPI_Comm_create_keyval(makes, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_dup(MPI_COMM_SELF, &c);
	MPI_Comm_set_attr(c, key, &key);
	MPI_Comm_dup(c, &d[0]);
	MPI_Comm_dup(c, &d[1]);
	use(inner[0], inner[1]);
}

/* ---- polls ---------------------------------------------------------------------------------- */


/* Instrumented if the program is built so. */
__attribute__((noinline)) void my_op(void *in, void *to, int *n, MPI_Datatype *t)
{
	int *a = in, *b = to;

	for (int i = 0; i < *n; i++)
		b[i] += a[i];
}

/* Rank 1 has more to do. */
static void uneven(int n)
{
	usleep(me == 1 ? 600000 : 200000);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void inside(int n)
{
	static int a[4000], b[4000];
	MPI_Request r;
	MPI_Op op;
	int flag;

	MPI_Op_create(my_op, 1, &op);
	for (int k = 0; k < 20; k++) {
		MPI_Iallreduce(a, b, 4000, MPI_INT, op, MPI_COMM_WORLD, &r);
		do
			MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
		while (!flag);
	}
}

static const struct {
	const char *name;
	void (*run)(int n);
} cases[] = {
	{ "own_code", own_code }, { "own_handler", own_handler },
	{ "null", null },	  { "jump", jump },
	{ "alarm", alarmed },	  { "copy", copy },
	{ "both", both },	  { "parts", parts },
	{ "sizes", sizes },	  { "nobody", nobody },
	{ "tags", tags },	  { "callback", callback },
	{ "inside", inside },	  { "uneven", uneven },
};

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "tools"))
		return tools(argc, argv);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (me)
		dup2(2, 1); /* one of them speaks */
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (!strcmp(argv[1], cases[i].name))
			cases[i].run(argc > 2 ? atoi(argv[2]) : 0);
	MPI_Finalize();
	return 0;
}
