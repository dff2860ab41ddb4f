/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the clocks of hosts in log2(hosts) rounds. In each round every host that has been compared already
 * serves as the reference of one that has not. That one asks for the time many times. Each answer was read
 * between its question and its arrival, which bounds the difference of the clocks; all bounds together are
 * tighter than that of the fastest answer, since the way there may be fast once and the way back another
 * time.
 *
 * Recorded are the pair of readings and the duration of the fastest answer; the assembly chains the pairs and
 * interpolates between comparisons. At the end each host is sent the pairs of the chain that leads to it, so
 * that it can do this by itself.
 *
 * Limits: errors add up along the chain, at most half of the fastest answer for each comparison.
 */
#include <string.h>

#include "gputrace/ranks.h"
#include "mpi/clocks.h"

#define TAG        1
#define TAG_CHAIN  2
#define TRIES       200
#define GOOD_NS     20000     /* an answer within that needs no more tries */
#define PATIENCE_NS 300000000 /* for one pair of hosts that do not answer that fast ... */
#define FAIR_NS     1000000   /* ... but this fast; or else PATIENCE_MOST_NS */
#define MUCH_FASTER 8         /* it was before: the network, or a processor, is busy just now */
#define PATIENCE_LONG_NS 1000000000
#define PATIENCE_MOST_NS 2000000000
#define KEPT        16384     /* answers; of more of them the last ones */

struct question {
	uint64_t go_on;
};

struct answer {
	uint64_t tick;
	uint32_t kind, reserved;
	char host[64];
};

static int64_t now_ns(void)
{
	return (int64_t)gt_monotonic();
}

static void answer_questions(MPI_Comm comm, int partner)
{
	struct question question;
	struct answer answer = { 0 };

	strncpy(answer.host, gt_host(&answer.kind), sizeof(answer.host) - 1);
	for (;;) {
		if (gt_mpi_Recv()(&question, sizeof(question), MPI_BYTE, partner, TAG, comm,
				  MPI_STATUS_IGNORE) != MPI_SUCCESS ||
		    !question.go_on)
			return;
		answer.tick = gt_now();
		if (gt_mpi_Send()(&answer, sizeof(answer), MPI_BYTE, partner, TAG, comm) !=
		    MPI_SUCCESS)
			return;
	}
}

struct try {
	uint64_t before, after;  /* of this clock */
	uint64_t other;          /* read in between */
};

static const struct try *fastest_of(const struct try *list, uint32_t n)
{
	const struct try *best = list;

	for (uint32_t i = 1; i < n; i++)
		if (list[i].after - list[i].before < best->after - best->before)
			best = &list[i];
	return best;
}

static double middle(const struct try *one, const struct try *base)
{
	return (double)(int64_t)(one->before - base->before) +
	       (double)(one->after - one->before) / 2;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/*
 * The other clock's tick in the middle of the fastest try, by the bounds of all of them. How fast it runs
 * beside this one, and how well that is known, follows from the fastest tries of both halves.
 */
static void bound(const struct try *list, uint32_t n, uint64_t *tick, uint64_t *other, uint64_t *width)
{
	const struct try *best = fastest_of(list, n), *a = fastest_of(list, n / 2),
			 *b = fastest_of(list + n / 2, n - n / 2);
	double half = (double)(best->after - best->before) / 2, low = -1e18, high = 1e18, rate, doubt,
	       span = middle(b, a) - middle(a, a);

	*tick = best->before + (uint64_t)half;
	*other = best->other;
	*width = best->after - best->before;
	if (n < 4 || span <= 0)
		return;
	rate = (double)(int64_t)(b->other - a->other) / span;
	doubt = (double)(a->after - a->before + b->after - b->before) / 2 / span;
	for (uint32_t i = 0; i < n; i++) {
		double read = (double)(int64_t)(list[i].other - best->other);
		double before = half - (double)(int64_t)(list[i].before - best->before);
		double after = half - (double)(int64_t)(list[i].after - best->before);
		double most = read + rate * before + doubt * rate * larger(before, -before);
		double least = read + rate * after - doubt * rate * larger(after, -after);

		high = most < high ? most : high;
		low = larger(low, least);
	}
	if (rate <= 0 || low >= high || (high - low) / rate >= (double)*width)
		return; /* it did not run evenly: only the fastest counts */
	*other = best->other + (uint64_t)(int64_t)((low + high) / 2);
	*width = (uint64_t)((high - low) / rate) + 1;
}

/*
 * Asks until the answers are good, or the timeout has passed since the first one. That one says nothing of
 * the way: the other host may come seconds later, or ask somebody else before. Returns how many are listed.
 */
static uint32_t ask_often(MPI_Comm comm, int partner, struct try *list, struct answer *answer)
{
	static int64_t fastest_ever = INT64_MAX; /* the speakers are one thread each */
	struct question question = { 1 };
	int64_t begin = now_ns(), fastest = INT64_MAX, asked = begin, answered, timeout;
	uint32_t n = 0;

	for (int i = 0; i <= TRIES || fastest > GOOD_NS; i++) {
		struct try *one = &list[n < KEPT ? n : KEPT / 2 + n % (KEPT / 2)];

		one->before = gt_now();
		if (gt_mpi_Send()(&question, sizeof(question), MPI_BYTE, partner, TAG, comm) !=
			    MPI_SUCCESS ||
		    gt_mpi_Recv()(answer, sizeof(*answer), MPI_BYTE, partner, TAG, comm,
				  MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return 0;
		one->after = gt_now();
		one->other = answer->tick;
		answered = now_ns();
		if (!i) {
			begin = asked = answered;
			continue;
		}
		n++;
		if (answered - asked < fastest)
			fastest = answered - asked;
		timeout = fastest >= FAIR_NS			 ? PATIENCE_MOST_NS
			   : fastest / MUCH_FASTER > fastest_ever ? PATIENCE_LONG_NS
								  : PATIENCE_NS;
		if (answered - begin > timeout)
			break;
		asked = answered;
	}
	if (fastest < fastest_ever)
		fastest_ever = fastest;
	return n < KEPT ? n : KEPT;
}

static void ask(MPI_Comm comm, int partner)
{
	struct question question = { 0 };
	struct answer answer = { 0 };
	struct try *list = gt_memory(KEPT * sizeof(*list));
	uint64_t tick, other, width;
	uint32_t n = list ? ask_often(comm, partner, list, &answer) : 0;

	if (n || !list) /* else it does not listen any more */
		gt_mpi_Send()(&question, sizeof(question), MPI_BYTE, partner, TAG, comm);
	if (n) {
		bound(list, n, &tick, &other, &width);
		answer.host[sizeof(answer.host) - 1] = 0;
		gt_clocks_compared(answer.host, answer.kind, tick, other, width);
	}
	if (list)
		gt_memory_free(list, KEPT * sizeof(*list));
}

void gt_mpi_clocks_compare(MPI_Comm speakers, int me, int count)
{
	for (int known = 1; known < count; known *= 2) {
		if (me < known && me + known < count)
			answer_questions(speakers, me + known);
		else if (me >= known && me < 2 * known)
			ask(speakers, me - known);
	}
}

/* In the rounds of the comparison, down from the first host: each gets what its reference knows, 0 bytes if
 * that is nothing; nobody is left waiting. */
void gt_mpi_clocks_report(MPI_Comm speakers, int me, int count)
{
	static char chain[GT_CHAIN_MOST]; /* of the one thread that finalizes */
	uint32_t bytes = 0;
	MPI_Status status;
	int known = 1;

	if (me) {
		while (2 * known <= me)
			known *= 2;
		if (gt_mpi_Recv()(chain, GT_CHAIN_MOST, MPI_BYTE, me - known, TAG_CHAIN, speakers,
				  &status) == MPI_SUCCESS)
			bytes = (uint32_t)gt_mpi_status_bytes(&status);
		known *= 2;
	}
	if (!me || bytes)
		bytes = gt_clocks_chain(chain, bytes, GT_CHAIN_MOST);
	for (; me + known < count; known *= 2)
		gt_mpi_Send()(chain, (int)bytes, MPI_BYTE, me + known, TAG_CHAIN, speakers);
}
