/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes an archive to be read: ranks that call functions eight deep and, if wanted, after each so many of
 * the outermost calls send a message to the next rank, receive one and meet in a barrier, where some wait.
 *
 *	archive DIR RANKS EVENTS [CALLS]
 *
 * Limits: call trees are drawn by a generator of random numbers, so that no branch of a reader is foretold.
 */
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>

enum { FUNCTIONS = 200, DEPTH = 8, SEND = FUNCTIONS, RECEIVE, BARRIER, MAIN, REGIONS };
enum { STEP = 10000000 }; /* ns between two messages: all ranks are there by then */

static OTF2_EvtWriter *writer;
static uint64_t now, events, seed, last;

static uint32_t draw(uint32_t below)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

static void enter(uint32_t region)
{
	OTF2_EvtWriter_Enter(writer, NULL, now, region);
	events++;
}

static void leave(uint32_t region)
{
	OTF2_EvtWriter_Leave(writer, NULL, now, region);
	events++;
}

static void call(uint32_t region, int depth)
{
	now += 20 + draw(100);
	enter(region);
	for (uint32_t n = depth < DEPTH ? 1 + draw(2) : 0; n; n--)
		call((region * 3 + n + 1) % FUNCTIONS, depth + 1);
	now += 20 + draw(100);
	leave(region);
}

static void communicate(uint32_t rank, uint32_t ranks, uint64_t step)
{
	uint64_t then = STEP * (step + 1);

	now = then - 1000000 + draw(100000);
	enter(SEND);
	OTF2_EvtWriter_MpiSend(writer, NULL, now + 50, (rank + 1) % ranks, 0, 7, 64 + step % 1000);
	now += 500;
	leave(SEND);
	enter(RECEIVE);
	now = then - 800000;
	OTF2_EvtWriter_MpiRecv(writer, NULL, now, (rank + ranks - 1) % ranks, 0, 7, 64 + step % 1000);
	leave(RECEIVE);
	now += draw(100000);
	enter(BARRIER);
	OTF2_EvtWriter_MpiCollectiveBegin(writer, NULL, now);
	now = then - 600000;
	OTF2_EvtWriter_MpiCollectiveEnd(writer, NULL, now, OTF2_COLLECTIVE_OP_BARRIER, 0,
					OTF2_UNDEFINED_UINT32, 0, 0);
	leave(BARRIER);
	events += 4;
}

/* Of the first rank about `count` events, of the others as many steps. Returns how many steps. */
static uint64_t write_rank(uint32_t rank, uint32_t ranks, uint64_t count, unsigned calls, uint64_t steps)
{
	uint64_t step = 0;

	seed = rank + 1, now = 1000, events = 0;
	enter(MAIN);
	for (; rank ? step < steps : events < count; step++) {
		for (unsigned i = 0; i < (calls ? calls : 20); i++)
			call((uint32_t)(step + i) % 5, 1);
		if (calls)
			communicate(rank, ranks, step);
	}
	now += 100;
	leave(MAIN);
	last = now > last ? now : last;
	return step;
}

static void write_regions(OTF2_GlobalDefWriter *d)
{
	static const char *const calls[] = { "MPI_Send", "MPI_Recv", "MPI_Barrier", "main" };
	static const OTF2_RegionRole roles[] = { OTF2_REGION_ROLE_POINT2POINT, OTF2_REGION_ROLE_POINT2POINT,
						 OTF2_REGION_ROLE_BARRIER, OTF2_REGION_ROLE_FUNCTION };
	char text[64];

	for (uint32_t i = 0; i < REGIONS; i++) {
		bool mpi = i >= SEND && i < MAIN;

		snprintf(text, sizeof(text), "function_%" PRIu32, i);
		OTF2_GlobalDefWriter_WriteString(d, 1 + i, i < SEND ? text : calls[i - SEND]);
		OTF2_GlobalDefWriter_WriteRegion(d, i, 1 + i, 1 + i, 0,
						 i < SEND ? OTF2_REGION_ROLE_FUNCTION : roles[i - SEND],
						 mpi ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_COMPILER, 0, 0, 0,
						 0);
	}
}

static void write_definitions(OTF2_GlobalDefWriter *d, uint32_t ranks, const uint64_t *counts)
{
	enum { NAMES = 1 + REGIONS };
	uint64_t *members = calloc(ranks, sizeof(*members));
	char text[64];

	OTF2_GlobalDefWriter_WriteClockProperties(d, 1000000000, 0, last + 1, OTF2_UNDEFINED_TIMESTAMP);
	OTF2_GlobalDefWriter_WriteString(d, 0, "");
	write_regions(d);
	OTF2_GlobalDefWriter_WriteSystemTreeNode(d, 0, 0, 0, OTF2_UNDEFINED_SYSTEM_TREE_NODE);
	for (uint32_t i = 0; i < ranks; i++) {
		snprintf(text, sizeof(text), "MPI Rank %" PRIu32, i);
		OTF2_GlobalDefWriter_WriteString(d, NAMES + i, text);
		OTF2_GlobalDefWriter_WriteLocationGroup(d, i, NAMES + i, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
							OTF2_UNDEFINED_LOCATION_GROUP);
		OTF2_GlobalDefWriter_WriteLocation(d, i, NAMES + i, OTF2_LOCATION_TYPE_CPU_THREAD, counts[i],
						   i);
		members[i] = i;
	}
	OTF2_GlobalDefWriter_WriteGroup(d, 0, 0, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, 0, ranks,
					members);
	OTF2_GlobalDefWriter_WriteGroup(d, 1, 0, OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, 0, ranks,
					members);
	OTF2_GlobalDefWriter_WriteComm(d, 0, 0, 1, OTF2_UNDEFINED_COMM, 0);
	free(members);
}

static OTF2_FlushType flush(void *user, OTF2_FileType type, OTF2_LocationRef location, void *caller,
			    bool final)
{
	(void)user, (void)type, (void)location, (void)caller, (void)final;
	return OTF2_FLUSH;
}

int main(int argc, char **argv)
{
	static const OTF2_FlushCallbacks callbacks = { .otf2_pre_flush = flush };
	uint32_t ranks = argc > 3 ? (uint32_t)atoi(argv[2]) : 0;
	uint64_t *counts = calloc(ranks + 1, sizeof(*counts)), steps = 0, sum = 0;
	OTF2_Archive *archive = NULL;

	if (ranks)
		archive = OTF2_Archive_Open(argv[1], "traces", OTF2_FILEMODE_WRITE, 1 << 20, 4 << 20,
					    OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
	if (!archive)
		return 2;
	OTF2_Archive_SetFlushCallbacks(archive, &callbacks, NULL);
	OTF2_Archive_SetSerialCollectiveCallbacks(archive);
	OTF2_Archive_OpenEvtFiles(archive);
	for (uint32_t i = 0; i < ranks; i++, sum += events) {
		writer = OTF2_Archive_GetEvtWriter(archive, i);
		steps = write_rank(i, ranks, strtoull(argv[3], NULL, 10) / ranks,
				   argc > 4 ? (unsigned)atoi(argv[4]) : 0, steps);
		counts[i] = events;
		OTF2_Archive_CloseEvtWriter(archive, writer);
	}
	OTF2_Archive_CloseEvtFiles(archive);
	write_definitions(OTF2_Archive_GetGlobalDefWriter(archive), ranks, counts);
	free(counts);
	printf("events=%" PRIu64 "\n", sum);
	return OTF2_Archive_Close(archive) == OTF2_SUCCESS ? 0 : 1;
}
