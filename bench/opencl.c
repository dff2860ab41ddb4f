/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels of one work-item, enqueued one after the other and waited for every 1,000.
 *
 * usage: opencl N; prints ns_per_launch=...
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	const char *text = "__kernel void nothing(__global int *a) { a[0]++; }";
	long n = argc > 1 ? atol(argv[1]) : 100000;
	cl_platform_id platform;
	cl_device_id device;
	cl_int error;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;
	cl_mem memory;
	size_t one = 1;
	double begun;

	if (clGetPlatformIDs(1, &platform, NULL) ||
	    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		return 1;
	context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	queue = clCreateCommandQueue(context, device, 0, &error);
	program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
	if (error || clBuildProgram(program, 1, &device, "", NULL, NULL))
		return 1;
	kernel = clCreateKernel(program, "nothing", &error);
	memory = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(int), NULL, &error);
	clSetKernelArg(kernel, 0, sizeof(memory), &memory);
	clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL);
	clFinish(queue);
	begun = now();
	for (long i = 1; i <= n; i++) {
		if (clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, &one, 0, NULL, NULL))
			return 1;
		if (i % 1000 == 0)
			clFinish(queue);
	}
	clFinish(queue);
	printf("ns_per_launch=%.1f\n", (now() - begun) / (double)n);
	return 0;
}
