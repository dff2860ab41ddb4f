/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four processes pass messages round through pipes, each with a tag of its own, and all of them one
 * to the next with the same tag; one message is never received. Prints what the trace must hold, for
 * facts.py. Limits: the processes' places in the communicator are the order of their creation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vt_user.h"

#define RANKS  4u
#define ROUNDS 200u
#define SAME   77777u

static int pipes[RANKS][2]; /* pipe i leads from process i to the next */
static unsigned int comm;

static void pass(unsigned int rank, unsigned int tag_out, unsigned int tag_in)
{
	unsigned int from = (rank + RANKS - 1) % RANKS;
	char byte = 'x';

	VT_MSG_SEND(comm, tag_out, tag_out);
	if (write(pipes[rank][1], &byte, 1) != 1 || read(pipes[from][0], &byte, 1) != 1)
		exit(1);
	VT_MSG_RECV(comm, tag_in, tag_in);
}

static void go_round(unsigned int rank)
{
	unsigned int from = (rank + RANKS - 1) % RANKS;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		/* Tags go down while time goes up. */
		unsigned int turn = (ROUNDS - i) * RANKS;

		pass(rank, turn + rank, turn + from);
	}
	if (rank == 0)
		for (int i = 0; i < 10; i++)
			VT_MSG_SEND(comm, SAME, 1);
	if (rank == 2)
		for (int i = 0; i < 10; i++)
			VT_MSG_RECV(comm, SAME, 1);
	if (rank == 3)
		VT_MSG_SEND(comm, 88888, 1);
}

int main(void)
{
	static const char name[] = "ring";
	unsigned long bytes = 10;
	int ready[2];
	char byte = 'x';

	for (unsigned int rank = 0; rank < RANKS; rank++)
		for (unsigned int i = 1; i <= ROUNDS; i++) {
			printf("pair\t%s\t%u\t%u\t%u\t1\n", name, rank, (rank + 1) % RANKS,
			       i * RANKS + rank);
			bytes += i * RANKS + rank;
		}
	printf("pair\t%s\t0\t2\t%u\t10\nbytes\t%lu\t%lu\nmessage\t%s\t88888\t0\n", name, SAME, bytes,
	       bytes, name);
	fflush(stdout);
	comm = VT_MSG_COMM_DEF(name);
	for (unsigned int i = 0; i < RANKS; i++)
		if (pipe(pipes[i]))
			return 1;
	if (pipe(ready))
		return 1;
	for (unsigned int rank = 1; rank < RANKS; rank++) {
		if (!fork()) {
			VT_USER_START("child"); /* the first event gives it its place */
			if (write(ready[1], &byte, 1) == 1)
				go_round(rank);
			VT_USER_END("child");
			return 0;
		}
		if (read(ready[0], &byte, 1) != 1) /* the next one comes later, also in the trace */
			return 1;
	}
	go_round(0);
	while (wait(NULL) > 0)
		;
	return 0;
}
