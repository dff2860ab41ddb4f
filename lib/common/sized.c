/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a struct of the door was refused; see sized.h.
 *
 * Limits: see there.
 */
#include "config.h"

#include "lib/common/sized.h"
#include "lib/common/text.h"

#include <dlfcn.h>
#include <link.h>

const char *gt_sized_object(const void *address)
{
	struct link_map *map = NULL;
	Dl_info info;

	if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) && map && *map->l_name)
		return map->l_name;
	return "an adapter";
}

const char *gt_sized_refusal(char *buffer, size_t room, const char *function, size_t bytes, size_t first,
			     const void *caller)
{
	gt_text(buffer, room,
		"%s: %s() got a struct with bytes = %lu, and the smallest there ever was has %lu: compile it "
		"with the headers of a released gputrace; what it defines is missing",
		gt_sized_object(caller), function, (unsigned long)bytes, (unsigned long)first);
	return buffer;
}
