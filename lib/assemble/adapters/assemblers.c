/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The assembling halves of adapters; see assemblers.h.
 *
 * Limits: see there.
 */
#include "config.h"

#include "lib/assemble/adapters/assemblers.h"

#include <string.h>

#define PLACE_SHIFT 24 /* an assembling half << this, and the place among its records */

static const struct gt_assembler *list[GT_ASSEMBLERS_MOST];
static struct gt_assembler own[GT_ASSEMBLERS_MOST]; /* those whose struct another gputrace has made */

bool gt_assembler_add(const struct gt_assembler *one)
{
	size_t n = 0;

	while (list[n])
		n++;
	if (n + 1 >= GT_ASSEMBLERS_MOST || !gt_sized_in(&own[n], sizeof(own[n]), GT_FIRST_ASSEMBLER, one))
		return false;
	list[n] = &own[n];
	return true;
}

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

bool gt_assemblers_name(const struct gt_loc *loc, char *text, size_t size)
{
	for (size_t i = 0; gt_assembler(i); i++)
		if (list[i]->location_name && list[i]->location_name(loc, text, size))
			return true;
	return false;
}

uint32_t gt_assembler_record(const struct gt_proc *proc, uint32_t id)
{
	const struct gt_def_record *def = gt_proc_find(proc, GT_D_RECORD, id, NULL);
	const char *adapter = def ? gt_proc_string(proc, def->adapter) : NULL;
	const char *name = def ? gt_proc_string(proc, def->name) : NULL;

	for (uint32_t i = 0; adapter && name && gt_assembler(i); i++)
		for (uint32_t k = 0;
		     !strcmp(list[i]->name, adapter) && list[i]->records && list[i]->records[k].name; k++)
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
