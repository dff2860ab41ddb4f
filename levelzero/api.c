/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loader's functions, by which the adapter calls Level Zero itself; and its lock.
 *
 * Limits: the loader must be in the process already.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "levelzero/levelzero.h"

struct gt_ze_functions gt_ze;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool alive;

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

bool gt_ze_alive(void)
{
	return alive;
}

void gt_ze_set_alive(bool is)
{
	alive = is;
}

bool gt_ze_lock(bool try)
{
	if (!gt_ze_alive())
		return false;
	gt_guard();
	if (try ? !pthread_mutex_trylock(&lock) : !pthread_mutex_lock(&lock))
		return true;
	gt_unguard();
	return false;
}

void gt_ze_unlock(void)
{
	pthread_mutex_unlock(&lock);
	gt_unguard();
}
