/* SPDX-License-Identifier: BSD-3-Clause */
/* Our declarations beside those of rocprofiler-sdk's public headers: compiles, or does not. */
#ifdef HSA
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#else
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#endif

#include "hip/rocprofiler.h"

#define SIZE(ours, theirs)  _Static_assert(sizeof(ours) == sizeof(theirs), #theirs)
#define PLACE(ours, a, theirs, b) \
	_Static_assert(offsetof(ours, a) == offsetof(theirs, b) && \
		       sizeof(((ours *)0)->a) == sizeof(((theirs *)0)->b), #theirs "." #b)
#define NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)

#ifdef HSA
NUMBER(HSA_UNKNOWN_MEMORY, HSA_EXT_POINTER_TYPE_UNKNOWN);
NUMBER(HSA_ABOUT_DEVICE, HSA_AGENT_INFO_DEVICE);
NUMBER(HSA_DEVICE_GPU, HSA_DEVICE_TYPE_GPU);
#define POINTER(a, b) PLACE(struct hsa_pointer, a, hsa_amd_pointer_info_t, b)
POINTER(size, size);
POINTER(type, type);
POINTER(bytes, sizeInBytes);
POINTER(owner, agentOwner);
POINTER(flags, global_flags);
#else
NUMBER(ROCP_SUCCESS, ROCPROFILER_STATUS_SUCCESS);
NUMBER(ROCP_POLICY_LOSSLESS, ROCPROFILER_BUFFER_POLICY_LOSSLESS);
NUMBER(ROCP_CATEGORY_TRACING, ROCPROFILER_BUFFER_CATEGORY_TRACING);
NUMBER(ROCP_PHASE_ENTER, ROCPROFILER_CALLBACK_PHASE_ENTER);
NUMBER(ROCP_PHASE_EXIT, ROCPROFILER_CALLBACK_PHASE_EXIT);
NUMBER(ROCP_AGENT_VERSION, ROCPROFILER_AGENT_INFO_VERSION_0);
NUMBER(ROCP_AGENT_GPU, ROCPROFILER_AGENT_TYPE_GPU);
NUMBER(ROCP_SYMBOL_REGISTER, ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER);
NUMBER(ROCP_STREAM_CREATE, ROCPROFILER_HIP_STREAM_CREATE);
NUMBER(ROCP_STREAM_SET, ROCPROFILER_HIP_STREAM_SET);
NUMBER(ROCP_COPY_HOST_TO_HOST, ROCPROFILER_MEMORY_COPY_HOST_TO_HOST);
NUMBER(ROCP_COPY_TO_DEVICE, ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE);
NUMBER(ROCP_COPY_TO_HOST, ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST);
NUMBER(ROCP_COPY_DEVICES, ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE);
NUMBER(ROCP_REQUEST_COPY, ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY);
NUMBER(ROCP_REQUEST_KERNEL, ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH);
SIZE(struct rocp_correlation, rocprofiler_correlation_id_t);
SIZE(struct rocp_async_correlation, rocprofiler_async_correlation_id_t);
SIZE(struct rocp_tool, rocprofiler_tool_configure_result_t);
SIZE(struct rocp_call, rocprofiler_callback_tracing_record_t);
SIZE(struct rocp_dispatch, rocprofiler_kernel_dispatch_info_t);
SIZE(struct rocp_header, rocprofiler_record_header_t);
NUMBER(ROCP_HIP_RESULT_BYTES, sizeof(rocprofiler_hip_api_retval_t));
NUMBER(ROCP_MARKER_RESULT_BYTES, sizeof(rocprofiler_marker_api_retval_t));

#define CALL(a, b) PLACE(struct rocp_call, a, rocprofiler_callback_tracing_record_t, b)
CALL(thread, thread_id);
CALL(correlation, correlation_id);
CALL(kind, kind);
CALL(operation, operation);
CALL(phase, phase);
CALL(payload, payload);

#define COPY(a, b) PLACE(struct rocp_copy, a, rocprofiler_buffer_tracing_memory_copy_record_t, b)
COPY(size, size);
COPY(operation, operation);
COPY(correlation, correlation_id);
COPY(start, start_timestamp);
COPY(end, end_timestamp);
COPY(destination, dst_agent_id);
COPY(source, src_agent_id);
COPY(bytes, bytes);

#define KERNEL(a, b) PLACE(struct rocp_kernel, a, rocprofiler_buffer_tracing_kernel_dispatch_record_t, b)
KERNEL(operation, operation);
KERNEL(correlation, correlation_id);
KERNEL(start, start_timestamp);
KERNEL(end, end_timestamp);
KERNEL(dispatch, dispatch_info);
#define DISPATCH(a, b) PLACE(struct rocp_dispatch, a, rocprofiler_kernel_dispatch_info_t, b)
DISPATCH(agent, agent_id);
DISPATCH(queue, queue_id);
DISPATCH(kernel, kernel_id);
DISPATCH(private_segment, private_segment_size);
DISPATCH(group_segment, group_segment_size);
DISPATCH(workgroup, workgroup_size);
DISPATCH(grid, grid_size);

typedef rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t symbol;
typedef rocprofiler_buffer_tracing_memory_allocation_record_t allocation;
#define MEMORY(a, b) PLACE(struct rocp_allocation, a, allocation, b)
MEMORY(operation, operation);
MEMORY(end, end_timestamp);
MEMORY(agent, agent_id);
MEMORY(address, address);
MEMORY(bytes, allocation_size);
NUMBER(ROCP_ALLOCATE, ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE);
NUMBER(ROCP_RELEASE, ROCPROFILER_MEMORY_ALLOCATION_FREE);

#define SYMBOL(a, b) PLACE(struct rocp_symbol, a, symbol, b)
SYMBOL(kernel, kernel_id);
SYMBOL(name, kernel_name);
PLACE(struct rocp_stream, stream, rocprofiler_callback_tracing_hip_stream_data_t, stream_id);
PLACE(struct rocp_stream, value, rocprofiler_callback_tracing_hip_stream_data_t, stream_value);
typedef rocprofiler_callback_tracing_marker_api_data_t marker;
PLACE(struct rocp_api, arguments.named.handle, marker, args.roctxNameHipStream.stream);
PLACE(struct rocp_api, arguments.range, marker, args.roctxRangeStop.id);
SIZE(struct rocp_api, struct { uint64_t size; rocprofiler_marker_api_args_t args; });

#define AGENT(a, b) PLACE(struct rocp_agent, a, rocprofiler_agent_v0_t, b)
AGENT(id, id);
AGENT(type, type);
AGENT(location, location_id);
AGENT(domain, domain);
AGENT(name, name);
AGENT(product, product_name);
AGENT(logical_of_type, logical_node_type_id);
#endif
