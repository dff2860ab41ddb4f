/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Regions of Python's functions: module.qualified.name, in the group of their module. A code object keeps its
 * region in the place that Python has in it for tools, so that it goes with the code.
 *
 * Limits: names are cut at NAME bytes. Before Python 3.11 code does not know its class.
 */
#include <pthread.h>
#include <string.h>

#include "python/python.h"

enum { NAME = 1024 };

static intptr_t extra_index = -1;
const struct gt_py_object *gt_py_thread_start;

bool gt_py_regions_begin(void)
{
	extra_index = gt_py.extra_index(NULL);
	return extra_index >= 0;
}

/* Appends a text; returns the new length. */
static size_t append(char *to, size_t length, const char *text)
{
	size_t more = strnlen(text, NAME - 1 - length);

	memcpy(to + length, text, more);
	to[length + more] = 0;
	return length + more;
}

/* The text of a string; it lasts as long as the string does. */
static const char *text_of(struct gt_py_object *string, const char *otherwise)
{
	const char *text = string ? gt_py.PyUnicode_AsUTF8(string) : NULL;

	if (!text)
		gt_py.PyErr_Clear();
	return text ? text : otherwise;
}

static void release(struct gt_py_object *object)
{
	if (object)
		gt_py.Py_DecRef(object);
}

static struct gt_py_object *attribute(struct gt_py_object *object, const char *name)
{
	struct gt_py_object *value = gt_py.PyObject_GetAttrString(object, name);

	if (!value)
		gt_py.PyErr_Clear();
	return value;
}

static gt_ref define(struct gt_py_object *code, struct gt_py_object *frame)
{
	struct gt_py_object *globals = frame ? attribute(frame, "f_globals") : NULL;
	struct gt_py_object *module = globals ? gt_py.PyDict_GetItemString(globals, "__name__") : NULL;
	struct gt_py_object *name = attribute(code, gt_py.minor < 11 ? "co_name" : "co_qualname");
	struct gt_py_object *file = attribute(code, "co_filename");
	struct gt_py_object *line = attribute(code, "co_firstlineno");
	struct gt_region_info info = {
		.bytes = sizeof(info),
		.group = text_of(module, "Python"),
		.file = text_of(file, ""),
		.role = GT_REGION_ROLE_FUNCTION,
		.paradigm = GT_PARADIGM_COMPILER,
	};
	char full[NAME];
	size_t length = module ? append(full, 0, info.group) : 0;
	gt_ref region;

	if (length)
		length = append(full, length, ".");
	append(full, length, text_of(name, "?"));
	info.name = full;
	if (strcmp(full, gt_py.minor < 11 ? "threading.start" : "threading.Thread.start") == 0)
		gt_py_thread_start = code;
	if (*info.file == '<') /* "<string>", "<frozen ...>" */
		info.file = NULL;
	else
		info.begin_line = line ? (uint32_t)gt_py.PyLong_AsLong(line) : 0;
	region = gt_def_region(&info);
	release(line);
	release(file);
	release(name);
	release(globals);
	return region;
}

/* The stored value is the region's id + 1; NULL: not asked yet. */
gt_ref gt_py_region(struct gt_py_object *code, struct gt_py_object *frame)
{
	struct gt_py_object *type, *value, *trace;
	void *known = NULL;
	gt_ref region;

	if (gt_py.get_extra(code, extra_index, &known) == 0 && known)
		return (gt_ref)((uintptr_t)known - 1);
	gt_py.PyErr_Fetch(&type, &value, &trace);
	region = define(code, frame ? frame : gt_py.PyEval_GetFrame());
	if (gt_py.set_extra(code, extra_index, (void *)((uintptr_t)region + 1)))
		gt_py.PyErr_Clear();
	gt_py.PyErr_Restore(type, value, trace);
	return region;
}

/* threading._active[ident]._name; the attribute that is not a property, so that no code of it runs. */
bool gt_py_name_thread(void)
{
	struct gt_py_object *type, *value, *trace, *name = NULL;
	struct gt_py_object *modules = gt_py.PySys_GetObject("modules");
	struct gt_py_object *threading = modules ? gt_py.PyDict_GetItemString(modules, "threading") : NULL;
	struct gt_py_object *active, *ident, *thread, *key;

	if (!threading)
		return false;
	gt_py.PyErr_Fetch(&type, &value, &trace);
	active = attribute(threading, "_active");
	ident = gt_py.PyLong_FromUnsignedLong((unsigned long)pthread_self());
	thread = active && ident ? gt_py.PyDict_GetItem(active, ident) : NULL;
	key = thread ? gt_py.PyUnicode_FromString("_name") : NULL;
	if (key && (name = gt_py.PyObject_GenericGetAttr(thread, key)))
		gt_thread_name(0, text_of(name, "?"));
	release(name);
	release(key);
	release(ident);
	release(active);
	gt_py.PyErr_Clear();
	gt_py.PyErr_Restore(type, value, trace);
	return name;
}
