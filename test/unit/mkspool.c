/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes spools without a recorder.
 *
 * Limits: see mkspool.h.
 */
#include "test/unit/mkspool.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	abort();
}

static void *have(void *memory)
{
	if (!memory)
		die("malloc");
	return memory;
}

static void put_file(const char *path, const void *data, size_t bytes, uint64_t at)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);

	if (fd < 0 || pwrite(fd, data, bytes, (off_t)at) != (ssize_t)bytes)
		die(path);
	close(fd);
}

const char *mk_run(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = have(malloc(512)), path[600];
	struct gt_run_header run = { .magic = GT_MAGIC_RUN, .version = GT_FORMAT_VERSION,
				     .next_seq = 100, .uid = getuid() };

	snprintf(dir, 512, "%s/gt-spool-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		die(dir);
	snprintf(path, sizeof(path), "%s/spool", dir);
	if (mkdir(path, 0700))
		die(path);
	snprintf(run.spool, sizeof(run.spool), "%s", path);
	snprintf(path, sizeof(path), "%s/spool/run", dir);
	put_file(path, &run, sizeof(run), 0);
	return dir;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void mk_remove(const char *dir)
{
	nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free((char *)dir);
}

static void calibrate(struct gt_calib *calib, uint64_t tick)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	calib->tick = tick;
	calib->width = 40;
	calib->mono_ns = (int64_t)(tick / (MK_HZ / 1000000000)) + 1000000000;
	calib->real_ns = (int64_t)now.tv_sec * 1000000000 + calib->mono_ns;
}

struct mk_proc *mk_proc(const char *dir, uint32_t seq, uint32_t pid, const char *program,
			uint64_t begin)
{
	struct mk_proc *proc = have(calloc(1, sizeof(*proc)));
	struct gt_file_header head = { .magic = GT_MAGIC_DEFS, .version = GT_FORMAT_VERSION };
	char path[700];

	snprintf(proc->path, sizeof(proc->path), "%s/spool/p%04u.%u", dir, seq, pid);
	if (mkdir(proc->path, 0700))
		die(proc->path);
	proc->header = (struct gt_proc_header){
		.magic = GT_MAGIC_PROC,
		.version = GT_FORMAT_VERSION,
		.header_bytes = sizeof(proc->header),
		.pid = pid,
		.seq = seq,
		.parent_seq = UINT32_MAX,
		.state = GT_PROC_RUNNING,
		.begin = begin,
		.clock = GT_CLOCK_TSC,
		.rank = UINT32_MAX,
		.nominal_hz = MK_HZ,
		.host = "testhost",
	};
	snprintf(proc->header.program, sizeof(proc->header.program), "%s", program);
	calibrate(&proc->header.first, begin);
	mk_proc_write(proc);
	snprintf(path, sizeof(path), "%s/proc", proc->path);
	proc->defs = open(path, O_WRONLY | O_APPEND);
	if (proc->defs < 0 || ftruncate(proc->defs, GT_DEFS_AT) ||
	    write(proc->defs, &head, sizeof(head)) != sizeof(head))
		die(path);
	return proc;
}

void mk_proc_write(struct mk_proc *proc)
{
	char path[700];

	snprintf(path, sizeof(path), "%s/proc", proc->path);
	put_file(path, &proc->header, sizeof(proc->header), 0);
}

void mk_proc_end(struct mk_proc *proc, enum gt_end_how how, uint32_t status, uint64_t tick)
{
	proc->header.state = how == GT_END_EXEC ? GT_PROC_EXEC : GT_PROC_ENDED;
	proc->header.how = how;
	proc->header.status = status;
	proc->header.end = tick;
	calibrate(&proc->header.last, tick);
	mk_proc_write(proc);
}

void mk_proc_free(struct mk_proc *proc)
{
	close(proc->defs);
	free(proc);
}

static uint32_t fnv(uint32_t hash, const void *data, size_t bytes)
{
	const unsigned char *p = data;

	while (bytes--)
		hash = (hash ^ *p++) * 16777619u;
	return hash;
}

uint32_t mk_def(struct mk_proc *proc, unsigned type, uint32_t id, const void *payload, size_t bytes)
{
	size_t whole = (sizeof(struct gt_def) + bytes + 7) / 8 * 8;
	unsigned char *record = have(calloc(1, whole));
	struct gt_def def = { .bytes = (uint32_t)whole, .type = (uint16_t)type };

	def.id = id ? id : ++proc->last_id[type];
	memcpy(record + sizeof(def), payload, bytes);
	def.check = fnv(fnv(2166136261u, &def, 12), record + sizeof(def), whole - sizeof(def));
	memcpy(record, &def, sizeof(def));
	if (write(proc->defs, record, whole) != (ssize_t)whole)
		die("defs");
	free(record);
	return def.id;
}

uint32_t mk_string(struct mk_proc *proc, const char *text)
{
	return mk_def(proc, GT_D_STRING, 0, text, strlen(text) + 1);
}

uint32_t mk_region(struct mk_proc *proc, const char *name)
{
	struct gt_def_region region = { .name = mk_string(proc, name), .role = 1, .paradigm = 1 };

	return mk_def(proc, GT_D_REGION, 0, &region, sizeof(region));
}

uint32_t mk_range(struct mk_proc *proc, const char *name, const char *group)
{
	struct gt_def_region region = { .name = mk_string(proc, name), .role = 4, .paradigm = 1,
					.group = mk_string(proc, group) };

	return mk_def(proc, GT_D_REGION, 0, &region, sizeof(region));
}

void mk_module(struct mk_proc *proc, uint64_t tick, uint64_t start, uint64_t end, uint64_t offset,
	       const char *path)
{
	unsigned char payload[sizeof(struct gt_def_module) + 600];
	struct gt_def_module module = { .tick = tick, .start = start, .end = end,
					.offset = offset };
	struct stat st;

	if (!stat(path, &st)) {
		module.size = (uint64_t)st.st_size;
		module.inode = st.st_ino;
		module.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	}
	memcpy(payload, &module, sizeof(module));
	snprintf((char *)payload + sizeof(module), 600, "%s", path);
	mk_def(proc, GT_D_MODULE, 0, payload, sizeof(module) + strlen(path) + 1);
}

void mk_property(struct mk_proc *proc, const char *key, const char *value)
{
	char payload[2000];
	size_t n = strlen(key) + 1;

	memcpy(payload, key, n);
	snprintf(payload + n, sizeof(payload) - n, "%s", value);
	mk_def(proc, GT_D_PROPERTY, 0, payload, n + strlen(value) + 1);
}

static struct mk_loc *make_loc(struct mk_proc *proc, uint32_t id, uint32_t half, uint64_t ring,
			       uint64_t begin, struct gt_def_location def)
{
	struct mk_loc *loc = have(calloc(1, sizeof(*loc)));
	char path[700];

	loc->proc = proc;
	loc->window = have(calloc(2, half));
	loc->limit = half;
	loc->win = (struct gt_win_header){
		.magic = GT_MAGIC_WIN,
		.version = GT_FORMAT_VERSION,
		.header_bytes = GT_PAGE,
		.half_bytes = half,
		.id = id,
		.begin = begin,
		.ring_bytes = ring,
		.half_base = { 0, UINT64_MAX },
		.half_tick = { begin, 0 },
		.committed = UINT64_MAX,
		.tid = proc->header.pid + id,
		.incarnation = 1,
	};
	snprintf(path, sizeof(path), "%s/l%u.raw", proc->path, id);
	loc->raw = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (loc->raw < 0)
		die(path);
	loc->win.kind = def.kind;
	mk_def(proc, GT_D_LOCATION, id, &def, sizeof(def));
	proc->header.locations++;
	return loc;
}

struct mk_loc *mk_loc(struct mk_proc *proc, uint32_t id, uint32_t half, uint64_t ring,
		      uint64_t begin)
{
	return make_loc(proc, id, half, ring, begin,
			(struct gt_def_location){ .kind = GT_LOC_THREAD, .tick = begin });
}

struct mk_loc *mk_loc_kind(struct mk_proc *proc, uint32_t id, enum gt_loc_kind kind, const char *name,
			   uint32_t group)
{
	struct gt_def_location def = { .kind = kind, .tick = proc->header.begin, .group = group };
	struct mk_loc *loc;

	def.name = name ? mk_string(proc, name) : 0;
	loc = make_loc(proc, id, 1 << 16, 0, proc->header.begin, def);
	loc->win.flags = GT_LOC_UNSORTED | GT_LOC_COMMITS;
	loc->win.committed = 0;
	return loc;
}

static struct gt_slot *slot_at(struct mk_loc *loc, uint64_t offset)
{
	return (struct gt_slot *)(loc->window + offset % (2 * (uint64_t)loc->win.half_bytes));
}

static void spool_half(struct mk_loc *loc)
{
	uint64_t half = loc->win.half_bytes, at = loc->win.spooled;

	if (pwrite(loc->raw, slot_at(loc, at), half,
		   (off_t)(loc->win.ring_bytes ? at % loc->win.ring_bytes : at)) != (ssize_t)half)
		die("raw");
	loc->win.spooled += half;
}

static void next_half(struct mk_loc *loc, uint64_t tick)
{
	unsigned index = loc->limit / loc->win.half_bytes & 1;

	for (; loc->cur < loc->limit; loc->cur += GT_SLOT)
		*slot_at(loc, loc->cur) = (struct gt_slot){ tick, GT_WORD(GT_T_PAD, 0) };
	loc->win.half_base[index] = loc->limit;
	loc->win.half_tick[index] = tick;
	loc->limit += loc->win.half_bytes;
	spool_half(loc);
}

uint64_t mk_reserve(struct mk_loc *loc, uint64_t tick, unsigned slots)
{
	uint64_t at;

	if (loc->cur + slots * GT_SLOT > loc->limit)
		next_half(loc, tick);
	at = loc->cur;
	loc->cur += slots * GT_SLOT;
	return at;
}

void mk_finish(struct mk_loc *loc, uint64_t offset, uint64_t tick, uint64_t word)
{
	*slot_at(loc, offset) = (struct gt_slot){ tick, word };
}

void mk_slot(struct mk_loc *loc, uint64_t tick, uint64_t word)
{
	mk_finish(loc, mk_reserve(loc, tick, 1), tick, word);
}

void mk_record(struct mk_loc *loc, uint64_t tick, unsigned type, uint64_t low,
	       const uint64_t *data, unsigned extra)
{
	uint64_t at = mk_reserve(loc, tick, 1 + extra);

	for (unsigned i = 0; i < extra; i++)
		*slot_at(loc, at + (1 + i) * GT_SLOT) =
			(struct gt_slot){ data[2 * i], data[2 * i + 1] };
	mk_finish(loc, at, tick, GT_WORDX(type, extra, low));
}

void mk_loc_close(struct mk_loc *loc)
{
	char path[700];
	static const unsigned char zeros[GT_PAGE];

	if (loc->win.flags & GT_LOC_COMMITS)
		loc->win.committed = loc->cur;
	snprintf(path, sizeof(path), "%s/l%u.win", loc->proc->path, loc->win.id);
	put_file(path, zeros, sizeof(zeros), 0);
	put_file(path, &loc->win, sizeof(loc->win), 0);
	put_file(path, loc->window, 2 * (size_t)loc->win.half_bytes, GT_PAGE);
	close(loc->raw);
	free(loc->window);
	free(loc);
}
