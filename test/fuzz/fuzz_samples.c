/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: files of PC samples and of counts of instructions (DIR/gpu/pcsamples.*, sass.*), separated by
 * a line "%%".
 *
 * Limits: whether sums are right is for test/unit/pcsamples.
 *
 * fuzz-sources: report/source/samples.c lib/assemble/util/io.c lib/assemble/util/lookup.c
 * fuzz-sources: lib/assemble/util/memory.c
 */
#include "report/source/samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* For the real one C++ names are demangled, and LLVM's and elfutils' libraries needed. */
bool gt_demangled(const char *canonical, char *name);
bool gt_demangled(const char *canonical, char *name)
{
	snprintf(name, GT_PC_NAME, "%s()", canonical);
	return canonical[0] == '_';
}

static void require(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "does not hold: %s\n", what);
		abort();
	}
}

static void check_function(const struct gt_pc_function *f)
{
	for (size_t i = 0; i < f->count; i++)
		require(!i || f->items[i - 1].offset < f->items[i].offset, "instructions in order, once");
	require(f->shown && strlen(f->shown) < GT_PC_NAME + strlen(f->name), "a name to show");
}

static void check(const struct gt_pc_samples *s)
{
	require(s->metric_count < GT_PC_METRICS, "the number of metrics");
	for (unsigned i = 0; i < s->metric_count; i++)
		require(s->metrics[i] && strlen(s->metrics[i]) < 1u << 20, "a metric's name");
	for (unsigned i = 0; i < GT_PC_REASONS; i++)
		require(s->reasons[i].base < GT_PC_REASONS, "the reason that it is a part of");
	for (size_t i = 0; i < s->function_count; i++)
		check_function(&s->functions[i]);
	for (size_t i = 0; i < s->launch_count; i++)
		require(s->launches[i].process < s->process_count &&
			s->launches[i].function < s->function_count, "a launch of what there is");
}

static void free_all(struct gt_pc_samples *s)
{
	for (size_t i = 0; i < s->function_count; i++) {
		free(s->functions[i].name);
		free(s->functions[i].shown);
		free(s->functions[i].items);
	}
	for (size_t i = 0; i < s->process_count; i++) {
		free(s->processes[i].host);
		free(s->processes[i].program);
		free(s->processes[i].sampling);
	}
	for (unsigned i = 0; i < GT_PC_REASONS; i++)
		free(s->reasons[i].name);
	for (unsigned i = 0; i < s->metric_count; i++)
		free(s->metrics[i]);
	free(s->functions);
	free(s->processes);
	free(s->launches);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gt_pc_samples s = { .period = 0 };
	char *text = strndup((const char *)data, size), *next, *at = text;

	for (; at; at = next) {
		next = strstr(at, "\n%%\n");
		if (next) {
			*next = '\0';
			next += 4;
		}
		gt_pc_samples_parse(&s, at);
	}
	gt_pc_samples_finish(&s);
	check(&s);
	free_all(&s);
	free(text);
	return 0;
}
