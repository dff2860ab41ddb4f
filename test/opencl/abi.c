/* SPDX-License-Identifier: BSD-3-Clause */
/* opencl/opencl.h and the places in opencl/layer.c against OpenCL's headers: it compiles if they agree. */
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_layer.h>

#include <stddef.h>

#include "opencl/opencl.h"

#define SAME(a, b)	   _Static_assert((long long)(a) == (long long)(b), #b)
#define PLACE(number, name) SAME(number, offsetof(cl_icd_dispatch, name) / sizeof(void *))

PLACE(GT_CL_GET_DEVICE_INFO, clGetDeviceInfo);
PLACE(GT_CL_CREATE_QUEUE, clCreateCommandQueue);
PLACE(GT_CL_RELEASE_QUEUE, clReleaseCommandQueue);
PLACE(GT_CL_GET_QUEUE_INFO, clGetCommandQueueInfo);
PLACE(GT_CL_GET_IMAGE_INFO, clGetImageInfo);
PLACE(GT_CL_GET_KERNEL_INFO, clGetKernelInfo);
PLACE(GT_CL_WAIT_FOR_EVENTS, clWaitForEvents);
PLACE(GT_CL_GET_EVENT_INFO, clGetEventInfo);
PLACE(GT_CL_RETAIN_EVENT, clRetainEvent);
PLACE(GT_CL_RELEASE_EVENT, clReleaseEvent);
PLACE(GT_CL_GET_EVENT_PROFILING_INFO, clGetEventProfilingInfo);
PLACE(GT_CL_FINISH, clFinish);
PLACE(GT_CL_MARKER, clEnqueueMarker);
PLACE(GT_CL_CREATE_QUEUE_WITH_PROPERTIES, clCreateCommandQueueWithProperties);
PLACE(4, clCreateContext);
PLACE(5, clCreateContextFromType);
PLACE(14, clCreateBuffer);
PLACE(18, clReleaseMemObject);
PLACE(26, clCreateProgramWithSource);
PLACE(27, clCreateProgramWithBinary);
PLACE(30, clBuildProgram);
PLACE(34, clCreateKernel);
PLACE(46, clFlush);
PLACE(48, clEnqueueReadBuffer);
PLACE(49, clEnqueueWriteBuffer);
PLACE(50, clEnqueueCopyBuffer);
PLACE(51, clEnqueueReadImage);
PLACE(52, clEnqueueWriteImage);
PLACE(53, clEnqueueCopyImage);
PLACE(54, clEnqueueCopyImageToBuffer);
PLACE(55, clEnqueueCopyBufferToImage);
PLACE(56, clEnqueueMapBuffer);
PLACE(57, clEnqueueMapImage);
PLACE(58, clEnqueueUnmapMemObject);
PLACE(59, clEnqueueNDRangeKernel);
PLACE(60, clEnqueueTask);
PLACE(61, clEnqueueNativeKernel);
PLACE(62, clEnqueueMarker);
PLACE(63, clEnqueueWaitForEvents);
PLACE(64, clEnqueueBarrier);
PLACE(86, clEnqueueReadBufferRect);
PLACE(87, clEnqueueWriteBufferRect);
PLACE(88, clEnqueueCopyBufferRect);
PLACE(96, clCreateImage);
PLACE(98, clCompileProgram);
PLACE(99, clLinkProgram);
PLACE(102, clEnqueueFillBuffer);
PLACE(103, clEnqueueFillImage);
PLACE(104, clEnqueueMigrateMemObjects);
PLACE(105, clEnqueueMarkerWithWaitList);
PLACE(106, clEnqueueBarrierWithWaitList);
PLACE(126, clSVMAlloc);
PLACE(129, clEnqueueSVMMemcpy);
PLACE(130, clEnqueueSVMMemFill);
PLACE(131, clEnqueueSVMMap);
PLACE(132, clEnqueueSVMUnmap);
PLACE(138, clCreateProgramWithIL);
_Static_assert(sizeof(cl_icd_dispatch) / sizeof(void *) <= GT_CL_ENTRIES, "room for the table");

SAME(GT_CL_SUCCESS, CL_SUCCESS);
SAME(GT_CL_INVALID_VALUE, CL_INVALID_VALUE);
SAME(GT_CL_PROFILING_INFO_NOT_AVAILABLE, CL_PROFILING_INFO_NOT_AVAILABLE);
SAME(GT_CL_OUT_OF_ORDER, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
SAME(GT_CL_PROFILING, CL_QUEUE_PROFILING_ENABLE);
SAME(GT_CL_ON_DEVICE, CL_QUEUE_ON_DEVICE);
SAME(GT_CL_DEVICE_NAME, CL_DEVICE_NAME);
SAME(GT_CL_QUEUE_CONTEXT, CL_QUEUE_CONTEXT);
SAME(GT_CL_QUEUE_DEVICE, CL_QUEUE_DEVICE);
SAME(GT_CL_QUEUE_REFERENCES, CL_QUEUE_REFERENCE_COUNT);
SAME(GT_CL_QUEUE_PROPERTIES, CL_QUEUE_PROPERTIES);
SAME(GT_CL_QUEUE_PROPERTIES_ARRAY, CL_QUEUE_PROPERTIES_ARRAY);
SAME(GT_CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_ELEMENT_SIZE);
SAME(GT_CL_KERNEL_NAME, CL_KERNEL_FUNCTION_NAME);
SAME(GT_CL_EVENT_QUEUE, CL_EVENT_COMMAND_QUEUE);
SAME(GT_CL_EVENT_REFERENCES, CL_EVENT_REFERENCE_COUNT);
SAME(GT_CL_EVENT_STATUS, CL_EVENT_COMMAND_EXECUTION_STATUS);
SAME(GT_CL_QUEUED, CL_PROFILING_COMMAND_QUEUED);
SAME(GT_CL_START, CL_PROFILING_COMMAND_START);
SAME(GT_CL_END, CL_PROFILING_COMMAND_END);
SAME(GT_CL_LAYER_VERSION, CL_LAYER_API_VERSION);
SAME(GT_CL_LAYER_NAME, CL_LAYER_NAME);
SAME(GT_CL_LAYER_VERSION_100, CL_LAYER_API_VERSION_100);
SAME(sizeof(size_t), sizeof(cl_queue_properties));
