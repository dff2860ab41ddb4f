/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface of Kokkos' tools, as a program sees it that was not built with gputrace's header. */
#ifndef KOKKOSCORE_H
#define KOKKOSCORE_H

#include <stdbool.h>
#include <stdint.h>

struct kk_space {
	char name[64];
};

struct kk_settings {
	bool requires_global_fencing;
	bool padding[255];
};

typedef void begin_function(const char *, uint32_t, uint64_t *);
typedef void end_function(uint64_t);
typedef void data_function(struct kk_space, const char *, const void *, uint64_t);
typedef void section_function(uint32_t);

struct kk_events {
	void (*init)(int, uint64_t, uint32_t, void *);
	void (*finalize)(void);
	void (*parse_args)(int, char **);
	void (*print_help)(char *);
	begin_function *begin_for;
	end_function *end_for;
	begin_function *begin_reduce;
	end_function *end_reduce;
	begin_function *begin_scan;
	end_function *end_scan;
	void (*push)(const char *);
	void (*pop)(void);
	data_function *allocate, *deallocate;
	void (*create_section)(const char *, uint32_t *);
	section_function *start_section, *stop_section, *destroy_section;
	void (*mark)(const char *);
	void (*begin_copy)(struct kk_space, const char *, const void *, struct kk_space, const char *,
			   const void *, uint64_t);
	void (*end_copy)(void);
	begin_function *begin_fence;
	end_function *end_fence;
	void (*sync)(const char *, const void *, bool);
	void (*modify)(const char *, const void *, bool);
	void (*metadata)(const char *, const char *);
	void (*programming)(uint32_t, ...);
	void (*request_tool_settings)(uint32_t, struct kk_settings *);
	void (*padding[247])(void);
};
_Static_assert(sizeof(struct kk_events) == 275 * sizeof(void *), "as Kokkos has it");

extern struct kk_events kk_events;
extern int kk_fences;
void kk_initialize(void);
void kk_may_fence(const void *callback);

#endif
