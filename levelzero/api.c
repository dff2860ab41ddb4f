/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loader's functions, by which the adapter calls Level Zero itself.
 *
 * Limits: the loader must be in the process already.
 */
#include <dlfcn.h>

#include "levelzero/levelzero.h"

struct gt_ze_functions gt_ze;

bool gt_ze_functions_find(void)
{
	void *loader = dlopen("libze_loader.so.1", RTLD_LAZY | RTLD_NOLOAD);
	bool all = loader;

#define FIND(name, arguments) \
	all = all && (gt_ze.name = (int(*) arguments)dlsym(loader, "ze" #name));
	GT_ZE_FUNCTIONS(FIND)
#undef FIND
	return all;
}
