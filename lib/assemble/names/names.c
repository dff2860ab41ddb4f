/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions by address and time, regions by id.
 *
 * Limits: a mapping is remembered from when it was first seen; it may have been there a
 * little earlier, so the choice goes by when mappings went, not by when they came.
 */
#include "config.h"

#include "lib/assemble/names/names.h"

#include "lib/assemble/adapters/half.h"
#include "lib/common/demangle.h"
#include "lib/common/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROLE_FUNCTION     1u /* OTF2_REGION_ROLE_FUNCTION */

static bool overlap(const struct gt_mapping *m, uint64_t start, uint64_t end)
{
	return m->module->start < end && start < m->module->end;
}

static bool same_code(const struct gt_mapping *a, const struct gt_mapping *b)
{
	return a->module->start - a->module->offset == b->module->start - b->module->offset &&
	       a->module->inode == b->module->inode && a->module->size == b->module->size &&
	       a->module->mtime_ns == b->module->mtime_ns && !strcmp(a->path, b->path);
}

static int by_seen(const void *a, const void *b)
{
	const struct gt_mapping *x = a, *y = b;

	return (x->seen > y->seen) - (x->seen < y->seen);
}

/* Whatever lay there when something else was seen had gone before. */
static void end_by_successors(struct gt_names *names)
{
	for (uint32_t i = 0; i < names->mapping_count; i++) {
		struct gt_mapping *m = &names->mappings[i];

		for (uint32_t j = i + 1; j < names->mapping_count; j++) {
			const struct gt_mapping *next = &names->mappings[j];

			if (next->seen > m->gone)
				break;
			if (next->seen > m->seen && !same_code(m, next) &&
			    overlap(m, next->module->start, next->module->end)) {
				m->gone = next->seen;
				break;
			}
		}
	}
}

static void end_by_records(struct gt_names *names, const struct gt_journal *journal)
{
	size_t n = gt_journal_count(journal, GT_D_MODULE_GONE);

	for (size_t i = 0; i < n; i++) {
		const struct gt_def_module_gone *gone =
			gt_journal_nth(journal, GT_D_MODULE_GONE, i, NULL, NULL);

		for (uint32_t k = 0; k < names->mapping_count; k++) {
			struct gt_mapping *m = &names->mappings[k];

			/* One look can find that one is gone and another is in its place. */
			if (m->seen < gone->tick && gone->tick < m->gone &&
			    overlap(m, gone->start, gone->end))
				m->gone = gone->tick;
		}
	}
}

int gt_names_make(struct gt_names *names, const struct gt_proc *proc, struct gt_defs *defs,
		  struct gt_symbolizer *symbolizer)
{
	const struct gt_proc *owner = proc;
	size_t n;

	memset(names, 0, sizeof(*names));
	names->proc = proc;
	names->defs = defs;
	names->symbolizer = symbolizer;
	while (!(n = gt_journal_count(&owner->journal, GT_D_MODULE)) && owner->parent &&
	       owner->header.origin == 1)
		owner = owner->parent;
	if (!n)
		return 0;
	names->mappings = calloc(n, sizeof(*names->mappings));
	if (!names->mappings)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct gt_def_module *module =
			gt_journal_nth(&owner->journal, GT_D_MODULE, i, NULL, NULL);

		if (module->start >= module->end)
			continue;
		names->mappings[names->mapping_count++] = (struct gt_mapping){
			.module = module,
			.path = (const char *)(module + 1),
			.seen = module->tick,
			.gone = UINT64_MAX,
		};
	}
	qsort(names->mappings, names->mapping_count, sizeof(*names->mappings), by_seen);
	end_by_records(names, &owner->journal);
	end_by_successors(names);
	return 0;
}

void gt_names_free(struct gt_names *names)
{
	free(names->mappings);
	memset(names, 0, sizeof(*names));
}

static bool holds(const struct gt_mapping *m, uint64_t address)
{
	return address >= m->module->start && address < m->module->end;
}

uint32_t gt_names_mapping(const struct gt_names *names, uint64_t address, uint64_t tick)
{
	uint32_t best = GT_NO_MAPPING, last = GT_NO_MAPPING;

	for (uint32_t i = 0; i < names->mapping_count; i++) {
		const struct gt_mapping *m = &names->mappings[i];

		if (!holds(m, address))
			continue;
		if (m->gone >= tick &&
		    (best == GT_NO_MAPPING || m->gone < names->mappings[best].gone))
			best = i;
		if (last == GT_NO_MAPPING || m->gone >= names->mappings[last].gone)
			last = i;
	}
	return best != GT_NO_MAPPING ? best : last;
}

bool gt_names_reused(const struct gt_names *names, uint64_t address)
{
	const struct gt_mapping *first = NULL;

	for (uint32_t i = 0; i < names->mapping_count; i++) {
		const struct gt_mapping *m = &names->mappings[i];

		if (!holds(m, address))
			continue;
		if (first && !same_code(first, m))
			return true;
		first = m;
	}
	return false;
}

/* Identifies a function across processes: its file, and its offset there. */
static size_t function_key(const struct gt_names *names, uint64_t address,
			   const struct gt_mapping *m, char *key, size_t size)
{
	int n;

	if (!m)
		n = snprintf(key, size, "A%u:%llx",
			     (unsigned)(names->proc - names->proc->spool->procs),
			     (unsigned long long)address);
	else
		n = snprintf(key, size, "F%llx:%llx:%llx:%s",
			     (unsigned long long)(address - m->module->start + m->module->offset),
			     (unsigned long long)m->module->size,
			     (unsigned long long)m->module->mtime_ns, m->path);
	return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

struct gt_filter *gt_names_groups(void)
{
	struct gt_filter *groups;

	if (!gt_settings.groups_spec || !*gt_settings.groups_spec)
		return NULL;
	groups = gt_filter_new();
	if (groups)
		gt_filter_read(groups, GT_FILTER_GROUPS, gt_settings.groups_spec, NULL);
	return groups;
}

/* The group that the groups file gives a function. The symbolizer's lock is held: gt_demangle()
 * has one work space for all. */
static uint32_t function_group(struct gt_names *names, const struct gt_symbol *symbol)
{
	static char full[GT_DEMANGLE_MAX], plain[GT_DEMANGLE_MAX];
	struct gt_filter_names n = { .name = symbol->canonical, .full = symbol->name };
	const char *group;

	if (!names->symbolizer->groups || !symbol->exact)
		return GT_UNDEFINED;
	if (gt_demangle(symbol->canonical, full, plain))
		n.plain = plain;
	group = gt_filter_group(names->symbolizer->groups, &n);
	return group ? gt_defs_string(names->defs, group) : GT_UNDEFINED;
}

static const struct gt_mapping *mapping_at(const struct gt_names *names, uint32_t mapping)
{
	return mapping < names->mapping_count ? &names->mappings[mapping] : NULL;
}

/* `paradigm`: who has found it. */
static uint32_t function_of(struct gt_names *names, uint64_t address, const struct gt_mapping *m,
			    uint8_t paradigm)
{
	struct gt_region region = { .group = GT_UNDEFINED, .role = ROLE_FUNCTION, .paradigm = paradigm };
	char key[GT_NAME_MAX + 64];
	size_t bytes = function_key(names, address, m, key, sizeof(key));
	uint32_t known = gt_defs_region_known(names->defs, key, bytes);
	struct gt_symbol symbol;

	if (known != GT_UNDEFINED && paradigm == GT_PARADIGM_COMPILER) /* it may be known from samples */
		return gt_defs_region(names->defs, key, bytes, &region);
	if (known != GT_UNDEFINED)
		return known;
	pthread_mutex_lock(&names->symbolizer->lock);
	gt_symbols_lookup(names->symbolizer->symbols, m ? m->module : NULL, m ? m->path : NULL,
			  address, &symbol);
	region.name = gt_defs_string(names->defs, symbol.name);
	region.canonical = gt_defs_string(names->defs, symbol.canonical);
	region.file = gt_defs_string(names->defs, symbol.file ? symbol.file : m ? m->path : "");
	region.module = gt_defs_string(names->defs, m ? m->path : "");
	region.begin = region.end = symbol.file ? symbol.line : 0;
	region.made_up = !symbol.exact;
	region.group = function_group(names, &symbol);
	known = gt_defs_region(names->defs, key, bytes, &region);
	pthread_mutex_unlock(&names->symbolizer->lock);
	return known;
}

uint32_t gt_names_function(struct gt_names *names, uint64_t address, uint32_t mapping)
{
	return function_of(names, address, mapping_at(names, mapping), GT_PARADIGM_COMPILER);
}

/* The function of a JIT compiler at an address; GT_UNDEFINED: none is known. */
static uint32_t jit_region(struct gt_names *names, uint64_t address)
{
	struct gt_region region = { .group = GT_UNDEFINED, .role = ROLE_FUNCTION,
				    .paradigm = GT_PARADIGM_SAMPLING };
	struct gt_jit_function function;
	bool known;

	pthread_mutex_lock(&names->symbolizer->lock);
	known = gt_jits_find(&names->symbolizer->jits, names->proc, address, &function);
	pthread_mutex_unlock(&names->symbolizer->lock);
	if (!known)
		return GT_UNDEFINED;
	region.name = region.canonical = gt_defs_string(names->defs, function.name);
	region.file = gt_defs_string(names->defs, function.file);
	region.module = gt_defs_string(names->defs, "[jit]");
	region.begin = region.end = function.line;
	return gt_defs_named_region(names->defs, &region, 0);
}

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* All code of a file of which nothing says where functions begin; and all that is of no file. */
static uint32_t region_without_functions(struct gt_names *names, const struct gt_mapping *m)
{
	struct gt_region region = { .group = GT_UNDEFINED, .role = ROLE_FUNCTION,
				    .paradigm = GT_PARADIGM_SAMPLING, .made_up = true };
	const char *path = m ? m->path : "no file";
	char text[GT_NAME_MAX + 3];

	snprintf(text, sizeof(text), "[%s]", file_of(path));
	region.name = region.canonical = gt_defs_string(names->defs, text);
	region.file = region.module = gt_defs_string(names->defs, m ? path : "");
	return gt_defs_named_region(names->defs, &region, 0);
}

static uint32_t source_of(struct gt_names *names, const char *file, unsigned line)
{
	return file ? gt_defs_source(names->defs, gt_defs_string(names->defs, file), line) : GT_UNDEFINED;
}

/* A function where it was inlined: another region than the function itself, of which reports make one row.
 * The symbolizer's lock is held. */
static uint32_t inlined_region(struct gt_names *names, const struct gt_mapping *m,
			       const struct gt_inlined *inlined)
{
	struct gt_region region = { .group = GT_UNDEFINED, .role = ROLE_FUNCTION,
				    .paradigm = GT_PARADIGM_SAMPLING };
	struct gt_symbol symbol = { .canonical = inlined->linkage ? inlined->linkage : inlined->name,
				    .exact = true };
	char name[GT_NAME_MAX + 1];

	symbol.name = inlined->name ? inlined->name : inlined->linkage;
	if (gt_demangled(symbol.canonical, name))
		symbol.name = name;
	region.name = gt_defs_string(names->defs, symbol.name);
	region.canonical = gt_defs_string(names->defs, symbol.canonical);
	region.description = gt_defs_string(names->defs, "inlined");
	region.file = gt_defs_string(names->defs, inlined->file ? inlined->file : m->path);
	region.module = gt_defs_string(names->defs, m->path);
	region.begin = region.end = inlined->file ? inlined->line : 0;
	region.group = function_group(names, &symbol);
	return gt_defs_inlined_region(names->defs, &region);
}

/* The line of each function at the address is where it calls the next one. */
static void inlined_places(struct gt_names *names, const struct gt_mapping *m, const struct gt_code *code,
			   struct gt_place *place)
{
	uint32_t *source = &place->source;

	place->inlined_count = (uint8_t)code->inlined_count;
	for (unsigned i = 0; i < code->inlined_count; i++) {
		const struct gt_inlined *inlined = &code->inlined[code->inlined_count - 1 - i];

		*source = source_of(names, inlined->call_file, inlined->call_line);
		place->inlined[i].region = inlined_region(names, m, inlined);
		source = &place->inlined[i].source;
	}
	*source = source_of(names, code->file, code->line);
}

static bool is_called(const char *path, const char *first)
{
	return !strncmp(file_of(path), first, strlen(first));
}

static void look_up_place(struct gt_names *names, uint64_t address, const struct gt_mapping *m,
			  struct gt_place *place)
{
	struct gt_symbol symbol = { .exact = true };
	struct gt_code code;

	place->own = is_called(m->path, "libgputrace");
	place->libc = is_called(m->path, "libc.so.");
	place->runtime = gt_half_library(file_of(m->path));
	pthread_mutex_lock(&names->symbolizer->lock);
	gt_symbols_place(names->symbolizer->symbols, m->module, m->path, address, &code);
	inlined_places(names, m, &code, place);
	if (place->libc && code.function)
		gt_symbols_lookup(names->symbolizer->symbols, m->module, m->path, code.function, &symbol);
	place->nameless = !symbol.exact;
	pthread_mutex_unlock(&names->symbolizer->lock);
	place->region = code.function ? function_of(names, code.function, m, GT_PARADIGM_SAMPLING)
				      : region_without_functions(names, m);
}

/* Code that is in no file, as far as the process has told. */
static void made_place(struct gt_names *names, uint64_t address, struct gt_place *place)
{
	*place = (struct gt_place){ .region = jit_region(names, address), .source = GT_UNDEFINED };
	if (place->region == GT_UNDEFINED)
		place->region = region_without_functions(names, NULL);
}

void gt_names_place(struct gt_names *names, uint64_t address, uint32_t mapping, struct gt_place *place)
{
	const struct gt_mapping *m = mapping_at(names, mapping);
	char key[GT_NAME_MAX + 64];
	size_t bytes;

	if (!m) {
		made_place(names, address, place);
		return;
	}
	bytes = function_key(names, address, m, key, sizeof(key));
	if (gt_defs_place_known(names->defs, key, bytes, place))
		return;
	look_up_place(names, address, m, place);
	gt_defs_place(names->defs, key, bytes, place);
}

uint32_t gt_names_string(struct gt_names *names, uint32_t id, const char *fallback)
{
	const char *text = gt_proc_string(names->proc, id);

	return gt_defs_string(names->defs, text ? text : fallback);
}

/* The file whose code lies next before a variable: its data do. */
static const struct gt_mapping *owner_of(const struct gt_names *names, uint64_t address)
{
	const struct gt_mapping *best = NULL;

	for (uint32_t i = 0; i < names->mapping_count; i++) {
		const struct gt_mapping *m = &names->mappings[i];

		if (m->module->start <= address && (!best || m->module->start >= best->module->start))
			best = m;
	}
	return best;
}

/* Makes "NAME (variable)" of `name` in `text`, if it is known. The symbolizer's lock is held. */
static const char *add_variable(struct gt_names *names, uint64_t address, const char *name, char *text,
				size_t size)
{
	const struct gt_mapping *m = address ? owner_of(names, address) : NULL;
	const char *symbol =
		m ? gt_symbols_variable(names->symbolizer->symbols, m->module, m->path, address) : NULL;
	char variable[256];

	if (!symbol || !gt_half_variable(symbol, variable, sizeof(variable)))
		return name;
	snprintf(text, size, "%.100s (%.90s)", name, variable);
	return text;
}

/* A region that stands for a place in the code has its line, and is called by it. */
static void place_region(struct gt_names *names, const struct gt_def_region *def, struct gt_region *region,
			 const char *name)
{
	uint64_t address = def->address;
	uint32_t mapping = gt_names_mapping(names, address, UINT64_MAX);
	const struct gt_mapping *m = mapping == GT_NO_MAPPING ? NULL : &names->mappings[mapping];
	char text[GT_NAME_MAX + 64], longer[200];
	struct gt_symbol symbol;
	const char *base;

	pthread_mutex_lock(&names->symbolizer->lock);
	name = add_variable(names, def->variable, name, longer, sizeof(longer));
	gt_symbols_code(names->symbolizer->symbols, m ? m->module : NULL, m ? m->path : NULL, address,
			&symbol);
	base = symbol.file ? strrchr(symbol.file, '/') : NULL;
	base = base ? base + 1 : symbol.file;
	if (base)
		snprintf(text, sizeof(text), "%.200s @%.500s:%u", name, base, symbol.line);
	else
		snprintf(text, sizeof(text), "%.200s @%.500s", name, symbol.name);
	region->name = region->canonical = gt_defs_string(names->defs, text);
	if (symbol.file) {
		region->file = gt_defs_string(names->defs, symbol.file);
		region->begin = region->end = symbol.line;
	}
	pthread_mutex_unlock(&names->symbolizer->lock);
}

uint32_t gt_names_region(struct gt_names *names, uint32_t id)
{
	const struct gt_def_region *def = gt_proc_find(names->proc, GT_D_REGION, id, NULL);
	struct gt_region region = { .group = GT_UNDEFINED, .role = ROLE_FUNCTION };
	char text[64], demangled[GT_NAME_MAX + 1];
	const char *canonical;
	uint32_t alone = 0;

	if (def) {
		snprintf(text, sizeof(text), "region %u", id);
		region.canonical = gt_names_string(names, def->canonical ? def->canonical : def->name, text);
		canonical = gt_proc_string(names->proc, def->canonical);
		if (def->name)
			region.name = gt_names_string(names, def->name, text);
		else if (canonical && def->flags & GT_REGION_BRIEF)
			region.name = gt_defs_string(names->defs, gt_brief_name(canonical, demangled));
		else if (canonical && gt_demangled(canonical, demangled))
			region.name = gt_defs_string(names->defs, demangled);
		else
			region.name = region.canonical;
		region.file = gt_names_string(names, def->file, "");
		region.description = gt_names_string(names, def->description, "");
		if (def->group)
			region.group = gt_names_string(names, def->group, "");
		region.begin = def->begin_line;
		region.end = def->end_line;
		region.role = def->role <= GT_ROLE_MOST ? def->role : 0;
		region.paradigm = def->paradigm <= GT_PARADIGM_MOST ? def->paradigm : 0;
		region.flags = def->flags & 3;
		if (def->address && gt_proc_string(names->proc, def->name))
			place_region(names, def, &region, gt_proc_string(names->proc, def->name));
	} else {
		snprintf(text, sizeof(text), "region %u (definition lost)", id);
		region.name = region.canonical = gt_defs_string(names->defs, text);
		region.made_up = true;
		alone = (uint32_t)(names->proc - names->proc->spool->procs) + 1;
	}
	return gt_defs_named_region(names->defs, &region, alone);
}
