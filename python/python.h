/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CPython's functions, looked up in the program: gputrace is built without Python, and one library serves
 * all versions. And regions of Python's functions.
 *
 * Limits: CPython 3.8 and later with its global lock, which the caller of any function here holds.
 */
#ifndef GPUTRACE_PYTHON_PYTHON_H
#define GPUTRACE_PYTHON_PYTHON_H

#include "gputrace/adapter.h"

/* An object of Python; a pointer to one is a reference that is owned, or borrowed where it says so. */
struct gt_py_object {
	intptr_t references;
	struct gt_py_object *type;
};

/* `what` of a profile function, as cpython/pystate.h numbers it. */
enum { GT_PY_CALL = 0, GT_PY_RETURN = 3 };

/* Flags of a method, as methodobject.h has them. */
enum { GT_PY_VARARGS = 0x1, GT_PY_FASTCALL = 0x80 };

struct gt_py_method {
	const char *name;
	void (*function)(void);
	int flags;
	const char *doc;
};

typedef int (*gt_py_profile)(struct gt_py_object *, struct gt_py_object *frame, int what,
			     struct gt_py_object *);
typedef int (*gt_py_audit)(const char *event, struct gt_py_object *arguments, void *);

/* Functions of all versions: result, name, arguments (docs.python.org/3/c-api). */
#define GT_PY_FUNCTIONS(F)                                                                                   \
	F(int, Py_IsInitialized, (void))                                                                     \
	F(const char *, Py_GetVersion, (void))                                                               \
	F(void, Py_IncRef, (struct gt_py_object *))                                                          \
	F(void, Py_DecRef, (struct gt_py_object *))                                                          \
	F(void, PyErr_Fetch, (struct gt_py_object **, struct gt_py_object **, struct gt_py_object **))       \
	F(void, PyErr_Restore, (struct gt_py_object *, struct gt_py_object *, struct gt_py_object *))        \
	F(void, PyErr_Clear, (void))                                                                         \
	F(struct gt_py_object *, PyObject_GetAttrString, (struct gt_py_object *, const char *))              \
	F(struct gt_py_object *, PyObject_GenericGetAttr, (struct gt_py_object *, struct gt_py_object *))    \
	F(struct gt_py_object *, PyObject_CallMethod,                                                        \
	  (struct gt_py_object *, const char *, const char *, ...))                                          \
	F(struct gt_py_object *, PyCFunction_NewEx,                                                          \
	  (const struct gt_py_method *, struct gt_py_object *, struct gt_py_object *))                       \
	F(struct gt_py_object *, PyTuple_GetItem, (struct gt_py_object *, intptr_t))                         \
	F(struct gt_py_object *, PyDict_GetItem, (struct gt_py_object *, struct gt_py_object *))             \
	F(struct gt_py_object *, PyDict_GetItemString, (struct gt_py_object *, const char *))                \
	F(struct gt_py_object *, PyUnicode_FromString, (const char *))                                       \
	F(const char *, PyUnicode_AsUTF8, (struct gt_py_object *))                                           \
	F(struct gt_py_object *, PyLong_FromUnsignedLong, (unsigned long))                                   \
	F(long, PyLong_AsLong, (struct gt_py_object *))                                                      \
	F(struct gt_py_object *, PyLong_FromVoidPtr, (void *))                                               \
	F(struct gt_py_object *, PyDict_New, (void))                                                         \
	F(int, PyDict_SetItem, (struct gt_py_object *, struct gt_py_object *, struct gt_py_object *))        \
	F(int, PyDict_DelItem, (struct gt_py_object *, struct gt_py_object *))                               \
	F(struct gt_py_object *, PyBytes_FromStringAndSize, (const char *, intptr_t))                        \
	F(char *, PyBytes_AsString, (struct gt_py_object *))                                                 \
	F(intptr_t, PyBytes_Size, (struct gt_py_object *))                                                   \
	F(struct gt_py_object *, PyObject_CallObject, (struct gt_py_object *, struct gt_py_object *))        \
	F(struct gt_py_object *, PySys_GetObject, (const char *))                                            \
	F(struct gt_py_object *, PyEval_GetFrame, (void))                                                    \
	F(void, PyEval_SetProfile, (gt_py_profile, struct gt_py_object *))

#define GT_PY_MEMBER(result, name, arguments) result(*name) arguments;
struct gt_py_functions {
	GT_PY_FUNCTIONS(GT_PY_MEMBER)
	/* From here on the names differ. */
	struct gt_py_object *(*frame_code)(struct gt_py_object *frame);
	intptr_t (*extra_index)(void (*free)(void *));
	int (*get_extra)(struct gt_py_object *code, intptr_t index, void **extra);
	int (*set_extra)(struct gt_py_object *code, intptr_t index, void *extra);
	struct gt_py_object *none;
	int minor; /* 3.minor */
};
#undef GT_PY_MEMBER

GT_HIDDEN extern struct gt_py_functions gt_py;

/* Finds all of them. NULL, or what is missing. Python's lock need not be held. */
GT_HIDDEN const char *gt_py_find(void);

/* The code that a frame runs. */
GT_HIDDEN struct gt_py_object *gt_py_code(struct gt_py_object *frame);

/*
 * The region of a function by its code; `frame` runs it, NULL: the running thread's. GT_NONE: the filter
 * leaves it out. An exception that is set stays so. Is quick but for the first time.
 */
GT_HIDDEN gt_ref gt_py_region(struct gt_py_object *code, struct gt_py_object *frame);

/* The code of threading.Thread.start, once it has been seen; only to compare with. */
GT_HIDDEN extern const struct gt_py_object *gt_py_thread_start;

/* Prepares it; false: Python has no room. */
GT_HIDDEN bool gt_py_regions_begin(void);

/*
 * greenlets.c: has the program imported greenlet? It is told what is imported. From gt_py_greenlets_follow()
 * on the calling thread's switches are seen; false: greenlet is not there yet.
 */
struct gt_py_stacks {
	/* Leaves all functions that are open on the calling thread; a bytes object that says which they are,
	 * NULL: none is, or there is no memory. */
	struct gt_py_object *(*put_aside)(void);
	void (*take_up)(struct gt_py_object *aside); /* enters them again */
};
GT_HIDDEN extern bool gt_py_greenlets;
GT_HIDDEN void gt_py_greenlets_note(struct gt_py_object *import_arguments);
GT_HIDDEN bool gt_py_greenlets_follow(const struct gt_py_stacks *of_threads);

/* If the program has given the calling thread a name: names the location by it, and returns true. */
GT_HIDDEN bool gt_py_name_thread(void);

#endif
