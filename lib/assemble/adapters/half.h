/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of adapters in the tree beyond struct gt_assembler: they may know the assembly's
 * internals.
 *
 * Limits: internal. All members may be NULL.
 */
#ifndef GT_ASSEMBLE_HALF_H
#define GT_ASSEMBLE_HALF_H

#include "lib/assemble/adapters/assemblers.h"

/* An accelerator's runtime. */
struct gt_accel {
	uint8_t paradigm;          /* OTF2_Paradigm of its regions */
	const char *streams;       /* group of all its locations in the archive */
	/* property of a process: this and a number -> UUID, address and name of a device */
	const char *device;
	const char *device_class;  /* of the system tree's node for it */
	/* property of a process: which idle times are wanted, "compute", "all", or both; NULL: this runtime
	 * has none, nor the names below */
	const char *idle;
	const char *idle_compute, *idle_all; /* regions of idle times */
	const char *idle_name;     /* of the location that has them, before "[0] idle": its kind of device */
	/* What recording takes of the thread of the host, with what the runtime's own tools library takes: of
	 * an activity with the call that asked for it, of any other call; 0: nobody has measured it. */
	uint32_t activity_ns, call_ns;
};

/* An I/O interface whose files several processes share. */
struct gt_shared_io {
	uint32_t number;           /* paradigm of gt_def_handle_of() */
	const char *id, *name;     /* of OTF2's I/O paradigm */
};

struct gt_half {
	const char *ranks;         /* in a word: what kind of ranks processes with a job are */
	const struct gt_accel *accel;
	const struct gt_shared_io *io;
	/* Was the process started as a rank of a parallel program, and nothing of that was recorded? */
	bool (*is_silent)(const struct gt_proc *proc);
	/* Why, in a sentence; "": it is not known. May be NULL. */
	void (*silent_why)(const struct gt_proc *proc, char *text, size_t size);
	/* An I/O handle that several processes share: the communicator and a key that is the same in all of
	 * them. False: it is not known. */
	bool (*shared_handle)(struct gt_track *t, const struct gt_def_shared *def, uint32_t *comm,
			      uint64_t *key);
	/* The source's name of a variable that a compiler has generated, by its symbol. False: it is not
	 * such a one. */
	bool (*variable)(const char *symbol, char *text, size_t size);
	/*
	 * Code of the runtime that is on the stack between a call of it and what it tells the adapter: of its
	 * libraries, by the names of their files without folders; and functions elsewhere that call these, by
	 * what the source calls them, their symbols, and the symbol of what they call.
	 */
	bool (*is_library)(const char *object);
	bool (*is_entry)(const char *name, const char *symbol, const char *callee);
};

/* The n-th accelerator, from 0, or NULL. */
static inline const struct gt_accel *gt_half_accel(size_t n)
{
	for (size_t i = 0; gt_assembler(i); i++)
		if (gt_assembler(i)->half && gt_assembler(i)->half->accel && !n--)
			return gt_assembler(i)->half->accel;
	return NULL;
}

static inline const struct gt_shared_io *gt_half_io(void)
{
	for (size_t i = 0; gt_assembler(i); i++)
		if (gt_assembler(i)->half && gt_assembler(i)->half->io)
			return gt_assembler(i)->half->io;
	return NULL;
}

/* The name of ranks; "" if no adapter has any. */
static inline const char *gt_half_ranks(void)
{
	for (size_t i = 0; gt_assembler(i); i++)
		if (gt_assembler(i)->half && gt_assembler(i)->half->ranks)
			return gt_assembler(i)->half->ranks;
	return "";
}

/* If so, and it is known why, this is in `why`, unless there is a reason already. */
static inline bool gt_half_silent(const struct gt_proc *proc, char *why, size_t size)
{
	for (size_t i = 0; gt_assembler(i); i++) {
		const struct gt_half *half = gt_assembler(i)->half;

		if (!half || !half->is_silent || !half->is_silent(proc))
			continue;
		if (!*why && half->silent_why)
			half->silent_why(proc, why, size);
		return true;
	}
	return false;
}

/* The name of the variable that a region concerns; false: it has none. */
static inline bool gt_half_variable(const char *symbol, char *text, size_t size)
{
	for (size_t i = 0; gt_assembler(i); i++)
		if (gt_assembler(i)->half && gt_assembler(i)->half->variable &&
		    gt_assembler(i)->half->variable(symbol, text, size))
			return *text != '\0';
	return false;
}

static inline bool gt_half_library(const char *object)
{
	for (size_t i = 0; gt_assembler(i); i++)
		if (gt_assembler(i)->half && gt_assembler(i)->half->is_library &&
		    gt_assembler(i)->half->is_library(object))
			return true;
	return false;
}

static inline bool gt_half_entry(const char *name, const char *symbol, const char *callee)
{
	for (size_t i = 0; gt_assembler(i); i++)
		if (gt_assembler(i)->half && gt_assembler(i)->half->is_entry &&
		    gt_assembler(i)->half->is_entry(name, symbol, callee))
			return true;
	return false;
}

static inline bool gt_half_shared(struct gt_track *t, const struct gt_def_shared *def, uint32_t *comm,
				  uint64_t *key)
{
	for (size_t i = 0; gt_assembler(i); i++)
		if (gt_assembler(i)->half && gt_assembler(i)->half->shared_handle &&
		    gt_assembler(i)->half->shared_handle(t, def, comm, key))
			return true;
	return false;
}

#endif
