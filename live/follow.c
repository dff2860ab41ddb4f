/* SPDX-License-Identifier: BSD-3-Clause */
/* Following a process by its spool; see follow.h. */
#include "config.h"

#include "live/follow.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "gputrace/hash.h"
#include "lib/assemble/clock/now.h"
#include "lib/assemble/spool/journal.h"
#include "lib/common/process.h"
#include "live/windows.h"

#define MOST_LOCATIONS 65536u
#define MOST_BYTES     (UINT64_C(1) << 28)
#define NAMES          4096u /* functions whose names are kept; a power of two */

struct name {
	uint64_t region; /* 0: free */
	char text[sizeof(((struct gt_live_location *)0)->region)];
};

struct gt_follow {
	int folder;
	const struct gt_proc_header *header; /* mapped */
	char archive[512];
	struct gt_journal journal;
	uint64_t journal_bytes;
	struct gt_live_window *windows;
	uint32_t window_count;
	struct name *names; /* a table of NAMES places */
	struct gt_image image;
	struct gt_calib now;
	double hz;             /* of its clock; 0: not known yet */
	uint64_t events, mono_ns; /* at the look before */
};

bool gt_image_room(struct gt_image *image, uint64_t bytes)
{
	struct gt_live_header *header;

	if (bytes <= image->room)
		return true;
	if (bytes > MOST_BYTES)
		return false;
	header = realloc(image->header, bytes);
	if (!header)
		return false;
	memset((char *)header + image->room, 0, bytes - image->room);
	image->header = header;
	image->room = bytes;
	return true;
}

/* ---- the process ------------------------------------------------------------------------------------ */

static const struct gt_proc_header *map_header(int folder)
{
	int fd = openat(folder, "proc", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const struct gt_proc_header *header = MAP_FAILED;
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size >= (off_t)GT_PAGE)
		header = mmap(NULL, GT_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (header == MAP_FAILED)
		return NULL;
	if (__atomic_load_n(&header->magic, __ATOMIC_ACQUIRE) == GT_MAGIC_PROC &&
	    header->version == GT_FORMAT_VERSION)
		return header;
	munmap((void *)(uintptr_t)header, GT_PAGE);
	return NULL;
}

struct gt_follow *gt_follow_open(int folder, const char *archive)
{
	const struct gt_proc_header *header = map_header(folder);
	struct gt_follow *follow = header ? calloc(1, sizeof(*follow)) : NULL;

	if (!follow) {
		if (header)
			munmap((void *)(uintptr_t)header, GT_PAGE);
		return NULL;
	}
	follow->folder = folder;
	follow->header = header;
	follow->names = calloc(NAMES, sizeof(*follow->names));
	snprintf(follow->archive, sizeof(follow->archive), "%s", archive);
	if (!follow->names || !gt_image_room(&follow->image, sizeof(*follow->image.header))) {
		follow->folder = -1; /* the caller's */
		gt_follow_close(follow);
		return NULL;
	}
	return follow;
}

void gt_follow_close(struct gt_follow *follow)
{
	for (uint32_t i = 0; i < follow->window_count; i++)
		gt_live_window_unmap(&follow->windows[i]);
	free(follow->windows);
	free(follow->names);
	free(follow->image.header);
	gt_journal_free(&follow->journal);
	munmap((void *)(uintptr_t)follow->header, GT_PAGE);
	if (follow->folder >= 0)
		close(follow->folder);
	free(follow);
}

int gt_follow_folder(const struct gt_follow *follow)
{
	return follow->folder;
}

const struct gt_image *gt_follow_image(const struct gt_follow *follow)
{
	return &follow->image;
}

static bool lives(const struct gt_proc_header *header)
{
	return __atomic_load_n(&header->state, __ATOMIC_ACQUIRE) != GT_PROC_ENDED &&
	       gt_process_lives(header->pid, header->start_time);
}

static void read_journal(struct gt_follow *follow)
{
	uint64_t bytes = __atomic_load_n(&follow->header->defs_bytes, __ATOMIC_ACQUIRE);

	if (bytes == follow->journal_bytes)
		return;
	gt_journal_free(&follow->journal);
	memset(&follow->journal, 0, sizeof(follow->journal));
	if (!gt_journal_read(&follow->journal, follow->folder))
		follow->journal_bytes = bytes;
}

static void map_windows(struct gt_follow *follow)
{
	uint64_t n = __atomic_load_n(&follow->header->locations, __ATOMIC_ACQUIRE);
	struct gt_live_window *windows;

	if (n > MOST_LOCATIONS)
		n = MOST_LOCATIONS;
	if (n > follow->window_count) {
		windows = realloc(follow->windows, n * sizeof(*windows));
		if (!windows)
			return;
		memset(windows + follow->window_count, 0, (n - follow->window_count) * sizeof(*windows));
		follow->windows = windows;
		follow->window_count = (uint32_t)n;
	}
	for (uint32_t i = 0; i < follow->window_count; i++)
		if (!follow->windows[i].win)
			gt_live_window_map(&follow->windows[i], follow->folder, i);
}

/* ---- names ---------------------------------------------------------------------------------------- */

/* The mapping that holds the address: the last that was seen there. */
static const struct gt_def_module *module_of(const struct gt_journal *journal, uint64_t address)
{
	for (size_t i = gt_journal_count(journal, GT_D_MODULE); i-- > 0;) {
		const struct gt_def_module *module = gt_journal_nth(journal, GT_D_MODULE, i, NULL, NULL);

		if (address >= module->start && address < module->end)
			return module;
	}
	return NULL;
}

/* Returns whether the name is final. */
static bool make_name(const struct gt_follow *follow, struct gt_symbols *symbols, uint64_t region, char *text,
		      size_t size)
{
	const struct gt_journal *journal = &follow->journal;
	const struct gt_def_module *module;
	const struct gt_def_region *def;
	char plain[GT_NAME_MAX + 1];
	const char *name = NULL;
	struct gt_symbol symbol;

	if (region & GT_LIVE_BY_ID) {
		def = gt_journal_find(journal, GT_D_REGION, (uint32_t)region, NULL);
		if (def)
			name = gt_journal_string(journal, def->name ? def->name : def->canonical);
		if (name && !def->name && def->flags & GT_REGION_BRIEF)
			gt_brief_name(name, plain);
		if (name)
			snprintf(text, size, "%.*s", (int)size - 1,
				 !def->name && (def->flags & GT_REGION_BRIEF || gt_demangled(name, plain))
					 ? plain : name);
		else
			snprintf(text, size, "region %u", (uint32_t)region);
		return name;
	}
	module = module_of(journal, region);
	gt_symbols_lookup(symbols, module, module ? (const char *)(module + 1) : NULL, region, &symbol);
	snprintf(text, size, "%s", symbol.name);
	return module;
}

static const char *region_name(struct gt_follow *follow, struct gt_symbols *symbols, uint64_t region)
{
	struct name *place = &follow->names[gt_hash_word(region) >> 32 & (NAMES - 1)];

	if (place->region != region)
		place->region = make_name(follow, symbols, region, place->text, sizeof(place->text))
				? region : 0;
	return place->text;
}

static void location_name(const struct gt_follow *follow, uint32_t id, char *text, size_t size)
{
	const struct gt_journal *journal = &follow->journal;
	const struct gt_def_location *def = gt_journal_find(journal, GT_D_LOCATION, id, NULL);
	const char *name = def ? gt_journal_string(journal, def->name) : NULL;

	for (size_t i = gt_journal_count(journal, GT_D_LOCATION_NAME); i-- > 0;) {
		const struct gt_def_loc_name *given = gt_journal_nth(journal, GT_D_LOCATION_NAME, i, NULL,
								     NULL);

		if (given->location == id && gt_journal_string(journal, given->name)) {
			name = gt_journal_string(journal, given->name);
			break;
		}
	}
	if (name)
		snprintf(text, size, "%s", name);
	else if (id)
		snprintf(text, size, "Thread %u", id);
	else
		snprintf(text, size, "Master thread");
}

/* ---- the image -------------------------------------------------------------------------------------- */

static uint64_t since(const struct gt_follow *follow, uint64_t tick)
{
	if (follow->hz <= 0 || !tick || tick >= follow->now.tick)
		return 0;
	return (uint64_t)((double)(follow->now.tick - tick) * 1e9 / follow->hz);
}

static double per_second(uint64_t now, uint64_t before, uint64_t ns)
{
	return ns && now > before ? (double)(now - before) * 1e9 / (double)ns : 0;
}

static bool is_loss(unsigned cause)
{
	return cause != GT_LOSS_FILTER && cause != GT_LOSS_REWIND && cause != GT_LOSS_DEFINITION;
}

static void put_location(struct gt_follow *follow, struct gt_symbols *symbols, uint32_t id, uint64_t ns,
			 struct gt_live_location *out)
{
	struct gt_live_window *window = &follow->windows[id];
	const struct gt_win_header *win = window->win;
	uint32_t kept = window->depth > GT_LIVE_DEPTH ? GT_LIVE_DEPTH : window->depth;
	uint64_t region = kept ? window->open[kept - 1].region : window->left;

	*out = (struct gt_live_location){
		.id = id,
		.kind = win->kind,
		.tid = win->kind == GT_LOC_THREAD ? win->tid : 0,
		.flags = (kept	   ? GT_LIVE_ACTIVE
			  : region ? GT_LIVE_LEFT
				   : 0) |
			 (window->ended ? GT_LIVE_ENDED : 0),
		.depth = window->depth,
		.events = window->events,
		.rate = per_second(window->events, window->old_events, ns),
		.active_ns = kept ? since(follow, window->open[kept - 1].tick) : 0,
		.quiet_ns = since(follow, window->last_tick),
	};
	window->old_events = window->events;
	for (unsigned i = 0; i < GT_LOSS_N; i++)
		out->lost += is_loss(i) ? win->lost[i] : 0;
	location_name(follow, id, out->name, sizeof(out->name));
	if (region)
		snprintf(out->region, sizeof(out->region), "%s", region_name(follow, symbols, region));
}

static double number(unsigned type, uint64_t value)
{
	double d;

	if (type == 8) /* OTF2_TYPE_INT64 */
		return (double)(int64_t)value;
	if (type == 10) { /* OTF2_TYPE_DOUBLE */
		memcpy(&d, &value, sizeof(d));
		return d;
	}
	return (double)value;
}

static void put_metric(struct gt_follow *follow, uint32_t location, struct gt_live_value *value,
		       struct gt_live_metric *out)
{
	const struct gt_journal *journal = &follow->journal;
	const struct gt_def_metric *def = gt_journal_find(journal, GT_D_METRIC, value->metric, NULL);
	const char *name = def ? gt_journal_string(journal, def->name) : NULL;
	const char *unit = def && def->unit ? gt_journal_string(journal, def->unit) : NULL;

	*out = (struct gt_live_metric){
		.location = location,
		.type = def ? def->value : 4,
		.mode = def ? def->mode : 0,
		.flags = def && def->kind & GT_METRIC_SYNCHRONOUS ? GT_LIVE_SYNCHRONOUS : 0,
		.value.u = value->value,
		.age_ns = since(follow, value->tick),
	};
	if (value->old_tick && value->tick > value->old_tick)
		out->rate = (number(out->type, value->value) - number(out->type, value->old_value)) *
			    follow->hz / (double)(value->tick - value->old_tick);
	value->old_value = value->value;
	value->old_tick = value->tick;
	if (name)
		snprintf(out->name, sizeof(out->name), "%s", name);
	else
		snprintf(out->name, sizeof(out->name), "metric %u", value->metric);
	snprintf(out->unit, sizeof(out->unit), "%s", unit ? unit : "");
}

static bool shown(const struct gt_live_window *window)
{
	return window->win && window->win->kind != GT_LOC_DEFERRED;
}

static bool make_room(struct gt_follow *follow)
{
	uint64_t locations = 0, metrics = 0, at = sizeof(struct gt_live_header);
	struct gt_live_header *header;

	for (uint32_t i = 0; i < follow->window_count; i++) {
		locations += shown(&follow->windows[i]);
		metrics += shown(&follow->windows[i]) ? follow->windows[i].value_count : 0;
	}
	if (!gt_image_room(&follow->image, at + locations * sizeof(struct gt_live_location) +
						   metrics * sizeof(struct gt_live_metric)))
		return false;
	header = follow->image.header;
	header->locations_at = (uint32_t)at;
	header->location_bytes = sizeof(struct gt_live_location);
	header->locations = (uint32_t)locations;
	header->metrics_at = (uint32_t)(at + locations * sizeof(struct gt_live_location));
	header->metric_bytes = sizeof(struct gt_live_metric);
	header->metrics = (uint32_t)metrics;
	header->bytes = header->metrics_at + metrics * sizeof(struct gt_live_metric);
	return true;
}

static void put_tables(struct gt_follow *follow, struct gt_symbols *symbols, uint64_t ns)
{
	struct gt_live_header *header = follow->image.header;
	uint32_t locations = 0, metrics = 0;

	for (uint32_t i = 0; i < follow->window_count; i++) {
		struct gt_live_window *window = &follow->windows[i];
		struct gt_live_location *location;

		if (!shown(window))
			continue;
		location = gt_image_location(&follow->image, locations++);
		put_location(follow, symbols, i, ns, location);
		header->events += location->events;
		header->spooled += __atomic_load_n(&window->win->spooled, __ATOMIC_RELAXED) / GT_SLOT;
		for (unsigned cause = 0; cause < GT_LOSS_N; cause++)
			header->lost_by[cause] += window->win->lost[cause];
		for (size_t k = 0; k < window->value_count; k++)
			put_metric(follow, i, &window->values[k], gt_image_metric(&follow->image, metrics++));
	}
	header->rate = per_second(header->events, follow->events, ns);
	follow->events = header->events;
}

static int64_t real_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void put_header(struct gt_follow *follow, uint64_t interval_ns)
{
	const struct gt_proc_header *proc = follow->header;
	struct gt_live_header *header = follow->image.header;

	memcpy(header->magic, GT_LIVE_MAGIC, sizeof(header->magic));
	header->version = GT_LIVE_VERSION;
	header->pid = proc->pid;
	header->start_time = proc->start_time;
	header->publisher = (uint32_t)getpid();
	header->updated_ns = (uint64_t)follow->now.mono_ns;
	header->real_ns = (uint64_t)real_ns();
	header->interval_ns = interval_ns;
	header->rank = (int32_t)proc->rank;
	header->uid = geteuid();
	header->events = header->spooled = header->lost = 0;
	for (unsigned cause = 0; cause < GT_LOSS_N; cause++)
		header->lost_by[cause] = proc->lost[cause];
	snprintf(header->host, sizeof(header->host), "%.*s", (int)sizeof(proc->host), proc->host);
	snprintf(header->program, sizeof(header->program), "%.*s", (int)sizeof(proc->program), proc->program);
	snprintf(header->archive, sizeof(header->archive), "%s", follow->archive);
}

/* The clock as it is now, and how many ticks a second has: the longer the process runs, the better. */
static bool read_clock(struct gt_follow *follow)
{
	const struct gt_proc_header *header = follow->header;
	double ns;

	if (!gt_clock_pair(header->clock, &follow->now))
		return false;
	ns = (double)(follow->now.mono_ns - header->first.mono_ns);
	follow->hz = (double)header->nominal_hz;
	if (ns > 1e6 && follow->now.tick > header->first.tick && header->first.tick)
		follow->hz = (double)(follow->now.tick - header->first.tick) * 1e9 / ns;
	return true;
}

bool gt_follow_look(struct gt_follow *follow, struct gt_symbols *symbols, uint64_t interval_ns)
{
	bool alive = lives(follow->header);
	uint64_t ns;

	read_journal(follow);
	map_windows(follow);
	if (!read_clock(follow))
		return false;
	for (uint32_t i = 0; i < follow->window_count; i++)
		if (follow->windows[i].win)
			gt_live_window_look(&follow->windows[i], follow->now.tick);
	if (!make_room(follow))
		return alive;
	ns = follow->mono_ns ? (uint64_t)follow->now.mono_ns - follow->mono_ns : 0;
	follow->mono_ns = (uint64_t)follow->now.mono_ns;
	put_header(follow, interval_ns);
	put_tables(follow, symbols, ns);
	for (unsigned cause = 0; cause < GT_LOSS_N; cause++)
		follow->image.header->lost += is_loss(cause) ? follow->image.header->lost_by[cause] : 0;
	return alive;
}
