/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays a capture (cuda/capture.h) into the adapter and prints every event that comes out, through a
 * double of the core: real data of a real GPU, without one.
 *
 *   replay FILE      events as text; times in nanoseconds since the first call
 *
 * Each captured thread is a thread here; one of them runs at a time, in the order of the capture.
 * Limits: the time of calls, deadlocks and error codes are not tested this way.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda/capture.h"
#include "cuda/cuda.h"
#include "gputrace/lock.h"

/* ---- the double of the core ------------------------------------------------------------------------ */

#define MOST 65536u

struct gt_location {
	uint32_t id, kind;
	uint32_t foreign; /* of a side location: whose record comes next */
};

static const char *texts[MOST];      /* string definitions */
static const char *regions[MOST], *attributes[MOST], *parameters[MOST], *metrics[MOST], *markers[MOST];
static uint32_t text_count, region_count, attribute_count, parameter_count, metric_count, marker_count;
static uint32_t location_count, comm_count, group_count;
static uint64_t now, first;
static uint64_t enters, leaves, sends, receives;
static __thread uint32_t own_location = UINT32_MAX;
static __thread char waiting[1024]; /* attributes */

static const char *copy(const char *text)
{
	return strdup(text ? text : "");
}

bool gt_active(void)
{
	return true;
}

bool gt_is_confined(void)
{
	return false;
}

void gt_own_thread(int change)
{
	(void)change;
}

bool gt_own_threads_only(void)
{
	return false;
}

int gt_descriptor_away(int fd)
{
	return fd;
}

void *gt_memory(size_t bytes)
{
	return calloc(1, bytes);
}

void gt_memory_free(void *memory, size_t bytes)
{
	(void)bytes;
	free(memory);
}

uint64_t gt_lock(struct gt_lock *lock)
{
	(void)lock;
	return 0;
}

uint64_t gt_lock_try(struct gt_lock *lock)
{
	return gt_lock(lock);
}

void gt_unlock(struct gt_lock *lock, uint64_t mask)
{
	(void)lock;
	(void)mask;
}

bool gt_is_on(void)
{
	return true;
}

void gt_guard(void)
{
}

void gt_unguard(void)
{
}

uint64_t gt_now(void)
{
	return now;
}

uint64_t gt_monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

const char *gt_setting(const char *name)
{
	return getenv(name);
}

void gt_message(int level, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("message %d: ", level);
	vprintf(format, arguments);
	putchar('\n');
	va_end(arguments);
}

int gt_adapter_register(const struct gt_adapter *adapter)
{
	(void)adapter;
	return 0;
}

gt_ref gt_def_string(const char *text)
{
	for (uint32_t i = 1; i <= text_count; i++)
		if (!strcmp(texts[i], text))
			return i;
	texts[++text_count] = copy(text);
	return text_count;
}

gt_ref gt_def_region(const struct gt_region_info *info)
{
	const char *name = info->name ? info->name : info->canonical; /* it is demangled when assembling */

	regions[++region_count] = copy(name);
	printf("region %s (%s) group %s\n", name, info->canonical ? info->canonical : "",
	       info->group ? info->group : "");
	return region_count;
}

gt_ref gt_def_record(const char *adapter, const char *name)
{
	(void)adapter;
	return gt_def_string(name);
}

int gt_user_watch(const struct gt_user_watch *watch)
{
	(void)watch;
	return 0;
}

gt_ref gt_def_metric(const struct gt_metric_info *info)
{
	metrics[++metric_count] = copy(info->name);
	return metric_count;
}

gt_ref gt_def_marker(const char *name, const char *group, unsigned severity)
{
	(void)group;
	(void)severity;
	markers[++marker_count] = copy(name);
	return marker_count;
}

gt_ref gt_def_attribute(const char *name, const char *description, enum gt_value value)
{
	(void)description;
	(void)value;
	attributes[++attribute_count] = copy(name);
	return attribute_count;
}

gt_ref gt_def_parameter(const char *name, enum gt_value value)
{
	(void)value;
	parameters[++parameter_count] = copy(name);
	return parameter_count;
}

gt_ref gt_def_comm(const char *name, gt_ref parent, uint32_t paradigm, uint64_t key)
{
	(void)name;
	(void)parent;
	(void)paradigm;
	(void)key;
	return ++comm_count;
}

gt_ref gt_def_window(const char *name, gt_ref parent, uint32_t paradigm, uint64_t key)
{
	return gt_def_comm(name, parent, paradigm, key);
}

static struct gt_def_param sets[4096][8];
static unsigned set_sizes[4096], set_count;

gt_ref gt_def_params(const struct gt_def_param *params, unsigned count)
{
	memcpy(sets[++set_count], params, count * sizeof(*params));
	set_sizes[set_count] = count;
	return set_count;
}

void gt_def_property(const char *key, const char *value)
{
	printf("property %s=%s\n", key, value);
}

gt_ref gt_def_locgroup(const char *name, uint32_t kind, uint64_t key)
{
	printf("group %s kind %u key %#llx\n", name, kind, (unsigned long long)key);
	return ++group_count;
}

uint32_t gt_self_location(void)
{
	if (own_location == UINT32_MAX)
		own_location = location_count++;
	return own_location;
}

struct gt_location *gt_location_create(const struct gt_location_info *info)
{
	struct gt_location *l = calloc(1, sizeof(*l));

	l->id = location_count++;
	l->kind = info->kind;
	printf("location %u %s kind %u group %u\n", l->id, info->name, info->kind, info->group);
	return l;
}

void gt_location_name(const struct gt_location *l, const char *name)
{
	printf("location %u is called %s\n", l->id, name);
}

uint32_t gt_location_id(const struct gt_location *location)
{
	return location->id;
}

void gt_lost(unsigned cause, uint64_t events)
{
	printf("lost %u %llu\n", cause, (unsigned long long)events);
}

static void print(uint32_t location, unsigned type, uint64_t low, const uint64_t *data, uint64_t tick)
{
	long long time = (long long)(tick - first);

	switch (type) {
	case GT_T_ATTR:
		snprintf(waiting + strlen(waiting), sizeof(waiting) - strlen(waiting), " %s=%llu",
			 attributes[low], (unsigned long long)data[0]);
		return;
	case GT_T_TAG:
		snprintf(waiting + strlen(waiting), sizeof(waiting) - strlen(waiting), " %s=%u",
			 attributes[low >> 32], (uint32_t)low);
		return;
	case GT_T_PARAMS:
		for (unsigned i = 0; i < set_sizes[low]; i++)
			print(location, sets[low][i].type, sets[low][i].parameter, &sets[low][i].value,
			      tick);
		return;
	case GT_T_ENTER:
		printf("%u %lld enter %s%s\n", location, time, regions[low], waiting);
		break;
	case GT_T_LEAVE:
		printf("%u %lld leave %s%s\n", location, time, regions[low], waiting);
		break;
	case GT_T_PARAM_STR:
		printf("%u %lld   %s %s\n", location, time, parameters[low], texts[data[0]]);
		break;
	case GT_T_PARAM_UINT:
		printf("%u %lld   %s %llu\n", location, time, parameters[low], (unsigned long long)data[0]);
		break;
	case GT_T_XFER_SEND:
	case GT_T_XFER_RECV:
		printf("%u %lld   %s %llu tag %llu bytes %llu\n", location, time,
		       type == GT_T_XFER_SEND ? "send to" : "receive from",
		       (unsigned long long)(data[0] & UINT32_MAX), (unsigned long long)(data[0] >> 32),
		       (unsigned long long)data[1]);
		break;
	case GT_T_METRIC:
		printf("%u %lld   %s %lld\n", location, time, metrics[low], (long long)data[0]);
		break;
	case GT_T_MARKER:
		printf("%u %lld   %s: %s\n", location, time, markers[low], texts[data[0]]);
		break;
	default:
		printf("%u %lld   record %#x\n", location, time, type);
	}
	waiting[0] = 0;
	enters += type == GT_T_ENTER;
	leaves += type == GT_T_LEAVE;
	sends += type == GT_T_XFER_SEND;
	receives += type == GT_T_XFER_RECV;
}

void gt_location_record(struct gt_location *l, unsigned type, uint64_t low, const uint64_t *data,
			unsigned extra, uint64_t tick)
{
	(void)extra;
	if (type == GT_T_FOR_LOCATION)
		l->foreign = (uint32_t)low;
	else
		print(l->kind == GT_LOC_DEFERRED ? l->foreign : l->id, type, low, data, tick);
}

void gt_location_block(struct gt_location *l, const struct gt_slot *slots, unsigned count)
{
	for (unsigned i = 0, extra; i < count; i += 1 + extra) {
		unsigned type = GT_WORD_TYPE(slots[i].word);

		extra = GT_TYPE_HAS_EXTRA(type) ? GT_WORD_EXTRA(slots[i].word) : 0;
		gt_location_record(l, type,
				   extra ? GT_WORD_LOW(slots[i].word) : GT_WORD_PAYLOAD(slots[i].word),
				   (const uint64_t *)(slots + i + 1), extra, slots[i].time);
	}
}

void gt_record_at(unsigned type, uint64_t low, const uint64_t *data, unsigned extra, uint64_t tick)
{
	(void)extra;
	print(gt_self_location(), type, low, data, tick);
}

void gt_record(unsigned type, uint64_t low, const uint64_t *data, unsigned extra)
{
	gt_record_at(type, low, data, extra, now);
}

void gt_attribute(gt_ref attribute, uint64_t value)
{
	gt_record(GT_T_ATTR, attribute, (uint64_t[2]){ value, 0 }, 1);
}

void gt_marker(gt_ref marker, const char *text)
{
	gt_record(GT_T_MARKER, marker, (uint64_t[2]){ gt_def_string(text), 0 }, 1);
}

void gt_thread_name(uint32_t kernel_tid, const char *name)
{
	printf("thread %u is called %s\n", kernel_tid, name);
}

void gt_enter(gt_ref region)
{
	gt_enter_at(region, now);
}

void gt_leave(gt_ref region)
{
	gt_leave_at(region, now);
}

void gt_enter_at(gt_ref region, uint64_t tick)
{
	if (region)
		print(gt_self_location(), GT_T_ENTER, region, NULL, tick);
}

/* No window that is open: all calls are written by the functions above. */
const unsigned *gt_call_prepare(struct gt_call *call)
{
	static struct gt_hot closed, *const self = &closed;
	static int depth;
	static const unsigned filtered;

	*call = (struct gt_call){ &self, &depth };
	return &filtered;
}

uint64_t gt_call_enter_slow(struct gt_hot *hot, uint64_t address, uint64_t word, uint64_t enter)
{
	(void)hot, (void)address, (void)word, (void)enter;
	return now;
}

uint64_t gt_call_leave_slow(struct gt_hot *hot, uint64_t address, uint64_t leave, uint64_t after)
{
	(void)hot, (void)address, (void)leave, (void)after;
	return now;
}

bool gt_enter_attribute(gt_ref region, gt_ref attribute, uint64_t value, uint64_t tick)
{
	if (region) {
		print(gt_self_location(), GT_T_TAG, (uint64_t)attribute << 32 | value, NULL, tick);
		print(gt_self_location(), GT_T_ENTER, region, NULL, tick);
	}
	return region;
}

void gt_leave_at(gt_ref region, uint64_t tick)
{
	if (region)
		print(gt_self_location(), GT_T_LEAVE, region, NULL, tick);
}

/* Every poll is shown. */
void gt_repeat(struct gt_repeated *last, gt_ref region, gt_ref counter, uint64_t begin)
{
	(void)last;
	gt_enter_at(region, begin);
	print(gt_self_location(), GT_T_PARAM_UINT, counter, (uint64_t[1]){ 1 }, begin);
	gt_leave_at(region, now);
}

/* ---- the table of CUPTI's functions ----------------------------------------------------------------- */

static uint32_t sizes[128];
static struct name {
	uint32_t domain, id;
	const char *text;
} names[4096];
static unsigned name_count;

static int next_record(uint8_t *buffer, size_t valid, struct cu_record **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + sizes[(*record)->kind % 128] : buffer;

	if (next >= buffer + valid || next == (uint8_t *)*record)
		return CU_ERROR_MAX_LIMIT_REACHED;
	*record = (struct cu_record *)next;
	return 0;
}

static int callback_name(uint32_t domain, uint32_t id, const char **text)
{
	if (id > 1200)
		return CU_ERROR_INVALID_PARAMETER;
	*text = "INVALID";
	for (unsigned i = 0; i < name_count; i++)
		if (names[i].domain == domain && names[i].id == id)
			*text = names[i].text;
	return 0;
}

static int enable_callback(uint32_t on, void *subscriber, uint32_t domain, uint32_t id)
{
	(void)on;
	(void)subscriber;
	(void)domain;
	(void)id;
	return 0;
}

/* ---- strings: addresses of the captured process -> ours ----------------------------------------------- */

static struct string {
	uint64_t address;
	const char *text;
} strings[MOST];
static unsigned string_count;

static const char *string_of(uint64_t address)
{
	for (unsigned i = string_count; i-- > 0;)
		if (strings[i].address == address)
			return strings[i].text;
	return NULL;
}

static void translate(uint8_t *buffer, size_t valid)
{
	struct cu_record *record = NULL;

	while (!next_record(buffer, valid, &record))
		if (record->kind == CU_KIND_CONCURRENT_KERNEL || record->kind == CU_KIND_KERNEL) {
			struct cu_kernel *k = (struct cu_kernel *)record;

			k->name = string_of((uintptr_t)k->name);
		}
}

/* ---- threads, one at a time ---------------------------------------------------------------------------- */

static struct thread {
	uint32_t number;
	sem_t go;
	const struct gt_cap_call *call;
	pthread_t thread;
} threads[1024];
static unsigned thread_count;
static sem_t done;

static void *run(void *argument)
{
	struct thread *t = argument;

	for (;;) {
		struct cu_call_data data = { 0 };
		uint64_t private = 0;
		int result;

		while (sem_wait(&t->go))
			;
		if (!t->call)
			return NULL;
		result = t->call->result;
		data.site = (int32_t)t->call->site;
		data.function = "";
		data.result = &result;
		data.context_uid = t->call->context;
		data.data = &private;
		data.correlation = t->call->correlation;
		gt_cu_callback(NULL, t->call->domain, t->call->id, &data);
		sem_post(&done);
	}
}

static void play(const struct gt_cap_call *call)
{
	struct thread *t = NULL;

	for (unsigned i = 0; !t && i < thread_count; i++)
		if (threads[i].number == call->thread)
			t = &threads[i];
	if (!t) {
		t = &threads[thread_count++];
		t->number = call->thread;
		sem_init(&t->go, 0, 0);
		if (pthread_create(&t->thread, NULL, run, t))
			exit(2);
	}
	if (!first)
		first = call->time;
	now = call->time;
	t->call = call;
	sem_post(&t->go);
	while (sem_wait(&done))
		;
}

/* ---- the file -------------------------------------------------------------------------------- */

static uint8_t *load(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;
	long size;

	if (!file || fseek(file, 0, SEEK_END))
		return NULL;
	size = ftell(file);
	rewind(file);
	data = aligned_alloc(64, ((size_t)size + 64) / 64 * 64);
	*bytes = data ? fread(data, 1, (size_t)size, file) : 0;
	fclose(file);
	return data;
}

/* Names first: the adapter asks for them before anything happens. */
static const uint8_t *piece(const uint8_t *at, const uint8_t *end, struct gt_cap_piece *p)
{
	if (at + sizeof(*p) > end)
		return NULL;
	memcpy(p, at, sizeof(*p));
	return at + sizeof(*p) + p->bytes > end ? NULL : at + sizeof(*p);
}

static void read_buffer(const uint8_t *data, uint32_t bytes)
{
	uint64_t valid = bytes - sizeof(uint64_t), time;
	uint8_t *buffer = aligned_alloc(64, (valid + 64) / 64 * 64);

	memcpy(&time, data, sizeof(time));
	memcpy(buffer, data + sizeof(time), valid);
	now = time;
	translate(buffer, valid);
	gt_cu_records_read(buffer, valid);
	gt_cu_records_settle(false);
	free(buffer);
}

static void read_piece(const struct gt_cap_piece *p, const uint8_t *data)
{
	static struct gt_cap_call call;
	uint32_t pair[2];

	switch (p->type) {
	case GT_CAP_CALL:
		memcpy(&call, data, sizeof(call));
		play(&call);
		break;
	case GT_CAP_BUFFER:
		read_buffer(data, p->bytes);
		break;
	case GT_CAP_STRING:
		memcpy(&strings[string_count].address, data, sizeof(uint64_t));
		strings[string_count++].text = (const char *)data + sizeof(uint64_t);
		break;
	case GT_CAP_SIZE:
		memcpy(pair, data, sizeof(pair));
		sizes[pair[0] % 128] = pair[1];
		break;
	}
}

int main(int argc, char **argv)
{
	const uint8_t *data, *at, *end, *body;
	struct gt_cap_header header;
	struct gt_cap_piece p;
	const char *failed;
	size_t bytes;

	data = argc == 2 ? load(argv[1], &bytes) : NULL;
	if (!data || bytes < sizeof(header)) {
		fprintf(stderr, "replay FILE: the file cannot be read\n");
		return 2;
	}
	memcpy(&header, data, sizeof(header));
	if (header.magic != GT_CAP_MAGIC) {
		fprintf(stderr, "replay: this is no capture\n");
		return 2;
	}
	end = data + bytes;
	for (at = data + sizeof(header); (body = piece(at, end, &p)); at = body + p.bytes)
		if (p.type == GT_CAP_NAME && name_count < 4096) {
			memcpy(&names[name_count].domain, body, 4);
			memcpy(&names[name_count].id, body + 4, 4);
			names[name_count++].text = (const char *)body + 8;
		}
	gt_cu_api.next_record = next_record;
	gt_cu_api.callback_name = callback_name;
	gt_cu_api.enable_callback = enable_callback;
	gt_cu_version = header.version;
	gt_cu_clock_identity();
	gt_cu_options_read();
	gt_cu_options.replay = true;
	gt_cu_records_setup();
	failed = gt_cu_calls_setup();
	if (failed) {
		fprintf(stderr, "replay: %s\n", failed);
		return 2;
	}
	gt_cu_state_set(GT_CU_READY);
	sem_init(&done, 0, 0);
	for (at = data + sizeof(header); (body = piece(at, end, &p)); at = body + p.bytes)
		read_piece(&p, body);
	gt_cu_records_settle(true);
	gt_cu_account(true, true);
	gt_cu_state_set(GT_CU_ENDED);
	printf("enters %llu leaves %llu sends %llu receives %llu\n", (unsigned long long)enters,
	       (unsigned long long)leaves, (unsigned long long)sends, (unsigned long long)receives);
	return 0;
}
