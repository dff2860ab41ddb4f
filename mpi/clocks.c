/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comparing the hosts' clocks: in log2(hosts) rounds, in each of which every host that has been
 * compared already is the reference of one that has not. The one asks for the time many times and
 * keeps the answer that came back fastest: the other clock was read within that time.
 *
 * What is written down is the pair of readings and how long the answer took; the assembly chains
 * the pairs and interpolates between comparisons. At the end each host is told the pairs of the chain that
 * leads to it, so that it can do so by itself.
 *
 * Limits: the error of a comparison is half of the fastest answer, and adds up along the chain.
 */
#include <string.h>
#include <time.h>

#include "mpi/generated.h"
#include "mpi/hosts.h"

#define TAG        1
#define TAG_CHAIN  2
#define TRIES       200
#define GOOD_NS     20000     /* an answer within that needs no more tries */
#define PATIENCE_NS 300000000 /* for one pair of hosts that do not answer that fast ... */
#define FAIR_NS     1000000   /* ... but this fast; or else */
#define PATIENCE_MOST_NS 2000000000

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
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
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

static void ask(MPI_Comm comm, int partner)
{
	struct question question = { 1 };
	struct answer answer;
	uint64_t tick = 0, other = 0, width = UINT64_MAX;
	int64_t begin = now_ns(), fastest = INT64_MAX, asked = begin, answered;

	for (int i = 0; i < TRIES || fastest > GOOD_NS; i++) {
		uint64_t before = gt_now(), after;

		if (gt_mpi_Send()(&question, sizeof(question), MPI_BYTE, partner, TAG, comm) !=
			    MPI_SUCCESS ||
		    gt_mpi_Recv()(&answer, sizeof(answer), MPI_BYTE, partner, TAG, comm,
				  MPI_STATUS_IGNORE) != MPI_SUCCESS)
			return;
		after = gt_now();
		if (after - before < width) {
			width = after - before;
			tick = before + width / 2;
			other = answer.tick;
		}
		answered = now_ns();
		if (answered - asked < fastest)
			fastest = answered - asked;
		if (answered - begin > (fastest < FAIR_NS ? PATIENCE_NS : PATIENCE_MOST_NS))
			break;
		asked = answered;
	}
	question.go_on = 0;
	gt_mpi_Send()(&question, sizeof(question), MPI_BYTE, partner, TAG, comm);
	answer.host[sizeof(answer.host) - 1] = 0;
	gt_clocks_compared(answer.host, answer.kind, tick, other, width);
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
void gt_mpi_clocks_tell(MPI_Comm speakers, int me, int count)
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
