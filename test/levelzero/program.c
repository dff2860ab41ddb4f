/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Level Zero, as a program uses it that knows nothing of a tool: it says what it had executed (standard
 * error), and on standard output what it sees itself of its events.
 *
 * usage: program [blocked|killed|fork|plain]
 *	blocked: ends while a command waits for an event that nobody sets
 *	killed: is killed when it has waited for all that it had executed
 *	fork: a child goes on with what it has
 *	plain: the program reads no times of events
 */
#include <level_zero/ze_api.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 4096, LAUNCHES = 50, THREADS = 4, AGAIN = 40, RUNS = 5 * 2 + AGAIN + 2 };

static ze_context_handle_t context;
static ze_device_handle_t device;
static ze_module_handle_t module;
static char *on_device, *other, host[BYTES];

static void must(ze_result_t rc, const char *what)
{
	if (rc) {
		printf("%s: 0x%x\n", what, rc);
		exit(1);
	}
}

static ze_kernel_handle_t kernel_of(const char *name)
{
	ze_kernel_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name };
	ze_kernel_handle_t kernel;

	must(zeKernelCreate(module, &desc, &kernel), "zeKernelCreate");
	must(zeKernelSetGroupSize(kernel, 64, 1, 1), "zeKernelSetGroupSize");
	return kernel;
}

static ze_event_pool_handle_t pool_of(unsigned flags)
{
	ze_event_pool_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
				      .flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | flags,
				      .count = 64 };
	ze_event_pool_handle_t pool;

	must(zeEventPoolCreate(context, &desc, 0, NULL, &pool), "zeEventPoolCreate");
	return pool;
}

static ze_event_handle_t event_of(ze_event_pool_handle_t pool, unsigned index)
{
	ze_event_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
				 .index = index,
				 .signal = ZE_EVENT_SCOPE_FLAG_HOST };
	ze_event_handle_t event;

	must(zeEventCreate(pool, &desc, &event), "zeEventCreate");
	return event;
}

static ze_command_list_handle_t immediate(ze_command_queue_mode_t mode)
{
	ze_command_queue_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, .mode = mode };
	ze_command_list_handle_t list;

	must(zeCommandListCreateImmediate(context, device, &desc, &list), "zeCommandListCreateImmediate");
	return list;
}

static void launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel, unsigned groups,
		   ze_event_handle_t signal, ze_event_handle_t wait)
{
	ze_group_count_t count = { groups, 1, 1 };

	must(zeCommandListAppendLaunchKernel(list, kernel, &count, signal, wait ? 1 : 0, wait ? &wait : NULL),
	     "zeCommandListAppendLaunchKernel");
}

static void settle(ze_command_list_handle_t list, ze_event_handle_t event)
{
	must(zeCommandListAppendBarrier(list, event, 0, NULL), "zeCommandListAppendBarrier");
	must(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
	must(zeEventHostReset(event), "zeEventHostReset");
}

/* What the program sees of an event without timestamps. */
static void answers(ze_event_handle_t event)
{
	ze_kernel_timestamp_result_t times;

	printf("status 0x%x, times 0x%x\n", zeEventQueryStatus(event),
	       zeEventQueryKernelTimestamp(event, &times));
}

static void at_once(void)
{
	ze_event_pool_handle_t pool = pool_of(0);
	ze_event_handle_t event = event_of(pool, 0), chain = event_of(pool, 1);
	ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_kernel_handle_t scale = kernel_of("scale"), add = kernel_of("_Z3addPfS_");
	char zero = 0;

	for (int i = 0; i < LAUNCHES; i++)
		launch(list, scale, 20, NULL, NULL);
	launch(list, add, 3000, event, NULL); /* longer than all before it */
	must(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
	answers(event);
	must(zeEventHostReset(event), "zeEventHostReset");
	launch(list, add, 100, chain, NULL);
	launch(list, add, 50, event, chain);
	must(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
	printf("chained 0x%x\n", zeEventQueryStatus(chain));
	must(zeEventHostReset(event), "zeEventHostReset");
	memset(host, 7, BYTES);
	must(zeCommandListAppendMemoryCopy(list, on_device, host, BYTES, NULL, 0, NULL), "to the device");
	settle(list, event);
	must(zeCommandListAppendMemoryCopy(list, other, on_device, BYTES, event, 0, NULL), "on the device");
	must(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
	must(zeEventHostReset(event), "zeEventHostReset");
	must(zeCommandListAppendMemoryFill(list, on_device, &zero, 1, 1024, NULL, 0, NULL), "fill");
	must(zeCommandListAppendMemoryCopy(list, host, other, 512, NULL, 0, NULL), "from the device");
	settle(list, event);
	printf("%d %d\n", host[0], on_device[0]);
	zeEventDestroy(event);
	zeEventDestroy(chain);
	zeEventPoolDestroy(pool);
	zeCommandListDestroy(list);
	zeKernelDestroy(scale);
	zeKernelDestroy(add);
	fprintf(stderr,
		"calls scale %d\ncalls add(float*, float*) 3\ncalls zeCommandListAppendLaunchKernel %d\n",
		LAUNCHES, LAUNCHES + 3);
	fprintf(stderr, "calls Level Zero copy host to device 1\ncalls Level Zero copy device to device 1\n"
			"calls Level Zero copy device to host 1\ncalls Level Zero fill 1\n"
			"calls zeCommandListAppendMemoryCopy 3\ncalls zeCommandListAppendBarrier 2\n"
			"calls Level Zero barrier 2\nbytes 4096\nbytes 4096\nbytes 512\n");
}

/* Lists that are executed again and again: waited for each time, then not, then filled anew. */
static void executed(void)
{
	ze_command_queue_desc_t queue_desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC };
	ze_command_list_desc_t list_desc = { .stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC };
	ze_fence_desc_t fence_desc = { .stype = ZE_STRUCTURE_TYPE_FENCE_DESC };
	ze_event_pool_handle_t pool = pool_of(0);
	ze_event_handle_t event = event_of(pool, 0);
	ze_kernel_handle_t step = kernel_of("step"), last = kernel_of("last");
	ze_command_list_handle_t lists[2];
	ze_command_queue_handle_t queue;
	ze_fence_handle_t fence;

	must(zeCommandQueueCreate(context, device, &queue_desc, &queue), "zeCommandQueueCreate");
	must(zeFenceCreate(queue, &fence_desc, &fence), "zeFenceCreate");
	for (int i = 0; i < 2; i++) {
		must(zeCommandListCreate(context, device, &list_desc, &lists[i]), "zeCommandListCreate");
		launch(lists[i], step, 100, NULL, NULL);
		launch(lists[i], step, 200, i ? NULL : event, NULL);
		must(zeCommandListAppendMemoryCopy(lists[i], on_device, host, BYTES, NULL, 0, NULL), "copy");
		must(zeCommandListClose(lists[i]), "zeCommandListClose");
	}
	for (int i = 0; i < 5; i++) {
		must(zeCommandQueueExecuteCommandLists(queue, 2, lists, i == 4 ? fence : NULL), "execute");
		must(i == 4 ? zeFenceHostSynchronize(fence, UINT64_MAX)
			    : zeCommandQueueSynchronize(queue, UINT64_MAX),
		     "synchronize");
		printf("event 0x%x\n", zeEventQueryStatus(event));
		must(zeEventHostReset(event), "zeEventHostReset");
	}
	for (int i = 0; i < AGAIN; i++)
		must(zeCommandQueueExecuteCommandLists(queue, 1, &lists[1], NULL), "execute");
	must(zeCommandQueueExecuteCommandLists(queue, 2, (ze_command_list_handle_t[]){ lists[1], lists[1] },
					       NULL),
	     "execute");
	must(zeCommandQueueSynchronize(queue, UINT64_MAX), "zeCommandQueueSynchronize");
	must(zeCommandListReset(lists[1]), "zeCommandListReset");
	launch(lists[1], last, 10, NULL, NULL);
	must(zeCommandListClose(lists[1]), "zeCommandListClose");
	must(zeCommandQueueExecuteCommandLists(queue, 1, &lists[1], NULL), "execute");
	must(zeCommandQueueSynchronize(queue, UINT64_MAX), "zeCommandQueueSynchronize");
	zeCommandListDestroy(lists[0]);
	zeCommandListDestroy(lists[1]);
	zeFenceDestroy(fence);
	zeCommandQueueDestroy(queue);
	zeEventDestroy(event);
	zeEventPoolDestroy(pool);
	fprintf(stderr, "calls step %d\ncalls last 1\ncalls Level Zero copy host to device %d\n", 2 * RUNS,
		RUNS);
	fprintf(stderr,
		"calls zeCommandListAppendLaunchKernel 5\ncalls zeCommandQueueExecuteCommandLists %d\n"
		"calls zeCommandListAppendMemoryCopy 2\n",
		5 + AGAIN + 2);
	for (int i = 0; i < RUNS; i++)
		fprintf(stderr, "bytes 4096\n");
}

/* Events with timestamps of the program's: read, reset by the host, by the list, used again, destroyed. */
static void timed(void)
{
	ze_event_pool_handle_t pool = pool_of(ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP);
	ze_event_handle_t event = event_of(pool, 0), early = event_of(pool, 1), plain;
	ze_event_pool_handle_t plain_pool = pool_of(0);
	ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_kernel_handle_t kernel = kernel_of("timed");
	ze_kernel_timestamp_result_t times;
	int bits = getenv("FAKE_ZE_BITS") ? atoi(getenv("FAKE_ZE_BITS")) : 32;
	uint64_t mask = bits < 64 ? ((uint64_t)1 << bits) - 1 : (uint64_t)-1;

	plain = event_of(plain_pool, 0);
	for (int i = 0; i < 10; i++) {
		launch(list, kernel, 100 + 10 * (unsigned)i, event, NULL);
		must(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
		must(zeEventQueryKernelTimestamp(event, &times), "zeEventQueryKernelTimestamp");
		fprintf(stderr, "ticks %llu\n",
			(unsigned long long)((times.global.kernelEnd - times.global.kernelStart) & mask));
		must(zeEventHostReset(event), "zeEventHostReset");
	}
	launch(list, kernel, 300, event, NULL);
	must(zeCommandListAppendBarrier(list, NULL, 0, NULL), "zeCommandListAppendBarrier");
	must(zeCommandListAppendEventReset(list, event), "zeCommandListAppendEventReset");
	launch(list, kernel, 30, event, NULL);
	launch(list, kernel, 200, early, NULL);
	settle(list, plain);
	printf("timed 0x%x 0x%x\n", zeEventQueryStatus(event), zeEventQueryStatus(early));
	zeEventDestroy(early);
	zeEventDestroy(event);
	zeEventDestroy(plain);
	zeEventPoolDestroy(pool);
	zeEventPoolDestroy(plain_pool);
	zeCommandListDestroy(list);
	zeKernelDestroy(kernel);
	fprintf(stderr, "calls timed 13\ncalls zeCommandListAppendLaunchKernel 13\ncalls "
			"zeCommandListAppendBarrier 2\n"
			"calls Level Zero barrier 2\n");
}

/* A list of its own; each waits by itself. */
static void *thread(void *unused)
{
	ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
	ze_kernel_handle_t kernel = kernel_of("threads");

	for (int i = 0; i < LAUNCHES; i++)
		launch(list, kernel, 20, NULL, NULL);
	must(zeCommandListDestroy(list), "zeCommandListDestroy");
	return unused;
}

static void threads(void)
{
	pthread_t ids[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, thread, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	fprintf(stderr, "calls threads %d\ncalls zeCommandListAppendLaunchKernel %d\n", THREADS * LAUNCHES,
		THREADS * LAUNCHES);
}

static void blocked(void)
{
	ze_event_handle_t never = event_of(pool_of(0), 0), event = event_of(pool_of(0), 1);
	ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_kernel_handle_t kernel = kernel_of("scale");

	launch(list, kernel, 100, NULL, NULL);
	settle(list, event);
	launch(list, kernel, 100, NULL, never);
	fprintf(stderr, "calls scale 1\ncalls zeCommandListAppendLaunchKernel 2\n");
	exit(0);
}

static void killed(void)
{
	ze_event_handle_t event = event_of(pool_of(0), 0);
	ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_kernel_handle_t kernel = kernel_of("scale");

	for (int i = 1; i <= LAUNCHES; i++)
		launch(list, kernel, 20, i == LAUNCHES ? event : NULL, NULL);
	must(zeEventHostSynchronize(event, UINT64_MAX), "zeEventHostSynchronize");
	fprintf(stderr, "calls scale %d\ncalls zeCommandListAppendLaunchKernel %d\n", LAUNCHES, LAUNCHES);
	fflush(stdout);
	raise(SIGKILL);
}

/* The child has none of the driver's threads, and maybe its lock is held: it calls what takes none. */
static void forks(void)
{
	ze_event_handle_t event = event_of(pool_of(0), 0);
	ze_command_list_handle_t list = immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
	ze_kernel_handle_t kernel = kernel_of("scale");
	int status;
	pid_t pid;

	launch(list, kernel, 100, NULL, NULL);
	pid = fork();
	if (!pid)
		_exit(zeKernelSetGroupSize(kernel, 1, 1, 1) ? 1 : 0);
	waitpid(pid, &status, 0);
	printf("child %d\n", status);
	settle(list, event);
	fprintf(stderr, "calls scale 1\ncalls zeCommandListAppendLaunchKernel 1\n");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "all";
	ze_context_desc_t desc = { .stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC };
	ze_module_desc_t module_desc = { .stype = ZE_STRUCTURE_TYPE_MODULE_DESC };
	ze_device_mem_alloc_desc_t memory = { .stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC };
	ze_driver_handle_t driver;
	uint32_t one = 1;

	must(zeInit(0), "zeInit");
	must(zeDriverGet(&one, &driver), "zeDriverGet");
	must(zeDeviceGet(driver, &one, &device), "zeDeviceGet");
	must(zeContextCreate(driver, &desc, &context), "zeContextCreate");
	must(zeModuleCreate(context, device, &module_desc, &module, NULL), "zeModuleCreate");
	must(zeMemAllocDevice(context, &memory, BYTES, 64, device, (void **)&on_device), "zeMemAllocDevice");
	must(zeMemAllocDevice(context, &memory, BYTES, 64, device, (void **)&other), "zeMemAllocDevice");
	if (!strcmp(what, "blocked"))
		blocked();
	if (!strcmp(what, "fork")) {
		forks();
		return 0;
	}
	at_once();
	executed();
	if (!strcmp(what, "killed"))
		killed();
	if (strcmp(what, "plain") != 0)
		timed();
	threads();
	zeMemFree(context, on_device);
	zeMemFree(context, other);
	zeModuleDestroy(module);
	must(zeContextDestroy(context), "zeContextDestroy");
	fprintf(stderr, "calls zeContextDestroy 1\n");
	return 0;
}
