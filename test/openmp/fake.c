/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays a runtime with devices (LLVM's says what happens on them since version 19): target constructs with
 * their transfers.
 *
 * Limits: only these callbacks, on one thread.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openmp/ompt.h"

static void (*target)(int, int, int, union gt_ompt_data *, uint64_t, const void *);
static void (*data_op)(uint64_t, uint64_t, int, void *, int, void *, int, size_t, const void *);

static int set(int event, gt_ompt_function callback)
{
	if (event == GT_OMPT_TARGET)
		target = (void (*)(int, int, int, union gt_ompt_data *, uint64_t, const void *))callback;
	if (event == GT_OMPT_TARGET_DATA_OP)
		data_op = (void (*)(uint64_t, uint64_t, int, void *, int, void *, int, size_t,
				    const void *))callback;
	return 5;
}

static gt_ompt_function lookup(const char *name)
{
	return strcmp(name, "ompt_set_callback") ? NULL : (gt_ompt_function)set;
}

static void construct(int kind, int operation, size_t bytes, const void *code)
{
	target(kind, GT_OMPT_BEGIN, 0, NULL, 1, code);
	if (bytes)
		data_op(1, 1, operation, NULL, 0, NULL, 0, bytes, code);
	data_op(1, 1, 4, NULL, 0, NULL, 0, 77, code); /* deletes */
	target(kind, GT_OMPT_END, 0, NULL, 1, code);
}

static void all(const void *code)
{
	construct(GT_OMPT_TARGET_ENTER_DATA, GT_OMPT_TRANSFER_TO, 400, code);
	construct(GT_OMPT_TARGET_CODE, 0, 0, code);
	construct(GT_OMPT_TARGET_CODE + GT_OMPT_TARGET_NOWAIT, GT_OMPT_TRANSFER_TO, 8, code);
	construct(GT_OMPT_TARGET_UPDATE, GT_OMPT_TRANSFER_FROM, 40, code);
	construct(GT_OMPT_TARGET_EXIT_DATA, GT_OMPT_TRANSFER_FROM, 400, code);
	construct(99, 0, 0, code); /* of a later version */
}

/* OpenMP 5.0, 4.2.2: a tool that is there already, or one of tool-libraries-var. */
static void *find_tool(void)
{
	void *start = dlsym(RTLD_DEFAULT, "ompt_start_tool"), *library;
	const char *file = getenv("OMP_TOOL_LIBRARIES");

	if (start || !file)
		return start;
	library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	return library ? dlsym(library, "ompt_start_tool") : NULL;
}

int main(void)
{
	union gt_ompt_data data = { 0 };
	struct gt_ompt_tool *(*start)(unsigned, const char *) =
		(struct gt_ompt_tool * (*)(unsigned, const char *)) find_tool();
	struct gt_ompt_tool *tool = start ? start(201811, "fake") : NULL;

	if (!tool || !tool->initialize(lookup, 0, &data))
		return 1;
	all((const char *)main + 1);
	tool->finalize(&data);
	puts("done");
	return 0;
}
