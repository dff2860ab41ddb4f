/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of calls.h.
 */
#include "config.h"

#include "lib/assemble/util/calls.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct rule {
	const char *prefix; /* "=name": the whole name */
	enum gt_call call;
};

/* The first that fits decides. Names without "MPI_" or "PMPI_". */
static const struct rule message_rules[] = {
	{ "=Init", GT_CALL_SETUP },
	{ "=Init_thread", GT_CALL_SETUP },
	{ "=Finalize", GT_CALL_SETUP },
	{ "Session_", GT_CALL_SETUP },
	{ "=Send", GT_CALL_SEND },
	{ "=Ssend", GT_CALL_SEND },
	{ "=Bsend", GT_CALL_SEND },
	{ "=Rsend", GT_CALL_SEND },
	{ "=Recv", GT_CALL_RECV },
	{ "=Mrecv", GT_CALL_RECV },
	{ "Sendrecv", GT_CALL_SENDRECV },
	{ "=Isend", GT_CALL_START },
	{ "=Issend", GT_CALL_START },
	{ "=Ibsend", GT_CALL_START },
	{ "=Irsend", GT_CALL_START },
	{ "=Irecv", GT_CALL_START },
	{ "=Imrecv", GT_CALL_START },
	{ "Isendrecv", GT_CALL_START },
	{ "=Start", GT_CALL_START },
	{ "=Startall", GT_CALL_START },
	{ "Wait", GT_CALL_WAIT },
	{ "=Probe", GT_CALL_WAIT },
	{ "=Mprobe", GT_CALL_WAIT },
	{ "Test", GT_CALL_TEST },
	{ "=Iprobe", GT_CALL_TEST },
	{ "=Improbe", GT_CALL_TEST },
	{ "=Barrier", GT_CALL_BARRIER },
	{ "File_", GT_CALL_FILE },
	{ "Win_", GT_CALL_RMA },
	{ "=Put", GT_CALL_RMA },
	{ "=Get", GT_CALL_RMA },
	{ "Accumulate", GT_CALL_RMA },
	{ "Get_accumulate", GT_CALL_RMA },
	{ "Rput", GT_CALL_RMA },
	{ "Rget", GT_CALL_RMA },
	{ "Raccumulate", GT_CALL_RMA },
	{ "Fetch_and_op", GT_CALL_RMA },
	{ "Compare_and_swap", GT_CALL_RMA },
	{ "Bcast", GT_CALL_COLLECTIVE },
	{ "Gather", GT_CALL_COLLECTIVE },
	{ "Scatter", GT_CALL_COLLECTIVE },
	{ "Allgather", GT_CALL_COLLECTIVE },
	{ "Alltoall", GT_CALL_COLLECTIVE },
	{ "=Reduce", GT_CALL_COLLECTIVE },
	{ "Reduce_scatter", GT_CALL_COLLECTIVE },
	{ "Allreduce", GT_CALL_COLLECTIVE },
	{ "Scan", GT_CALL_COLLECTIVE },
	{ "Exscan", GT_CALL_COLLECTIVE },
	{ "Neighbor_", GT_CALL_COLLECTIVE },
	{ "Comm_dup", GT_CALL_COLLECTIVE },
	{ "Comm_split", GT_CALL_COLLECTIVE },
	{ "=Comm_create", GT_CALL_COLLECTIVE },
	{ "Ibarrier", GT_CALL_START },
	{ "Ibcast", GT_CALL_START },
	{ "Igather", GT_CALL_START },
	{ "Iscatter", GT_CALL_START },
	{ "Iall", GT_CALL_START },
	{ "Ireduce", GT_CALL_START },
	{ "Iscan", GT_CALL_START },
	{ "Iexscan", GT_CALL_START },
	{ "Ineighbor_", GT_CALL_START },
};

/* On the host. Names without "cuda", "cu" or "hip". */
static const struct rule cuda_rules[] = {
	{ "LaunchHostFunc", GT_CALL_DEVICE_OTHER },
	{ "Launch", GT_CALL_LAUNCH },
	{ "GraphLaunch", GT_CALL_LAUNCH },
	{ "Memcpy", GT_CALL_COPY },
	{ "Memset", GT_CALL_COPY },
	{ "CtxSynchronize", GT_CALL_DEVICE_WAIT },
	{ "DeviceSynchronize", GT_CALL_DEVICE_WAIT },
	{ "ThreadSynchronize", GT_CALL_DEVICE_WAIT },
	{ "StreamSynchronize", GT_CALL_DEVICE_WAIT },
	{ "EventSynchronize", GT_CALL_DEVICE_WAIT },
	{ "StreamQuery", GT_CALL_DEVICE_POLL },
	{ "EventQuery", GT_CALL_DEVICE_POLL },
	{ "Malloc", GT_CALL_DEVICE_MEMORY },
	{ "Free", GT_CALL_DEVICE_MEMORY },
	{ "MemAlloc", GT_CALL_DEVICE_MEMORY },
	{ "MemFree", GT_CALL_DEVICE_MEMORY },
	{ "MemHost", GT_CALL_DEVICE_MEMORY },
	{ "Host", GT_CALL_DEVICE_MEMORY },
	{ "Array", GT_CALL_DEVICE_MEMORY },
};

/* Names without "cl". */
static const struct rule opencl_rules[] = {
	{ "EnqueueNDRangeKernel", GT_CALL_LAUNCH },
	{ "EnqueueTask", GT_CALL_LAUNCH },
	{ "EnqueueNativeKernel", GT_CALL_LAUNCH },
	{ "EnqueueMarker", GT_CALL_DEVICE_OTHER },
	{ "EnqueueBarrier", GT_CALL_DEVICE_OTHER },
	{ "EnqueueWaitForEvents", GT_CALL_DEVICE_OTHER },
	{ "Enqueue", GT_CALL_COPY },
	{ "Finish", GT_CALL_DEVICE_WAIT },
	{ "WaitForEvents", GT_CALL_DEVICE_WAIT },
	{ "CreateBuffer", GT_CALL_DEVICE_MEMORY },
	{ "CreateImage", GT_CALL_DEVICE_MEMORY },
	{ "ReleaseMemObject", GT_CALL_DEVICE_MEMORY },
	{ "SVMAlloc", GT_CALL_DEVICE_MEMORY },
};

/* Names without "ze". */
static const struct rule level_zero_rules[] = {
	{ "CommandListAppendLaunch", GT_CALL_LAUNCH },
	{ "CommandListAppendMemoryCopy", GT_CALL_COPY },
	{ "CommandListAppendMemoryFill", GT_CALL_COPY },
	{ "CommandListAppendImage", GT_CALL_COPY },
	{ "CommandQueueExecute", GT_CALL_LAUNCH },
	{ "CommandQueueSynchronize", GT_CALL_DEVICE_WAIT },
	{ "FenceHostSynchronize", GT_CALL_DEVICE_WAIT },
	{ "EventHostSynchronize", GT_CALL_DEVICE_WAIT },
	{ "Mem", GT_CALL_DEVICE_MEMORY },
	{ "PhysicalMem", GT_CALL_DEVICE_MEMORY },
	{ "VirtualMem", GT_CALL_DEVICE_MEMORY },
	{ "Image", GT_CALL_DEVICE_MEMORY },
};

static bool fits(const char *name, const char *prefix)
{
	if (*prefix == '=')
		return !strcasecmp(name, prefix + 1);
	return !strncasecmp(name, prefix, strlen(prefix));
}

static enum gt_call by_rules(const char *name, const struct rule *rules, size_t count, enum gt_call other)
{
	for (size_t i = 0; i < count; i++)
		if (fits(name, rules[i].prefix))
			return rules[i].call;
	return other;
}

#define BY_RULES(name, rules, other) by_rules(name, rules, sizeof(rules) / sizeof((rules)[0]), other)

/* Fortran's names are in lower case and end with "_". */
enum gt_call gt_message_call(const char *name)
{
	char plain[64];
	size_t n;

	name += *name == 'P' || *name == 'p';
	if (strncasecmp(name, "MPI_", 4))
		return GT_CALL_NONE;
	name += 4;
	n = strnlen(name, sizeof(plain) - 1);
	memcpy(plain, name, n);
	while (n && plain[n - 1] == '_')
		n--;
	plain[n] = '\0';
	return BY_RULES(plain, message_rules, GT_CALL_OTHER);
}

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

enum gt_call gt_device_call(const char *name)
{
	if (strstr(name, "IDLE"))
		return begins(name, "HOST") ? GT_CALL_HIDDEN_WAIT : GT_CALL_DEVICE_IDLE;
	if (strstr(name, "SYNCHRONIZE"))
		return GT_CALL_DEVICE_WAIT;
	name += begins(name, "__");
	if (begins(name, "cuda"))
		return BY_RULES(name + 4, cuda_rules, GT_CALL_DEVICE_OTHER);
	if (begins(name, "hip"))
		return BY_RULES(name + 3, cuda_rules, GT_CALL_DEVICE_OTHER);
	if (begins(name, "cu"))
		return BY_RULES(name + 2, cuda_rules, GT_CALL_DEVICE_OTHER);
	if (begins(name, "cl"))
		return BY_RULES(name + 2, opencl_rules, GT_CALL_DEVICE_OTHER);
	if (begins(name, "ze"))
		return BY_RULES(name + 2, level_zero_rules, GT_CALL_DEVICE_OTHER);
	return GT_CALL_DEVICE_OTHER;
}

bool gt_call_async(const char *name)
{
	return strstr(name, "Async");
}

enum gt_activity gt_activity(const char *group)
{
	if (!begins(group, "CUDA_") && !begins(group, "HIP_") && !begins(group, "OPENCL_") &&
	    !begins(group, "ZE_"))
		return GT_ACTIVITY_NONE;
	group = strchr(group, '_') + 1;
	return begins(group, "KERNEL")	 ? GT_ACTIVITY_KERNEL
	       : begins(group, "MEMCPY") ? GT_ACTIVITY_COPY
	       : begins(group, "MEMSET") ? GT_ACTIVITY_SET : GT_ACTIVITY_NONE;
}

bool gt_copy_pageable(const char *name)
{
	return strstr(name, "pageable");
}

static bool is_one(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name))
		names++;
	return *names;
}

/* Blocks as CUDA and HIP have them, groups as OpenCL and Level Zero have them. */
enum gt_size gt_size_of(const char *parameter)
{
	static const char *const grids[] = { "grid", "blocks per grid", "group count", NULL };
	static const char *const blocks[] = { "block", "threads per block", "group size", "local work size",
					      NULL };

	return is_one(parameter, grids)	   ? GT_SIZE_GRID
	       : is_one(parameter, blocks) ? GT_SIZE_BLOCK
	       : strcmp(parameter, "global work size") ? GT_SIZE_NONE : GT_SIZE_ITEMS;
}

uint64_t gt_size_product(const char *text)
{
	uint64_t value = 1;
	char *end;

	for (text += strcspn(text, "0123456789"); *text; text = end + strcspn(end, "0123456789"))
		value *= strtoull(text, &end, 10);
	return value;
}
