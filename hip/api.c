/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rocprofiler-sdk's functions: found in the library that has called ours, which is never linked and never
 * loaded from here; so are two of HSA's runtime, if it is there.
 *
 * Limits: one of the needed functions is missing: it is not used at all.
 */
#include <dlfcn.h>
#include <string.h>

#include "hip/hip.h"

enum { KINDS = 256 };

struct gt_hip_api gt_hip_api;

static const struct {
	const char *name;
	size_t at;
	bool needed;
} functions[] = {
#define F(symbol, member, needed) { "rocprofiler_" #symbol, offsetof(struct gt_hip_api, member), needed }
	F(create_context, create_context, true),
	F(start_context, start_context, true),
	F(create_buffer, create_buffer, true),
	F(flush_buffer, flush, true),
	F(configure_callback_tracing_service, trace_calls, true),
	F(configure_buffer_tracing_service, trace_records, true),
	F(query_callback_tracing_kind_name, callback_kind, true),
	F(query_callback_tracing_kind_operation_name, operation, true),
	F(query_buffer_tracing_kind_name, buffer_kind, true),
	F(get_timestamp, timestamp, true),
	F(query_available_agents, agents, false),
	F(configure_external_correlation_id_request_service, request_ids, false),
	F(get_status_string, status_text, false),
#undef F
};

/* HIP's own question would leave an error for the program where memory is none of HIP's. */
static void find_hsa(void)
{
	void *hsa = dlopen("libhsa-runtime64.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *pointer = hsa ? dlsym(hsa, "hsa_amd_pointer_info") : NULL;
	void *agent = hsa ? dlsym(hsa, "hsa_agent_get_info") : NULL;

	if (!pointer || !agent)
		return;
	memcpy(&gt_hip_api.pointer, &pointer, sizeof(pointer));
	memcpy(&gt_hip_api.agent_info, &agent, sizeof(agent));
}

bool gt_hip_api_load(const void *code, const char **missing)
{
	Dl_info info;
	void *handle = dladdr(code, &info) && info.dli_fname
			       ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
			       : NULL;

	*missing = "the library itself";
	if (!handle)
		return false;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *symbol = dlsym(handle, functions[i].name);

		*missing = functions[i].name;
		if (!symbol && functions[i].needed)
			return false;
		memcpy((char *)&gt_hip_api + functions[i].at, &symbol, sizeof(symbol));
	}
	find_hsa();
	return true; /* the handle is kept: so are the functions */
}

const char *gt_hip_status(int status)
{
	const char *text = gt_hip_api.status_text ? gt_hip_api.status_text(status) : NULL;

	return text ? text : "reason unknown";
}

static uint32_t kind_of(int (*query)(uint32_t, const char **, uint64_t *), const char *name)
{
	for (uint32_t kind = 1; kind < KINDS; kind++) {
		const char *text = NULL;
		uint64_t length = 0;

		if (!query(kind, &text, &length) && text && !strcmp(text, name))
			return kind;
	}
	return 0;
}

uint32_t gt_hip_callback_kind(const char *name)
{
	return kind_of(gt_hip_api.callback_kind, name);
}

uint32_t gt_hip_buffer_kind(const char *name)
{
	return kind_of(gt_hip_api.buffer_kind, name);
}
