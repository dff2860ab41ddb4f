/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrays that grow by one item at a time. Limits: memory is given back by free() alone.
 */
#ifndef GT_ASSEMBLE_ARRAY_H
#define GT_ASSEMBLE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static inline bool gt_array_grow(void *array, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 16;
	void *items;

	memcpy(&items, array, sizeof(items));
	items = reallocarray(items, more, size);
	if (!items)
		return false;
	memcpy(array, &items, sizeof(items));
	*room = more;
	return true;
}

/*
 * Is there room for one more item in `array`, which has `count`, and room for `*room` (a size_t)? The array
 * may move. false: there is no memory, and nothing has changed.
 */
#define gt_array_has_room(array, count, room) \
	((count) < *(room) || gt_array_grow(&(array), (room), sizeof(*(array))))

#endif
