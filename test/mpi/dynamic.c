/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that find each other while they run. Each process writes down what it does on which
 * communicator and with which process (by pid) into LOG.<pid>; compare_dynamic.py reads that.
 *
 *     dynamic HOW LOG [PROGRAM ARGUMENTS...]    the last: what spawned processes are, if not this program
 */
#include <mpi.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static FILE *list;
static const char *path;
static char **others; /* how to start another program */

static void note(MPI_Comm comm, const char *op, int sent, int received)
{
	char name[MPI_MAX_OBJECT_NAME];
	int length;

	MPI_Comm_get_name(comm, name, &length);
	fprintf(list, "C %s %s %d %d\n", name, op, sent, received);
}

/* Everybody tells everybody on the other side, in several ways. */
static void talk(MPI_Comm comm, const char *name)
{
	int inter, n, own, me, pid = getpid(), pids[64], buffer[64], lowest;
	MPI_Request requests[128];

	MPI_Comm_set_name(comm, name);
	MPI_Comm_test_inter(comm, &inter);
	MPI_Comm_rank(comm, &me);
	MPI_Comm_size(comm, &own);
	n = own;
	if (inter)
		MPI_Comm_remote_size(comm, &n);
	MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, comm);
	note(comm, "ALLGATHER", 4 * n, 4 * n);
	for (int i = 0; i < n; i++) {
		MPI_Irecv(&buffer[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[i]);
		MPI_Isend(&pid, 1, MPI_INT, i, 10 + me, comm, &requests[n + i]);
		fprintf(list, "S %s %d %d 4\n", name, pids[i], 10 + me);
	}
	MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
	for (int i = 0; i < n; i++) {
		int from = 0;

		while (pids[from] != buffer[i])
			from++;
		fprintf(list, "R %s %d %d 4\n", name, buffer[i], 10 + from);
	}
	MPI_Barrier(comm);
	note(comm, "BARRIER", 0, 0);
	/* A chain of blocking ones, for intra-communicators only. */
	if (!inter && me + 1 < n) {
		MPI_Send(pids, me + 1, MPI_INT, me + 1, 99, comm);
		fprintf(list, "S %s %d 99 %d\n", name, pids[me + 1], 4 * (me + 1));
	}
	if (!inter && me) {
		MPI_Recv(buffer, 64, MPI_INT, me - 1, 99, comm, MPI_STATUS_IGNORE);
		fprintf(list, "R %s %d 99 %d\n", name, pids[me - 1], 4 * me);
	}
	MPI_Allreduce(&pid, &lowest, 1, MPI_INT, MPI_MIN, comm);
	note(comm, "ALLREDUCE", 4, 4);
	fflush(list);
}

static MPI_Comm spawn(const char *how, int n, MPI_Comm over)
{
	char *words[16] = { others[0] };
	MPI_Comm made;
	int count = 1;

	for (; others[count] && count < 12; count++)
		words[count] = others[count];
	words[count++] = (char *)how;
	words[count++] = (char *)path;
	MPI_Comm_spawn(words[0], words + 1, n, MPI_INFO_NULL, 0, over, &made, MPI_ERRCODES_IGNORE);
	return made;
}

/* What can be made of an inter-communicator with another job, on both of its ends. */
static void descendants(MPI_Comm inter, bool second)
{
	MPI_Comm copy, merged, half, pair, across, halves;
	MPI_Request request;
	MPI_Group all, two;
	MPI_Win win;
	int me, n, ends[2], at, *memory;
	char name[64];

	MPI_Comm_dup(inter, &copy);
	talk(copy, "copy");
	MPI_Comm_free(&copy);
	MPI_Comm_idup(inter, &copy, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	talk(copy, "later copy");
	MPI_Comm_rank(inter, &at);
	MPI_Comm_split(inter, at % 2, 0, &across);
	if (across != MPI_COMM_NULL) {
		sprintf(name, "across %d", at % 2);
		talk(across, name);
		MPI_Comm_free(&across);
	}
	MPI_Intercomm_merge(copy, second, &merged);
	talk(merged, "merged");
	MPI_Comm_rank(merged, &me);
	MPI_Comm_size(merged, &n);
	MPI_Comm_split(merged, me % 2, -me, &half);
	sprintf(name, "half %d", me % 2);
	talk(half, name);
	MPI_Intercomm_create(half, 0, merged, me % 2 ? (n - 1) & ~1 : (n - 2) | 1, 5, &halves);
	talk(halves, "halves");
	MPI_Comm_free(&halves);
	MPI_Comm_group(merged, &all);
	ends[0] = 0;
	ends[1] = n - 1;
	MPI_Group_incl(all, 2, ends, &two);
	if (!me || me == n - 1) {
		MPI_Comm_create_group(merged, two, 3, &pair);
		talk(pair, "pair");
		MPI_Comm_free(&pair);
	}
	MPI_Group_free(&two);
	MPI_Group_free(&all);
	MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, merged, &memory, &win);
	MPI_Win_set_name(win, "window");
	MPI_Win_fence(0, win);
	MPI_Put(&me, 1, MPI_INT, (me + 1) % n, 0, 1, MPI_INT, win);
	MPI_Win_fence(0, win);
	MPI_Win_free(&win);
	/* Members of one job only, by way of a communicator of two. */
	MPI_Comm_split(merged, second, 0, &pair);
	talk(pair, second ? "the second" : "the first");
	MPI_Comm_free(&pair);
	MPI_Comm_free(&half);
	MPI_Comm_free(&merged);
	MPI_Comm_free(&copy);
}

static void first_and_second(bool second, MPI_Comm inter)
{
	MPI_Comm merged, third, all;

	talk(inter, "spawned");
	descendants(inter, second);
	/* Both jobs together spawn a third one. */
	MPI_Intercomm_merge(inter, second, &merged);
	third = spawn("third", 2, merged);
	talk(third, "third");
	MPI_Intercomm_merge(third, 0, &all);
	talk(all, "all");
	MPI_Comm_free(&all);
	MPI_Comm_free(&third);
	MPI_Comm_free(&merged);
	MPI_Comm_disconnect(&inter);
}

static void third(MPI_Comm inter)
{
	MPI_Comm all;

	talk(inter, "third");
	MPI_Intercomm_merge(inter, 1, &all);
	talk(all, "all");
	MPI_Comm_free(&all);
	MPI_Comm_free(&inter);
}

/* Each rank spawns one of its own at the same time; it is told its name. */
static void each(MPI_Comm inter)
{
	char name[32];

	if (inter == MPI_COMM_NULL) {
		MPI_Barrier(MPI_COMM_WORLD);
		note(MPI_COMM_WORLD, "BARRIER", 0, 0);
		inter = spawn("each", 2, MPI_COMM_SELF);
		sprintf(name, "of %d", getpid());
		for (int i = 0; i < 2; i++)
			MPI_Send(name, sizeof(name), MPI_CHAR, i, 1, inter);
		MPI_Comm_set_name(inter, name);
		for (int i = 0; i < 2; i++)
			fprintf(list, "s %s 1 %d\n", name, (int)sizeof(name));
	} else {
		MPI_Recv(name, sizeof(name), MPI_CHAR, 0, 1, inter, MPI_STATUS_IGNORE);
		MPI_Comm_set_name(inter, name);
		fprintf(list, "R %s %d 1 %d\n", name, atoi(name + 3), (int)sizeof(name));
	}
	talk(inter, name);
	MPI_Comm_disconnect(&inter);
}

/* The spawned ones open a port; then all of both jobs, and each of the first by itself, connect to it. */
static void ports(MPI_Comm inter, bool second)
{
	char port[MPI_MAX_PORT_NAME] = "", name[32];
	MPI_Comm met;
	int me, n;

	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_set_name(inter, "spawned");
	if (second && !me) {
		MPI_Open_port(MPI_INFO_NULL, port);
		MPI_Send(port, sizeof(port), MPI_CHAR, 0, 1, inter);
		fprintf(list, "s spawned 1 %d\n", (int)sizeof(port));
	} else if (!me) {
		MPI_Recv(port, sizeof(port), MPI_CHAR, 0, 1, inter, MPI_STATUS_IGNORE);
		fprintf(list, "r spawned 1 %d\n", (int)sizeof(port));
	}
	if (second)
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met);
	else
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met);
	talk(met, "met");
	MPI_Comm_disconnect(&met);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, MPI_COMM_WORLD);
	note(MPI_COMM_WORLD, "BCAST", me ? 0 : n * (int)sizeof(port), (int)sizeof(port));
	for (int i = 0; i < n; i++) {
		sprintf(name, "met %d", i);
		if (second)
			MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met);
		else if (i == me)
			MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &met);
		if (second || i == me) {
			talk(met, name);
			MPI_Comm_disconnect(&met);
		}
		if (!second) {
			MPI_Barrier(MPI_COMM_WORLD);
			note(MPI_COMM_WORLD, "BARRIER", 0, 0);
		}
	}
	if (second && !me)
		MPI_Close_port(port);
	MPI_Comm_disconnect(&inter);
}

/* Two halves of one job. */
static void within(void)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm half, met;
	int me, n;

	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	if (!me)
		MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, MPI_COMM_WORLD);
	note(MPI_COMM_WORLD, "BCAST", me ? 0 : n * (int)sizeof(port), (int)sizeof(port));
	MPI_Comm_split(MPI_COMM_WORLD, me % 2, 0, &half);
	for (int i = 0; i < 2; i++) {
		if (me % 2)
			MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &met);
		else
			MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &met);
		talk(met, i ? "within again" : "within");
		MPI_Comm_disconnect(&met);
	}
	MPI_Comm_free(&half);
	if (!me)
		MPI_Close_port(port);
}

static void join(MPI_Comm inter, bool second)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0), port, wait;
	MPI_Comm joined;

	MPI_Comm_set_name(inter, "spawned");
	if (second) {
		wait = fd;
		bind(wait, (struct sockaddr *)&address, size);
		listen(wait, 1);
		getsockname(wait, (struct sockaddr *)&address, &size);
		port = address.sin_port;
		MPI_Send(&port, 1, MPI_INT, 0, 1, inter);
		fprintf(list, "s spawned 1 4\n");
		fd = accept(wait, NULL, NULL);
		close(wait);
	} else {
		MPI_Recv(&port, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
		fprintf(list, "r spawned 1 4\n");
		address.sin_port = (in_port_t)port;
		connect(fd, (struct sockaddr *)&address, size);
	}
	MPI_Comm_join(fd, &joined);
	talk(joined, "joined");
	MPI_Comm_disconnect(&joined);
	close(fd);
	MPI_Comm_disconnect(&inter);
}

/* What comes back is no program that knows of MPI as this one does. */
static void alone(MPI_Comm inter, bool second)
{
	MPI_Comm merged;
	int v = 1, me;

	MPI_Comm_rank(inter, &me);
	MPI_Comm_set_name(inter, "spawned");
	MPI_Sendrecv(&v, 1, MPI_INT, me, 1, &v, 1, MPI_INT, me, 1, inter, MPI_STATUS_IGNORE);
	MPI_Intercomm_merge(inter, second, &merged);
	MPI_Comm_set_name(merged, "merged");
	MPI_Barrier(merged);
	if (!second)
		note(merged, "BARRIER", 0, 0);
	MPI_Comm_free(&merged);
	MPI_Comm_disconnect(&inter);
}

/* A call that fails; then one that does not. */
static void fails(MPI_Comm inter)
{
	MPI_Comm none = MPI_COMM_NULL;
	int rc;

	if (inter == MPI_COMM_NULL) {
		MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
		rc = MPI_Comm_spawn(others[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 99, MPI_COMM_SELF, &none,
				    MPI_ERRCODES_IGNORE);
		if (rc == MPI_SUCCESS)
			puts("spawned nothing");
		MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
		/* Two programs at once. */
		char *command[2] = { others[0], others[0] };
		char *words[3] = { "fails", (char *)path, NULL }, **arguments[2] = { words, words };
		int counts[2] = { 1, 2 };
		MPI_Info infos[2] = { MPI_INFO_NULL, MPI_INFO_NULL };

		MPI_Comm_spawn_multiple(2, command, arguments, counts, infos, 1, MPI_COMM_WORLD, &inter,
					MPI_ERRCODES_IGNORE);
	}
	talk(inter, "spawned");
	MPI_Comm_disconnect(&inter);
}

int main(int argc, char **argv)
{
	char *self[2] = { argv[0] };
	const char *how = argv[1];
	MPI_Comm inter;
	char name[4096];
	bool second;
	int me;

	MPI_Init(&argc, &argv);
	path = argv[2];
	others = argc > 3 ? argv + 3 : self;
	snprintf(name, sizeof(name), "%s.%d", path, getpid());
	list = fopen(name, "w");
	MPI_Comm_get_parent(&inter);
	second = inter != MPI_COMM_NULL;
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	if (!strcmp(how, "third"))
		third(inter);
	else if (!strcmp(how, "each"))
		each(inter);
	else if (!strcmp(how, "within"))
		within();
	else if (!strcmp(how, "fails"))
		fails(inter);
	else if (!second)
		inter = spawn(how, !strcmp(how, "spawn") ? 3 : !strcmp(how, "join") ? 1 : 2, MPI_COMM_WORLD);
	if (!strcmp(how, "spawn"))
		first_and_second(second, inter);
	else if (!strcmp(how, "ports"))
		ports(inter, second);
	else if (!strcmp(how, "join"))
		join(inter, second);
	else if (!strcmp(how, "alone"))
		alone(inter, second);
	else if (!strcmp(how, "kill")) {
		talk(inter, "spawned");
		if (second && me) {
			sleep(1); /* the others write what they did */
			kill(getppid(), SIGKILL); /* the launcher */
			raise(SIGKILL);
		}
		MPI_Barrier(inter);
	}
	fclose(list);
	MPI_Finalize();
	return 0;
}
