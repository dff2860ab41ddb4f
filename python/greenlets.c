/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Greenlets (gevent, eventlet, SQLAlchemy's asyncio): stacks of Python that a thread changes by itself. At a
 * switch the functions of the one are left and those of the other entered again, as those of coroutines
 * are. greenlet.settrace() tells of each switch on a thread, in the greenlet that goes on.
 *
 * Limits: a program that sets a trace function of its own later, and does not call the one before it, takes
 * the place of ours on that thread.
 */
#include <string.h>

#include "python/python.h"

#define TRIES 100000u /* calls of functions until the module is there, or will not come */

bool gt_py_greenlets;
static struct gt_py_object *function; /* that greenlet calls */
static struct gt_py_object *aside;    /* what is open in greenlets that wait, by their addresses */
static const struct gt_py_stacks *stacks;
static GT_TLS struct gt_py_object *before; /* the program's trace function, or NULL */

static void drop(struct gt_py_object *object)
{
	if (object)
		gt_py.Py_DecRef(object);
}

static struct gt_py_object *key_of(struct gt_py_object *greenlet)
{
	return greenlet ? gt_py.PyLong_FromVoidPtr(greenlet) : NULL;
}

static void leave(struct gt_py_object *greenlet)
{
	struct gt_py_object *open = stacks->put_aside();
	struct gt_py_object *key = open ? key_of(greenlet) : NULL;

	if (key)
		gt_py.PyDict_SetItem(aside, key, open);
	drop(key);
	drop(open);
}

static void enter(struct gt_py_object *greenlet)
{
	struct gt_py_object *key = key_of(greenlet);
	struct gt_py_object *open = key ? gt_py.PyDict_GetItem(aside, key) : NULL;

	if (open) {
		stacks->take_up(open);
		gt_py.PyDict_DelItem(aside, key);
	}
	drop(key);
}

/* event ("switch", "throw"), (origin, target) */
static struct gt_py_object *on_switch(struct gt_py_object *module, struct gt_py_object *arguments)
{
	struct gt_py_object *pair = gt_py.PyTuple_GetItem(arguments, 1);
	struct gt_py_object *origin = pair ? gt_py.PyTuple_GetItem(pair, 0) : NULL;
	struct gt_py_object *target = pair ? gt_py.PyTuple_GetItem(pair, 1) : NULL;

	(void)module;
	if (origin && target) {
		leave(origin);
		enter(target);
	}
	gt_py.PyErr_Clear();
	if (before)
		return gt_py.PyObject_CallObject(before, arguments);
	gt_py.Py_IncRef(gt_py.none);
	return gt_py.none;
}

void gt_py_greenlets_note(struct gt_py_object *import_arguments)
{
	struct gt_py_object *name = gt_py.PyTuple_GetItem(import_arguments, 0);
	const char *text = name ? gt_py.PyUnicode_AsUTF8(name) : NULL;

	if (text && strcmp(text, "greenlet._greenlet") == 0)
		gt_py_greenlets = true;
	else if (!text)
		gt_py.PyErr_Clear();
}

static bool prepare(void)
{
	static const struct gt_py_method method = { "gputrace", (void (*)(void))on_switch, GT_PY_VARARGS,
						    NULL };

	if (!aside)
		aside = gt_py.PyDict_New();
	if (!function)
		function = gt_py.PyCFunction_NewEx(&method, NULL, NULL);
	return aside && function;
}

bool gt_py_greenlets_follow(const struct gt_py_stacks *of_threads)
{
	struct gt_py_object *modules, *greenlet, *old = NULL, *error[3];
	static unsigned tries;

	stacks = of_threads;
	gt_py.PyErr_Fetch(&error[0], &error[1], &error[2]);
	modules = gt_py.PySys_GetObject("modules");
	greenlet = modules ? gt_py.PyDict_GetItemString(modules, "greenlet._greenlet") : NULL;
	if (!greenlet && ++tries == TRIES) /* its import has failed */
		gt_py_greenlets = false;
	if (greenlet && prepare())
		old = gt_py.PyObject_CallMethod(greenlet, "settrace", "O", function);
	gt_py.PyErr_Clear();
	gt_py.PyErr_Restore(error[0], error[1], error[2]);
	if (old && old != gt_py.none && old != function)
		before = old;
	else
		drop(old);
	return old;
}
