/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VT_GPUTRACE and the settings beside it.
 *
 * Limits: the words are VampirTrace's; a word that is not known is reported once and passed over.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"

struct gt_cu_options gt_cu_options;

static bool is(const char *word, size_t length, const char *name)
{
	if (strlen(name) != length)
		return false;
	for (size_t i = 0; i < length; i++)
		if ((word[i] | 0x20) != name[i] && word[i] != name[i])
			return false;
	return true;
}

static void usual(struct gt_cu_options *o)
{
	o->on = o->runtime = o->kernel = o->memcpy = o->host_idle = true;
}

static bool apply(const char *word, size_t n, struct gt_cu_options *o)
{
	static const struct {
		const char *word;
		size_t at;
	} flags[] = {
		{ "runtime", offsetof(struct gt_cu_options, runtime) },
		{ "driver", offsetof(struct gt_cu_options, driver) },
		{ "kernel", offsetof(struct gt_cu_options, kernel) },
		{ "concurrent", offsetof(struct gt_cu_options, kernel) },
		{ "memcpy", offsetof(struct gt_cu_options, memcpy) },
		{ "idle", offsetof(struct gt_cu_options, idle) },
		{ "pure_idle", offsetof(struct gt_cu_options, pure_idle) },
		{ "sync", offsetof(struct gt_cu_options, sync) },
		{ "stream_reuse", offsetof(struct gt_cu_options, stream_reuse) },
		{ "memusage", offsetof(struct gt_cu_options, memusage) },
		{ "overhead", offsetof(struct gt_cu_options, overhead) },
		{ "unified", offsetof(struct gt_cu_options, unified) },
		{ "error", offsetof(struct gt_cu_options, error) },
	};

	if (is(word, n, "yes") || is(word, n, "default") || is(word, n, "1") || is(word, n, "true") ||
	    is(word, n, "on")) {
		usual(o);
		return true;
	}
	if (is(word, n, "cuda") || is(word, n, "cupti") || is(word, n, "debug") ||
	    is(word, n, "opencl")) {
		o->on = true;
		return true;
	}
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (is(word, n, flags[i].word)) {
			*(bool *)((char *)o + flags[i].at) = true;
			o->launch_calls |= flags[i].at == offsetof(struct gt_cu_options, runtime);
			o->on = true;
			o->host_idle |= o->memcpy;
			return true;
		}
	return false;
}

void gt_cu_options_parse(const char *list, struct gt_cu_options *o, void (*complain)(const char *))
{
	const char *at = list;

	while (at && *at) {
		size_t n = strcspn(at, ",: ");

		if (is(at, n, "no") || is(at, n, "0") || is(at, n, "false") || is(at, n, "off")) {
			memset(o, 0, sizeof(*o));
			return;
		}
		if (n && !apply(at, n, o)) {
			char word[64];

			if (n >= sizeof(word))
				n = sizeof(word) - 1;
			memcpy(word, at, n);
			word[n] = 0;
			complain(word);
			n = strcspn(at, ",: ");
		}
		at += n + (at[n] != 0);
	}
}

static void complain(const char *word)
{
	gt_message(1, "VT_GPUTRACE: there is no option '%s'", word);
}

/* The value of a setting; never NULL. */
static const char *setting(const char *name)
{
	const char *value = gt_setting(name);

	return value ? value : "";
}

static void read_all(void)
{
	const char *list = setting("VT_GPUTRACE"), *detail = setting("VT_GPUTRACE_KERNEL");
	struct gt_cu_options o = { 0 };
	const char *capture = setting("VT_CUPTI_CAPTURE"), *memory = setting("VT_GPUTRACE_MEMUSAGE");
	const char *sync = setting("VT_GPUTRACE_SYNC");

	gt_cu_options_parse(*list ? list : "yes", &o, complain);
	o.missing_free = !strcmp(memory, "2");
	o.memusage |= o.missing_free || !strcmp(memory, "yes");
	o.free_idle = o.host_idle && strcmp(sync, "0") && strcmp(sync, "1");
	o.host_idle &= strcmp(sync, "0") != 0;
	o.kernel_detail = !strcmp(detail, "no") ? 0 : !strcmp(detail, "yes") ? 1 : 2;
	o.graph_level = !strcmp(setting("VT_CUDA_GRAPHS"), "graph");
	o.rma = !strcmp(setting("VT_GPU_TRANSFERS"), "rma");
	o.pc_serialized = !strcmp(setting("VT_CUPTI_PCSAMPLING"), "serialized");
	o.pc = o.pc_serialized || !strcmp(setting("VT_CUPTI_PCSAMPLING"), "continuous");
	if (!strcmp(setting("VT_CUPTI_KERNEL"), "replay"))
		o.exact = GT_CU_EXACT_REPLAY;
	else if (!strcmp(setting("VT_CUPTI_KERNEL"), "user"))
		o.exact = GT_CU_EXACT_USER;
	o.pc_period = (unsigned)strtoul(setting("VT_CUPTI_PCSAMPLING_PERIOD"), NULL, 10);
	o.sass = *setting("VT_CUPTI_SASS") != 0;
	o.buffer_bytes = strtoull(setting("VT_CUDATRACE_BUFFER_SIZE"), NULL, 10) & ~UINT64_C(4095);
	if (o.buffer_bytes < 65536)
		o.buffer_bytes = 1 << 20;
	o.flush_ms = (unsigned)strtoul(setting("VT_CUDATRACE_FLUSH"), NULL, 10);
	if (!o.flush_ms)
		o.flush_ms = 500;
	o.finish_ms = (unsigned)strtoul(setting("VT_CUDATRACE_FINISH"), NULL, 10);
	o.capture = *capture ? capture : NULL;
	gt_cu_options = o;
}

void gt_cu_options_read(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	/* CUDA and NVTX both ask; what was found out since, as that graphs are refused, must stay. */
	pthread_once(&once, read_all);
}

void gt_cu_options_say_ignored(void)
{
	static const char *const names[] = { "VT_CUPTI_METRICS", "VT_CUPTI_METRICS_SPEC", "VT_CUPTI_KERNEL",
					     "VT_CUPTI_PCSAMPLING", "VT_CUPTI_SASS" };

	for (unsigned i = 0; !gt_cu_options.on && i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = setting(names[i]);

		if (*value && strcmp(value, "no"))
			gt_message(1, "%s is ignored: VT_GPUTRACE=no", names[i]);
	}
}
