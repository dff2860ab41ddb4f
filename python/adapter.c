/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adapter for Python: functions of a program that knows nothing of it. An audit hook (PEP 578), which can
 * be there before Python is, says when the program begins; then sys.monitoring (PEP 669, Python 3.12 and
 * later) or a profile function on each thread reports functions that begin and end. What a function that is
 * suspended (yield, await) does until it goes on is not in it.
 *
 * Limits: the main interpreter of a process; a libpython that is there when the program starts. Before 3.12
 * a profiler of the program's own takes the place of ours on its thread, and threads that are not made by
 * the module threading are not seen.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "python/python.h"

enum { ROOM = 510, NAME_TRIES = 64 };

struct open {
	gt_ref region;
	bool recorded;
};

/* A thread's frames, in one piece of memory that is replaced by a larger one. */
struct thread {
	uint32_t depth, room;
	uint32_t tries; /* to find its name */
	bool profiled;  /* by ours, before 3.12 */
	bool greenlets; /* their switches are followed */
	bool odd;       /* a function returned before one that it had called */
	struct open open[];
};
static GT_TLS struct thread *self;
static pthread_key_t of_thread;

static bool begun, failed;
static GT_TLS bool own; /* it is we who set a profile function */
static struct gt_py_object *disable, *threads_function;

/* ---- enter and leave ---------------------------------------------------------------------------- */

static size_t bytes(uint32_t room)
{
	return sizeof(struct thread) + room * sizeof(struct open);
}

static void forget(void *memory)
{
	struct thread *thread = memory;

	self = NULL;
	gt_memory_free(thread, bytes(thread->room));
}

/* Room for one more open function. */
static bool make_room(void)
{
	uint32_t room = self ? self->room * 2 : ROOM;
	struct thread *more = gt_memory(bytes(room));

	if (!more)
		return false;
	if (self) {
		memcpy(more, self, bytes(self->room));
		gt_memory_free(self, bytes(self->room));
	}
	more->room = room;
	self = more;
	pthread_setspecific(of_thread, self);
	return true;
}

static void name_thread(void)
{
	if (self->tries < NAME_TRIES && (++self->tries == NAME_TRIES || gt_py_name_thread()))
		self->tries = NAME_TRIES;
}

static struct gt_py_object *put_aside(void);
static void take_up(struct gt_py_object *aside);
static const struct gt_py_stacks stacks = { put_aside, take_up };

static void enter(gt_ref region)
{
	if (!region || ((!self || self->depth == self->room) && !make_room()))
		return;
	if (gt_unlikely(self->tries < NAME_TRIES))
		name_thread();
	if (gt_unlikely(gt_py_greenlets && !self->greenlets))
		self->greenlets = gt_py_greenlets_follow(&stacks);
	self->open[self->depth++] = (struct open){ region, gt_enter_if_active(region) };
}

/* Ends the open functions from `depth` on. */
static void close_from(uint32_t depth)
{
	while (self->depth > depth) {
		const struct open *open = &self->open[--self->depth];

		if (open->recorded)
			gt_leave(open->region);
	}
}

/*
 * The innermost of this region; nothing if it began before us. What is still open in it will not return, or
 * the thread has several stacks, which the assembly finds out: it is told of each return that is recorded.
 */
static void leave(gt_ref region)
{
	uint32_t i = self ? self->depth : 0;

	if (!region || !self)
		return;
	while (i && self->open[i - 1].region != region)
		i--;
	if (!i) {
		if (self->odd)
			gt_leave(region);
		return;
	}
	if (i < self->depth) {
		self->odd = true;
		if (!self->open[i - 1].recorded)
			close_from(i);
	}
	self->depth = i - 1;
	if (self->open[i - 1].recorded)
		gt_leave(region);
}

/* ---- several stacks ----------------------------------------------------------------------------- */

static struct gt_py_object *put_aside(void)
{
	struct gt_py_object *aside;

	if (!self || !self->depth)
		return NULL;
	aside = gt_py.PyBytes_FromStringAndSize((const char *)self->open,
						(intptr_t)(self->depth * sizeof(struct open)));
	close_from(0);
	return aside;
}

static void take_up(struct gt_py_object *aside)
{
	const char *bytes = gt_py.PyBytes_AsString(aside);
	size_t count = bytes ? (size_t)gt_py.PyBytes_Size(aside) / sizeof(struct open) : 0;
	struct open open;

	for (size_t i = 0; i < count; i++) {
		memcpy(&open, bytes + i * sizeof(open), sizeof(open));
		enter(open.region);
	}
}

/* ---- sys.monitoring ----------------------------------------------------------------------------- */

static struct gt_py_object *answer(struct gt_py_object *object)
{
	gt_py.Py_IncRef(object);
	return object;
}

/* A function that the filter leaves out need not be reported again: DISABLE says so for this place. */
static struct gt_py_object *on_begin(struct gt_py_object *module, struct gt_py_object *const *arguments,
				     intptr_t count)
{
	gt_ref region = count ? gt_py_region(arguments[0], NULL) : GT_NONE;

	(void)module;
	enter(region);
	return answer(region ? gt_py.none : disable);
}

static struct gt_py_object *on_end(struct gt_py_object *module, struct gt_py_object *const *arguments,
				   intptr_t count)
{
	gt_ref region = count ? gt_py_region(arguments[0], NULL) : GT_NONE;

	(void)module;
	leave(region);
	return answer(region ? gt_py.none : disable);
}

/* Of exceptions; these events cannot be disabled. */
static struct gt_py_object *on_throw(struct gt_py_object *module, struct gt_py_object *const *arguments,
				     intptr_t count)
{
	(void)module;
	if (count)
		enter(gt_py_region(arguments[0], NULL));
	return answer(gt_py.none);
}

static struct gt_py_object *on_unwind(struct gt_py_object *module, struct gt_py_object *const *arguments,
				      intptr_t count)
{
	(void)module;
	if (count)
		leave(gt_py_region(arguments[0], NULL));
	return answer(gt_py.none);
}

/* Calls a method that returns nothing of interest. */
static bool done(struct gt_py_object *result)
{
	if (result)
		gt_py.Py_DecRef(result);
	else
		gt_py.PyErr_Clear();
	return result;
}

static bool monitor_event(struct gt_py_object *monitoring, int tool, struct gt_py_object *events,
			  const struct gt_py_method *method, long *mask)
{
	struct gt_py_object *number = gt_py.PyObject_GetAttrString(events, method->name);
	struct gt_py_object *function = gt_py.PyCFunction_NewEx(method, NULL, NULL);
	long event = number ? gt_py.PyLong_AsLong(number) : 0;
	bool registered = function && event > 0 &&
			  done(gt_py.PyObject_CallMethod(monitoring, "register_callback", "ilO", tool, event,
							 function));

	if (number)
		gt_py.Py_DecRef(number);
	if (function)
		gt_py.Py_DecRef(function);
	*mask |= event;
	return registered;
}

/* The tools 0, 1, 2 and 5 are meant for debuggers, coverage, profilers and optimizers. */
static bool monitor(struct gt_py_object *monitoring)
{
	static const struct gt_py_method methods[] = {
#define METHOD(event, function) { event, (void (*)(void))(function), GT_PY_FASTCALL, NULL }
		METHOD("PY_START", on_begin),  METHOD("PY_RESUME", on_begin),  METHOD("PY_THROW", on_throw),
		METHOD("PY_RETURN", on_end),   METHOD("PY_YIELD", on_end),     METHOD("PY_UNWIND", on_unwind),
#undef METHOD
	};
	struct gt_py_object *events = gt_py.PyObject_GetAttrString(monitoring, "events");
	int tool = 4;
	long mask = 0;

	disable = gt_py.PyObject_GetAttrString(monitoring, "DISABLE");
	if (!events || !disable)
		return done(NULL);
	if (!done(gt_py.PyObject_CallMethod(monitoring, "use_tool_id", "is", tool, "gputrace")) &&
	    !done(gt_py.PyObject_CallMethod(monitoring, "use_tool_id", "is", --tool, "gputrace")))
		return false;
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (!monitor_event(monitoring, tool, events, &methods[i], &mask))
			return done(NULL);
	gt_py.Py_DecRef(events);
	return done(gt_py.PyObject_CallMethod(monitoring, "set_events", "il", tool, mask));
}

/* ---- a profile function ------------------------------------------------------------------------- */

static int on_profile(struct gt_py_object *, struct gt_py_object *, int, struct gt_py_object *);

static void profile_thread(void)
{
	if (!self && !make_room())
		return;
	own = true;
	gt_py.PyEval_SetProfile(on_profile, NULL);
	own = false;
	self->profiled = true;
}

/* Called by threading in a new thread at its first event. */
static struct gt_py_object *on_first_event(struct gt_py_object *module, struct gt_py_object *arguments)
{
	struct gt_py_object *frame = gt_py.PyTuple_GetItem(arguments, 0);
	struct gt_py_object *event = gt_py.PyTuple_GetItem(arguments, 1);
	const char *what = event ? gt_py.PyUnicode_AsUTF8(event) : NULL;

	(void)module;
	profile_thread();
	if (frame && what && strcmp(what, "call") == 0)
		enter(gt_py_region(gt_py_code(frame), frame));
	gt_py.PyErr_Clear();
	return answer(gt_py.none);
}

/* A thread is about to be made: threading shall give it our function, if the program has none of its own. */
static void profile_new_threads(void)
{
	static const struct gt_py_method method = { "gputrace", (void (*)(void))on_first_event, GT_PY_VARARGS,
						    NULL };
	static bool said;
	struct gt_py_object *modules = gt_py.PySys_GetObject("modules");
	struct gt_py_object *threading = modules ? gt_py.PyDict_GetItemString(modules, "threading") : NULL;
	struct gt_py_object *hook = threading ? gt_py.PyObject_GetAttrString(threading, "_profile_hook")
					      : NULL;

	if (hook == gt_py.none) {
		if (!threads_function)
			threads_function = gt_py.PyCFunction_NewEx(&method, NULL, NULL);
		if (threads_function)
			done(gt_py.PyObject_CallMethod(threading, "setprofile", "O", threads_function));
	} else if (hook && hook != threads_function && !said) {
		said = true;
		gt_message(1, "Python: threads are profiled by the program (threading.setprofile): their "
			      "functions are not recorded");
	}
	if (hook)
		gt_py.Py_DecRef(hook);
	gt_py.PyErr_Clear();
}

static int on_profile(struct gt_py_object *unused, struct gt_py_object *frame, int what,
		      struct gt_py_object *argument)
{
	struct gt_py_object *code;

	(void)unused;
	(void)argument;
	if (what == GT_PY_CALL) {
		code = gt_py_code(frame);
		enter(gt_py_region(code, frame));
		if (gt_unlikely(code == gt_py_thread_start))
			profile_new_threads();
	} else if (what == GT_PY_RETURN) {
		leave(gt_py_region(gt_py_code(frame), frame));
	}
	return 0;
}

/* The calling thread gets another profile function than ours. */
static void profile_lost(void)
{
	static bool said;

	if (own || !self || !self->profiled)
		return;
	self->profiled = false;
	close_from(0);
	if (!said)
		gt_message(1, "Python: the program profiles itself (sys.setprofile): functions of that "
			      "thread are no "
			      "longer recorded");
	said = true;
}

/* ---- the beginning ------------------------------------------------------------------------------ */

static const struct gt_adapter adapter = {
	.bytes = sizeof(adapter),
	.abi = GT_ADAPTER_ABI,
	.name = "python",
};

static void begin(void)
{
	const char *missing = gt_py_find();
	struct gt_py_object *monitoring;

	begun = true;
	failed = true;
	if (missing) {
		gt_message(1, "Python's functions are not recorded: this Python does not have %s", missing);
		return;
	}
	monitoring = gt_py.PySys_GetObject("monitoring");
	if (!gt_py_regions_begin() || pthread_key_create(&of_thread, forget)) {
		gt_message(1, "Python's functions are not recorded: too many tools are loaded");
		return;
	}
	if (!monitoring)
		profile_thread();
	else if (!monitor(monitoring)) {
		gt_message(1, "Python's functions are not recorded: sys.monitoring refuses another tool");
		return;
	}
	failed = false;
}

/*
 * Is the program's own code about to run? The interpreter says so (cpython.run_file and the like). A program
 * that has embedded Python runs or imports something out of no function of Python's; Python itself does
 * that only for the module site.
 */
static bool begins(const char *event, struct gt_py_object *arguments)
{
	struct gt_py_object *(*get_frame)(void), *(*item)(struct gt_py_object *, intptr_t), *name;
	const char *(*text)(struct gt_py_object *), *module;
	int (*initialized)(void);

	*(void **)(void *)&initialized = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
	*(void **)(void *)&get_frame = dlsym(RTLD_DEFAULT, "PyEval_GetFrame");
	*(void **)(void *)&item = dlsym(RTLD_DEFAULT, "PyTuple_GetItem");
	*(void **)(void *)&text = dlsym(RTLD_DEFAULT, "PyUnicode_AsUTF8");
	if (!initialized || !get_frame || !item || !text || !initialized())
		return false;
	if (strncmp(event, "cpython.run_", strlen("cpython.run_")) == 0)
		return true;
	if (get_frame())
		return false;
	if (strcmp(event, "exec") == 0)
		return true;
	if (strcmp(event, "import") != 0)
		return false;
	name = item(arguments, 0);
	module = name ? text(name) : NULL;
	return module && strcmp(module, "site") != 0;
}

static int on_audit(const char *event, struct gt_py_object *arguments, void *unused)
{
	(void)unused;
	if (!begun) {
		if (begins(event, arguments))
			begin();
		return 0;
	}
	if (failed)
		return 0;
	if (gt_py.minor < 12 && strcmp(event, "sys.setprofile") == 0)
		profile_lost();
	else if (!gt_py_greenlets && strcmp(event, "import") == 0)
		gt_py_greenlets_note(arguments);
	return 0;
}

/* Only for programs that have Python. */
static __attribute__((constructor)) void load(void)
{
	int (*add)(gt_py_audit, void *);
	const char *wanted = gt_setting("VT_PYTHON");

	if (!wanted || strcmp(wanted, "yes") != 0 || !dlsym(RTLD_DEFAULT, "Py_IsInitialized"))
		return;
	*(void **)(void *)&add = dlsym(RTLD_DEFAULT, "PySys_AddAuditHook");
	if (!add)
		gt_message(1, "Python's functions are not recorded: this Python is older than 3.8");
	else if (!gt_adapter_register(&adapter))
		add(on_audit, NULL);
}
