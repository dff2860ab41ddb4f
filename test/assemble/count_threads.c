/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To preload: says on stderr how many threads a program made, and how many readings of counters another
 * thread wrote than the one that wrote the first.
 *
 * Limits: only those made with pthread_create.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <otf2/otf2.h>
#include <stdio.h>

static int made;

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		(int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(
			RTLD_NEXT, "pthread_create");

	__atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
	return real(thread, attr, start, arg);
}

static unsigned readings;
static _Thread_local bool is_first;

OTF2_ErrorCode OTF2_EvtWriter_Metric(OTF2_EvtWriter *writer, OTF2_AttributeList *attributes,
				     OTF2_TimeStamp time, OTF2_MetricRef metric, uint8_t count,
				     const OTF2_Type *types, const OTF2_MetricValue *values)
{
	static __typeof__(OTF2_EvtWriter_Metric) *real;
	static bool any;

	if (!real)
		real = (__typeof__(real))dlsym(RTLD_NEXT, "OTF2_EvtWriter_Metric");
	is_first |= !__atomic_exchange_n(&any, true, __ATOMIC_RELAXED);
	if (!is_first)
		__atomic_add_fetch(&readings, 1, __ATOMIC_RELAXED);
	return real(writer, attributes, time, metric, count, types, values);
}

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "threads made: %d\nreadings by another: %u\n", made, readings);
}
