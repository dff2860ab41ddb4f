/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finding and calling the assembling halves of adapters; see assemblers.h.
 *
 * Limits: see there.
 */
#include "config.h"

#include "lib/assemble/assemblers.h"

#include "lib/assemble/assembly.h"
#include "lib/common/settings.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
#define NAME_MOST       64u
#define PLACE_SHIFT     24 /* an assembling half << this, and the place among its records */

#define GT_ASSEMBLER(name) extern const struct gt_assembler gt_assembler_##name;
#include "instrument/adapters.def"

static const struct gt_assembler *list[GT_ASSEMBLERS_MOST] = {
#define GT_ASSEMBLER(name) &gt_assembler_##name,
#include "instrument/adapters.def"
};

const struct gt_assembler *gt_assembler(size_t n)
{
	return n < GT_ASSEMBLERS_MOST ? list[n] : NULL;
}

const struct gt_assembler *gt_assembler_find(const char *name)
{
	for (size_t i = 0; gt_assembler(i); i++)
		if (!strcmp(list[i]->name, name))
			return list[i];
	return NULL;
}

/* ---- loading ----------------------------------------------------------------------------------------- */

/* Names come from the spool: none may lead out of the folder. */
static bool is_name(const char *name)
{
	size_t length = strlen(name);

	return length && length <= NAME_MOST && *name != '.' && strspn(name, NAME_CHARACTERS) == length;
}

static bool take(const struct gt_assembly *a, const char *path, const char *name, void *handle)
{
	const struct gt_assembler *one = handle ? dlsym(handle, "gt_assembler") : NULL;
	size_t n = 0;

	while (gt_assembler(n))
		n++;
	if (!one || one->bytes != sizeof(*one) || one->abi != GT_ASSEMBLER_ABI || !one->name ||
	    strcmp(one->name, name) || n + 1 >= GT_ASSEMBLERS_MOST) {
		gt_assembly_say(a, 1, "%s cannot be used: %s", path,
				!handle ? dlerror()
				: !one	? "it has no gt_assembler"
					: "it is of another adapter or another version of gputrace");
		return false;
	}
	list[n] = one;
	gt_assembly_say(a, 2, "records of %s are read by %s", name, path);
	return true;
}

static bool load_from(const struct gt_assembly *a, const char *folder, const char *name)
{
	char path[PATH_MAX];

	if (!folder || !*folder ||
	    snprintf(path, sizeof(path), "%s/%s.so", folder, name) >= (int)sizeof(path) || access(path, F_OK))
		return false;
	return take(a, path, name, dlopen(path, RTLD_NOW | RTLD_LOCAL));
}

/* Those that were looked for and not found: each is looked for once. */
struct missing {
	char names[GT_ASSEMBLERS_MOST][NAME_MOST + 1];
	bool said[GT_ASSEMBLERS_MOST];
	unsigned count;
};

static void say_missing(const struct gt_assembly *a, const char *name, bool *said)
{
	if (!*said)
		gt_assembly_say(a, 1, "there is no %s.so that reads the records of the adapter %s: they are skipped "
				"and counted", name, name);
	*said = true;
}

/* `wanted`: there are records that nobody else understands. */
static void load(const struct gt_assembly *a, struct missing *m, const char *name, bool wanted)
{
	unsigned i = 0;

	if (gt_assembler_find(name) || !is_name(name))
		return;
	while (i < m->count && strcmp(m->names[i], name))
		i++;
	if (i == GT_ASSEMBLERS_MOST)
		return;
	if (i == m->count) {
		if (load_from(a, gt_settings.assemblers, name) || load_from(a, a->options->assemblers, name))
			return;
		strcpy(m->names[m->count++], name);
	}
	if (wanted)
		say_missing(a, name, &m->said[i]);
}

void gt_assemblers_load(const struct gt_assembly *a, const struct gt_spool *spool)
{
	struct missing m = { .count = 0 };

	for (size_t i = 0; i < spool->proc_count; i++) {
		const struct gt_proc *proc = &spool->procs[i];

		for (size_t k = 0; k < gt_journal_count(&proc->journal, GT_D_PROPERTY); k++) {
			const char *key = gt_journal_nth(&proc->journal, GT_D_PROPERTY, k, NULL, NULL);

			if (!strcmp(key, "adapter"))
				load(a, &m, key + strlen(key) + 1, false);
		}
		for (size_t k = 0; k < gt_journal_count(&proc->journal, GT_D_RECORD); k++) {
			const struct gt_def_record *def =
				gt_journal_nth(&proc->journal, GT_D_RECORD, k, NULL, NULL);
			const char *name = gt_proc_string(proc, def->adapter);

			if (name)
				load(a, &m, name, true);
		}
	}
}

/* A list with commas in between, as in the property ADAPTERS. */
static void load_listed(const struct gt_assembly *a, struct missing *m, const char *names)
{
	char name[NAME_MOST + 2];

	for (; *names; names += strcspn(names, ","), names += *names == ',') {
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(names, ","), names);
		load(a, m, name, false);
	}
}

void gt_assemblers_load_joined(const struct gt_assembly *a, const struct gt_properties *properties,
			       struct gt_defs *defs)
{
	uint32_t adapters = gt_defs_string(defs, "GPUTRACE::ADAPTERS");
	struct missing m = { .count = 0 };

	for (size_t i = 0; i < properties->count; i++)
		if (properties->list[i].name == adapters)
			load_listed(a, &m, gt_intern_text(&defs->strings, properties->list[i].value, NULL));
}

/* ---- calling ----------------------------------------------------------------------------------------- */

int gt_assemblers_scan(struct gt_assembly *a)
{
	int rc = 0;

	for (size_t i = 0; !rc && gt_assembler(i); i++)
		if (list[i]->scan)
			rc = list[i]->scan(a);
	return rc;
}

int gt_assemblers_define(struct gt_assembly *a)
{
	int rc = 0;

	for (size_t i = 0; !rc && gt_assembler(i); i++)
		if (list[i]->define)
			rc = list[i]->define(a);
	return rc;
}

void gt_assemblers_properties(struct gt_assembly *a)
{
	for (size_t i = 0; gt_assembler(i); i++)
		for (size_t k = 0; list[i]->properties && k < a->spool.proc_count; k++)
			if (a->spool.procs[k].number != GT_NOT_WRITTEN)
				list[i]->properties(a, &a->spool.procs[k]);
}

void gt_assemblers_end(struct gt_assembly *a)
{
	for (size_t i = 0; gt_assembler(i); i++)
		if (list[i]->end)
			list[i]->end(a);
}

bool gt_assemblers_name(const struct gt_loc *loc, char *text, size_t size)
{
	for (size_t i = 0; gt_assembler(i); i++)
		if (list[i]->location_name && list[i]->location_name(loc, text, size))
			return true;
	return false;
}

/* ---- looking up -------------------------------------------------------------------------------------- */

uint32_t gt_assembler_record(const struct gt_proc *proc, uint32_t id)
{
	const struct gt_def_record *def = gt_proc_find(proc, GT_D_RECORD, id, NULL);
	const char *adapter = def ? gt_proc_string(proc, def->adapter) : NULL;
	const char *name = def ? gt_proc_string(proc, def->name) : NULL;

	for (uint32_t i = 0; adapter && name && gt_assembler(i); i++)
		for (uint32_t k = 0; !strcmp(list[i]->name, adapter) && list[i]->records && list[i]->records[k].name; k++)
			if (!strcmp(list[i]->records[k].name, name))
				return i << PLACE_SHIFT | k;
	return GT_NO_NUMBER;
}

const struct gt_own_record *gt_assembler_record_at(uint32_t place)
{
	return place != GT_NO_NUMBER ? &list[place >> PLACE_SHIFT]->records[place & ((1u << PLACE_SHIFT) - 1)]
				     : NULL;
}

const struct gt_paradigm *gt_assembler_paradigm(uint8_t paradigm)
{
	for (size_t i = 0; gt_assembler(i); i++)
		for (const struct gt_paradigm *p = list[i]->paradigms; p && p->name; p++)
			if (p->paradigm == paradigm)
				return p;
	return NULL;
}
