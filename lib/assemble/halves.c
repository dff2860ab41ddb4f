/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assembling halves of adapters: the tables of the tree, loading those of other trees, calling; see
 * halves.h.
 */
#include "config.h"

#include "lib/assemble/halves.h"

#include "lib/assemble/archive/records.h"
#include "lib/common/settings.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
#define NAME_MOST       64u

/* ---- those of the tree ------------------------------------------------------------------------------- */

#define GT_ASSEMBLER(name) extern const struct gt_assembler gt_assembler_##name;
#include "registry/adapters.def"

const struct gt_kind gt_halves_kinds[256] = {
#define GT_RECORD(name, code, least, handler, owner, payload, data, otf2)                                    \
	[code] = { gt_convert_##handler, least },
#include "gputrace/records.def"
#undef GT_RECORD
};

void gt_halves_begin(void)
{
	static const struct gt_assembler *const tree[] = {
#define GT_ASSEMBLER(name) &gt_assembler_##name,
#include "registry/adapters.def"
	};

	for (size_t i = 0; !gt_assembler(i) && i < sizeof(tree) / sizeof(*tree); i++)
		gt_assembler_add(tree[i]);
}

/* ---- loading ----------------------------------------------------------------------------------------- */

/* Names come from the spool: none may lead out of the folder. */
static bool is_name(const char *name)
{
	size_t length = strlen(name);

	return length && length <= NAME_MOST && *name != '.' && strspn(name, NAME_CHARACTERS) == length;
}

/* NULL: nothing. */
static const char *wrong_with(const struct gt_assembler *one, const char *name)
{
	if (one->bytes < GT_FIRST_ASSEMBLER || one->bytes > GT_SIZED_MOST)
		return "the bytes of its gt_assembler are those of no released gputrace: compile it with the "
		       "installed headers";
	if (one->abi != GT_ASSEMBLER_ABI)
		return "the abi of its gt_assembler is another version of the interface: compile it with the "
		       "installed headers";
	return !one->name || strcmp(one->name, name) ? "its gt_assembler is of another adapter" : NULL;
}

static bool take(const struct gt_assembly *a, const char *path, const char *name, void *handle)
{
	const struct gt_assembler *one = handle ? dlsym(handle, "gt_assembler") : NULL;

	const char *wrong = !handle ? dlerror() : !one ? "it has no gt_assembler" : wrong_with(one, name);

	if (!wrong && !gt_assembler_add(one))
		wrong = "there are too many adapters";
	if (wrong) {
		gt_assembly_say(a, 1, "%s cannot be used: %s", path, wrong);
		return false;
	}
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

/* Adapters that were not found: each is searched once. */
struct missing {
	char names[GT_ASSEMBLERS_MOST][NAME_MOST + 1];
	bool said[GT_ASSEMBLERS_MOST];
	unsigned count;
};

static void say_missing(const struct gt_assembly *a, const char *name, bool *said)
{
	if (!*said)
		gt_assembly_say(
			a, 1,
			"there is no %s.so that reads the records of the adapter %s: they are skipped "
			"and counted",
			name, name);
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

void gt_halves_load(const struct gt_assembly *a, const struct gt_spool *spool)
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

void gt_halves_load_joined(const struct gt_assembly *a, const struct gt_properties *properties,
			   struct gt_defs *defs)
{
	uint32_t adapters = gt_defs_string(defs, "GPUTRACE::ADAPTERS");
	struct missing m = { .count = 0 };

	for (size_t i = 0; i < properties->count; i++)
		if (properties->list[i].name == adapters)
			load_listed(a, &m, gt_intern_text(&defs->strings, properties->list[i].value, NULL));
}

/* ---- calling ----------------------------------------------------------------------------------------- */

int gt_halves_scan(struct gt_assembly *a)
{
	int rc = 0;

	for (size_t i = 0; !rc && gt_assembler(i); i++)
		if (gt_assembler(i)->scan)
			rc = gt_assembler(i)->scan(a);
	return rc;
}

int gt_halves_define(struct gt_assembly *a)
{
	int rc = 0;

	for (size_t i = 0; !rc && gt_assembler(i); i++)
		if (gt_assembler(i)->define)
			rc = gt_assembler(i)->define(a);
	return rc;
}

void gt_halves_properties(struct gt_assembly *a)
{
	for (size_t i = 0; gt_assembler(i); i++)
		for (size_t k = 0; gt_assembler(i)->properties && k < a->spool.proc_count; k++)
			if (a->spool.procs[k].number != GT_NOT_WRITTEN)
				gt_assembler(i)->properties(a, &a->spool.procs[k]);
}

void gt_halves_end(struct gt_assembly *a)
{
	for (size_t i = 0; gt_assembler(i); i++)
		if (gt_assembler(i)->end)
			gt_assembler(i)->end(a);
}
