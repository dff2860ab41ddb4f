/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool of Kokkos' that writes into the file COUNTS a line for each call, as fake.c does: its group, and the
 * name as Kokkos has it. A rank of Open MPI adds its number to the file's name.
 *
 * Limits: one thread at a time.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct space {
	char name[64];
};

struct settings {
	bool fences;
};

static FILE *counts;

void kokkosp_init_library(void)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");
	char path[4096];

	snprintf(path, sizeof(path), "%s%s", getenv("COUNTS"), rank ? rank : "");
	counts = fopen(path, "w");
}

void kokkosp_finalize_library(void)
{
	fclose(counts);
}

void kokkosp_request_tool_settings(uint32_t version, struct settings *settings)
{
	(void)version;
	settings->fences = false;
}

static void begin(const char *group, const char *name)
{
	fprintf(counts, "Kokkos %s\t%s\n", group, name);
}

void kokkosp_begin_parallel_for(const char *name, uint32_t device, uint64_t *id)
{
	(void)device;
	*id = 0;
	begin("parallel_for", name);
}

void kokkosp_begin_parallel_reduce(const char *name, uint32_t device, uint64_t *id)
{
	(void)device;
	*id = 0;
	begin("parallel_reduce", name);
}

void kokkosp_begin_parallel_scan(const char *name, uint32_t device, uint64_t *id)
{
	(void)device;
	*id = 0;
	begin("parallel_scan", name);
}

void kokkosp_begin_fence(const char *name, uint32_t device, uint64_t *id)
{
	(void)device;
	*id = 0;
	begin("fence", name);
}

void kokkosp_push_profile_region(const char *name)
{
	begin("region", name);
}

void kokkosp_profile_event(const char *name)
{
	fprintf(counts, "mark\t%s\n", name);
}

void kokkosp_allocate_data(struct space space, const char *view, const void *data, uint64_t bytes)
{
	(void)view;
	(void)data;
	(void)bytes;
	fprintf(counts, "Kokkos memory\tKokkos::allocate %s\n", space.name);
}

void kokkosp_deallocate_data(struct space space, const char *view, const void *data, uint64_t bytes)
{
	(void)view;
	(void)data;
	(void)bytes;
	fprintf(counts, "Kokkos memory\tKokkos::deallocate %s\n", space.name);
}

void kokkosp_begin_deep_copy(struct space to, const char *to_view, const void *to_data, struct space from,
			     const char *from_view, const void *from_data, uint64_t bytes)
{
	(void)to_view;
	(void)to_data;
	(void)from_view;
	(void)from_data;
	(void)bytes;
	fprintf(counts, "Kokkos deep copy\tKokkos::deep_copy %s to %s\n", from.name, to.name);
}
