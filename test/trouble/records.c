/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an adapter of somebody else may do, chosen by the first argument: make records that are longer
 * than the buffer or than any record may be, go away, register beside others.
 *
 * Limits: through the door for adapters; the program is linked with libgputrace. Prints what it did in
 * lines "calls REGION N", and "records N" for those that may be lost if they are counted.
 */
#include "trouble.h"

#include <gputrace/adapter.h>

#include "lib/format.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>

#define METRICS 600

static uint64_t data[2 * 400];

UNSEEN static gt_ref region(const char *name)
{
	struct gt_region_info info = { .bytes = sizeof(info), .name = name };

	return gt_def_region(&info);
}

/* The first of many metrics that follow each other. */
UNSEEN static gt_ref metrics(void)
{
	struct gt_metric_info info = { .bytes = sizeof(info), .name = "m0", .unit = "1",
				       .value = GT_VALUE_UINT, .mode = 17 };
	gt_ref first = gt_def_metric(&info);
	char name[16];
	int i;

	for (i = 1; i < METRICS; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		info.name = name;
		gt_def_metric(&info);
	}
	return first;
}

/* Records of every length, at every distance from the end of a half. */
UNSEEN static void lengths(void)
{
	gt_ref r = region("r"), m = metrics();
	unsigned extra, i;

	for (extra = 1; extra <= GT_MAX_EXTRA; extra++) {
		data[0] = extra < 128 ? 2 * extra - 1 : 255;
		for (i = 0; i < 80; i++) {
			gt_enter(r);
			gt_leave(r);
		}
		gt_record(GT_T_METRICS, m, data, extra);
	}
	say("calls r %d\nrecords %d\n", 80 * GT_MAX_EXTRA, GT_MAX_EXTRA);
}

/* More continuation slots than a record can name, through every entry point. */
UNSEEN static void beyond(void)
{
	struct gt_location_info info = { .bytes = sizeof(info), .name = "stream", .kind = GT_LOC_GPU_STREAM };
	struct gt_location *stream = gt_location_create(&info);
	gt_ref r = region("r"), m = metrics();
	int i;

	gt_enter_record(r, GT_T_METRICS, m, data, 300);
	gt_leave(r);
	gt_enter(r);
	gt_leave_record(r, GT_T_METRICS, m, data, 300);
	gt_record(GT_T_METRICS, m, data, 300);
	gt_location_record(stream, GT_T_METRICS, m, data, 300, gt_now());
	for (i = 0; i < 5; i++) {
		gt_enter(r);
		gt_leave(r);
	}
	say("calls r 7\nrecords 4\n");
}

/* An adapter that is a plug-in, and unloaded before a fork and the end (records_lib.c). */
UNSEEN static void plugin(const char *path)
{
	void *object = dlopen(path, RTLD_NOW);
	int status = 0;
	pid_t pid;

	MUST(object);
	MUST(!dlclose(object));
	pid = fork();
	if (!pid)
		exit(7);
	MUST(pid > 0 && waitpid(pid, &status, 0) == pid);
	MUST(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	say("calls r 0\n");
}

#define REGISTRARS 8
#define EACH 25
static pthread_barrier_t together;
static char names[REGISTRARS][EACH][16];

UNSEEN static void *registrar(void *arg)
{
	struct gt_adapter adapter = { .bytes = sizeof(adapter), .abi = GT_ADAPTER_ABI };
	int i;

	for (i = 0; i < EACH; i++) {
		adapter.name = ((char(*)[16])arg)[i];
		pthread_barrier_wait(&together);
		MUST(!gt_adapter_register(&adapter));
	}
	return NULL;
}

UNSEEN static void many(void)
{
	pthread_t thread[REGISTRARS];
	int i, k;

	pthread_barrier_init(&together, NULL, REGISTRARS);
	for (i = 0; i < REGISTRARS; i++)
		for (k = 0; k < EACH; k++)
			snprintf(names[i][k], sizeof(names[i][k]), "a%d-%d", i, k);
	for (i = 0; i < REGISTRARS; i++)
		MUST(!pthread_create(&thread[i], NULL, registrar, names[i]));
	for (i = 0; i < REGISTRARS; i++)
		pthread_join(thread[i], NULL);
	say("calls r 0\nadapters %d\n", REGISTRARS * EACH);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (!strcmp(way, "lengths"))
		lengths();
	if (!strcmp(way, "beyond"))
		beyond();
	if (!strcmp(way, "plugin"))
		plugin(argv[2]);
	if (!strcmp(way, "many"))
		many();
	return 0;
}
