/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenCL, as a program uses it that knows nothing of a tool: it says what it enqueued (standard error), what
 * devices say of its queues and events, and when they ran its kernels where it asked for that.
 *
 * usage: program [blocked|killed]
 *	blocked: ends while a command waits for an event that nobody sets
 *	killed: is killed when it has waited for all that it enqueued
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 4096, LAUNCHES = 50, THREADS = 4 };

static const char *const source =
	"__kernel void scale(__global float *a, float by) { a[get_global_id(0)] *= by; }\n"
	"__kernel void add(__global float *a, __global const float *b) {\n"
	"	size_t i = get_global_id(0) + get_global_size(0) * get_global_id(1);\n"
	"	a[i] += b[i]; }\n";

static cl_context context;
static cl_device_id device;
static cl_program program;
static float host[ITEMS];

static void must(cl_int error, const char *what)
{
	if (error) {
		printf("%s: %d\n", what, error);
		exit(1);
	}
}

static cl_mem buffer(void)
{
	cl_int error;
	cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(host), NULL, &error);

	must(error, "clCreateBuffer");
	return made;
}

static cl_kernel scale_kernel(cl_mem of, float by)
{
	cl_int error;
	cl_kernel kernel = clCreateKernel(program, "scale", &error);

	must(error, "clCreateKernel");
	must(clSetKernelArg(kernel, 0, sizeof(of), &of), "argument");
	must(clSetKernelArg(kernel, 1, sizeof(by), &by), "argument");
	return kernel;
}

/* What the program sees of a queue, and of an event in it. */
static void answers(cl_command_queue queue, cl_event event)
{
	cl_command_queue_properties bits = 0;
	cl_ulong array[8] = { 0 }, time;
	cl_uint references = 0;
	size_t bytes = 0;

	must(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(bits), &bits, NULL), "properties");
	must(clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, sizeof(array), array, &bytes), "array");
	must(clWaitForEvents(1, &event), "clWaitForEvents");
	must(clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(references), &references, NULL),
	     "references");
	printf("properties %d array %zu %d %d, profiling %d\n", (int)bits, bytes, (int)array[0],
	       (int)array[1],
	       clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(time), &time, NULL));
}

static void in_order(void)
{
	size_t items = ITEMS, local = 64, row[3] = { 256, 2, 1 }, none[3] = { 0, 0, 0 };
	cl_mem one = buffer(), two = buffer();
	cl_command_queue queue;
	float zero = 0, *at;
	cl_kernel kernel;
	cl_event event;
	cl_int error;

	queue = clCreateCommandQueue(context, device, 0, &error);
	must(error, "clCreateCommandQueue");
	kernel = scale_kernel(one, 2);
	for (int i = 0; i < ITEMS; i++)
		host[i] = 1;
	must(clEnqueueWriteBuffer(queue, one, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL), "write");
	for (int i = 0; i < LAUNCHES; i++) {
		must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, i % 2 ? &local : NULL, 0, NULL,
					    i == 0 ? &event : NULL), "kernel");
		if (i == 20 || i == 40) /* so that the numbers stay finite */
			must(clEnqueueWriteBuffer(queue, one, CL_FALSE, 0, sizeof(host), host, 0, NULL, NULL),
			     "write");
	}
	answers(queue, event);
	must(clReleaseEvent(event), "clReleaseEvent");
	must(clEnqueueCopyBuffer(queue, one, two, 0, 0, sizeof(host), 0, NULL, &event), "copy");
	must(clReleaseEvent(event), "clReleaseEvent"); /* early */
	must(clEnqueueFillBuffer(queue, one, &zero, sizeof(zero), 0, 1024, 0, NULL, NULL), "fill");
	must(clEnqueueReadBufferRect(queue, two, CL_TRUE, none, none, row, 1024, 0, 1024, 0, host, 0, NULL,
				     NULL),
	     "rectangle");
	at = clEnqueueMapBuffer(queue, two, CL_TRUE, CL_MAP_READ, 0, sizeof(host), 0, NULL, NULL, &error);
	must(error, "map");
	printf("%g\n", at[ITEMS - 1]);
	must(clEnqueueUnmapMemObject(queue, two, at, 0, NULL, NULL), "unmap");
	must(clEnqueueReadBuffer(queue, two, CL_TRUE, 0, sizeof(host), host, 0, NULL, NULL), "read");
	must(clReleaseKernel(kernel), "kernel");
	must(clReleaseCommandQueue(queue), "queue");
	fprintf(stderr, "calls scale %d\ncalls clEnqueueNDRangeKernel %d\ncalls clEnqueueWriteBuffer 3\n",
		LAUNCHES, LAUNCHES);
	fprintf(stderr,
		"calls OpenCL write buffer 3\ncalls OpenCL read buffer 2\ncalls OpenCL copy buffer 1\n");
	fprintf(stderr, "calls OpenCL fill buffer 1\ncalls OpenCL map 1\ncalls OpenCL unmap 1\n");
}

/* With profiling of the program's own: when each kernel ran, in the device's nanoseconds. */
static void out_of_order(void)
{
	cl_queue_properties wanted[] = { CL_QUEUE_PROPERTIES,
					 CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE,
					 0 };
	cl_queue_properties plain[] = { CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0 };
	size_t items[2] = { 64, 64 };
	cl_mem one = buffer(), two = buffer();
	cl_event events[LAUNCHES];
	cl_command_queue queue;
	cl_kernel kernel;
	cl_int error;

	queue = clCreateCommandQueueWithProperties(context, device, wanted, &error);
	must(error, "clCreateCommandQueueWithProperties");
	kernel = clCreateKernel(program, "add", &error);
	must(error, "clCreateKernel");
	must(clSetKernelArg(kernel, 0, sizeof(one), &one), "argument");
	must(clSetKernelArg(kernel, 1, sizeof(two), &two), "argument");
	for (int i = 0; i < LAUNCHES; i++)
		must(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, items, NULL, 0, NULL, &events[i]),
		     "kernel");
	must(clWaitForEvents(LAUNCHES, events), "clWaitForEvents");
	for (int i = 0; i < LAUNCHES; i++) {
		cl_ulong start, end;

		must(clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_START, sizeof(start), &start,
					     NULL),
		     "profiling");
		must(clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof(end), &end, NULL),
		     "profiling");
		fprintf(stderr, "ran %llu %llu\n", (unsigned long long)start, (unsigned long long)end);
		must(clReleaseEvent(events[i]), "clReleaseEvent");
	}
	must(clReleaseCommandQueue(queue), "queue");
	queue = clCreateCommandQueueWithProperties(context, device, plain, &error);
	must(error, "clCreateCommandQueueWithProperties");
	must(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, items, NULL, 0, NULL, &events[0]), "kernel");
	answers(queue, events[0]);
	must(clReleaseEvent(events[0]), "clReleaseEvent");
	must(clFinish(queue), "clFinish");
	fprintf(stderr, "calls add %d\ncalls clEnqueueNDRangeKernel %d\ncalls clFinish 1\n", LAUNCHES + 1,
		LAUNCHES + 1);
}

/* A queue of its own, and nobody waits but the last clFinish(). */
static void *thread(void *unused)
{
	size_t items = ITEMS;
	cl_int error;
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
	cl_kernel kernel = scale_kernel(buffer(), 1);

	must(error, "clCreateCommandQueue");
	for (int i = 0; i < LAUNCHES; i++)
		must(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL), "kernel");
	must(clFinish(queue), "clFinish");
	return unused;
}

static void blocked(void)
{
	size_t items = ITEMS;
	cl_int error;
	cl_command_queue queue = clCreateCommandQueue(context, device, 0, &error);
	cl_event never = clCreateUserEvent(context, &error);

	must(clEnqueueNDRangeKernel(queue, scale_kernel(buffer(), 1), 1, NULL, &items, NULL, 0, NULL, NULL),
	     "kernel");
	must(clFinish(queue), "clFinish");
	must(clEnqueueNDRangeKernel(queue, scale_kernel(buffer(), 1), 1, NULL, &items, NULL, 1, &never, NULL),
	     "kernel");
	must(clFlush(queue), "clFlush");
	fprintf(stderr, "calls scale 1\ncalls clEnqueueNDRangeKernel 2\n");
	fflush(NULL);
	exit(0);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	cl_platform_id platform;
	cl_int error;

	must(clGetPlatformIDs(1, &platform, NULL), "clGetPlatformIDs");
	must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "clGetDeviceIDs");
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	must(error, "clCreateContext");
	program = clCreateProgramWithSource(context, 1, (const char **)&source, NULL, &error);
	must(error, "clCreateProgramWithSource");
	must(clBuildProgram(program, 1, &device, "", NULL, NULL), "clBuildProgram");
	fprintf(stderr, "calls clBuildProgram 1\n");
	if (argc > 1 && !strcmp(argv[1], "blocked"))
		blocked();
	in_order();
	out_of_order();
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thread, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	fflush(stdout);
	fprintf(stderr, "calls scale %d\ncalls clEnqueueNDRangeKernel %d\ncalls clFinish %d\n",
		THREADS * LAUNCHES, THREADS * LAUNCHES, THREADS);
	if (argc > 1 && !strcmp(argv[1], "killed"))
		raise(SIGKILL);
	return 0;
}
