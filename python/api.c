/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks up CPython's functions: in the program, or in its libpython.
 *
 * Limits: see python.h.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "python/python.h"

struct gt_py_functions gt_py;

static void *find(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static void *find_either(const char *name, const char *older)
{
	void *found = find(name);

	return found ? found : find(older);
}

const char *gt_py_find(void)
{
	static const char *const names[] = {
#define NAME(result, name, arguments) #name,
		GT_PY_FUNCTIONS(NAME)
#undef NAME
	};
	void **const functions[] = {
#define PLACE(result, name, arguments) (void **)(void *)&gt_py.name,
		GT_PY_FUNCTIONS(PLACE)
#undef PLACE
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!(*functions[i] = find(names[i])))
			return names[i];
	if (strncmp(gt_py.Py_GetVersion(), "3.", 2) != 0 ||
	    (gt_py.minor = atoi(gt_py.Py_GetVersion() + 2)) < 8)
		return "version 3.8";
	if (strstr(gt_py.Py_GetVersion(), "free-threading"))
		return "the global lock";
	gt_py.none = find("_Py_NoneStruct");
	*(void **)(void *)&gt_py.frame_code = find("PyFrame_GetCode");
	*(void **)(void *)&gt_py.extra_index =
		find_either("PyUnstable_Eval_RequestCodeExtraIndex", "_PyEval_RequestCodeExtraIndex");
	*(void **)(void *)&gt_py.get_extra = find_either("PyUnstable_Code_GetExtra", "_PyCode_GetExtra");
	*(void **)(void *)&gt_py.set_extra = find_either("PyUnstable_Code_SetExtra", "_PyCode_SetExtra");
	if (!gt_py.none)
		return "_Py_NoneStruct";
	if (!gt_py.frame_code && gt_py.minor > 8)
		return "PyFrame_GetCode";
	return gt_py.extra_index && gt_py.get_extra && gt_py.set_extra ? NULL : "PyUnstable_Code_GetExtra";
}

struct gt_py_object *gt_py_code(struct gt_py_object *frame)
{
	/* 3.8: PyFrameObject is an object of variable size, f_back, f_code. */
	struct frame {
		struct gt_py_object object;
		intptr_t size;
		void *back;
		struct gt_py_object *code;
	};
	struct gt_py_object *code;

	if (!gt_py.frame_code)
		return ((struct frame *)(void *)frame)->code;
	code = gt_py.frame_code(frame);
	gt_py.Py_DecRef(code); /* the frame has it */
	return code;
}
