/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of JIT compilers (jit.h): the file, the ranges of addresses, and names.
 *
 * Ranges may overlap in any way, and later lines win. All begins and ends, sorted, cut the addresses into
 * pieces; each line, the last one first, takes the pieces that no other has taken yet.
 *
 * Limits: see jit.h. What the file says is looked at before it is believed.
 */
#include "config.h"

#include "lib/assemble/names/jit.h"

#include "lib/assemble/util/array.h"
#include "lib/common/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BYTES_MOST   ((size_t)256 << 20)
#define LINES_MOST   ((size_t)4 << 20)
#define SLACK        INT64_C(2000000000) /* ns: clocks of files are coarse, and buffers are written late */
#define RATE_ERROR   1000 /* part by which a clock may be faster than it says */
#define ADDRESS_MOST UINT64_C(0xffffffffffff)

struct line {
	uint64_t start, end;
	uint32_t name, length; /* in the text */
};

struct gt_jit {
	char *text;
	struct line *lines;
	size_t count;
	uint64_t *cuts;  /* sorted, each once */
	uint32_t *owner; /* of the piece that begins at a cut: 1 + the line, 0: none */
	size_t cut_count;
};

/* ---- lines ----------------------------------------------------------------------------------------- */

/* False: there is no number, or one of more than 64 bits. */
static bool hexadecimal(const char **at, const char *end, uint64_t *number)
{
	const char *begin;

	while (*at < end && **at == ' ')
		++*at;
	if (end - *at > 2 && !memcmp(*at, "0x", 2))
		*at += 2;
	*number = 0;
	for (begin = *at; *at < end && *at - begin < 16; ++*at) {
		char c = **at;
		int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10
			  : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;

		if (digit < 0)
			break;
		*number = *number << 4 | (unsigned)digit;
	}
	return *at > begin && *at < end && **at == ' ';
}

static bool read_line(const char *text, const char *at, const char *end, struct line *line)
{
	uint64_t size;

	if (!hexadecimal(&at, end, &line->start) || !hexadecimal(&at, end, &size))
		return false;
	at++;
	if (at == end || !size || line->start > ADDRESS_MOST || size > ADDRESS_MOST - line->start)
		return false;
	line->end = line->start + size;
	line->name = (uint32_t)(at - text);
	line->length = (uint32_t)(end - at);
	return true;
}

static void read_lines(struct gt_jit *jit, size_t bytes)
{
	const char *at = jit->text, *end = at + bytes, *next;
	size_t room = 0, count = 0;

	for (next = at; (next = memchr(next, '\n', (size_t)(end - next))); next++)
		count++;
	for (; count > LINES_MOST; count--) /* the last ones count */
		at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
	for (; at < end; at = next + 1) {
		struct line line;

		next = memchr(at, '\n', (size_t)(end - at));
		if (!next) /* what is being written */
			break;
		if (!read_line(jit->text, at, next, &line))
			continue;
		if (!gt_array_has_room(jit->lines, jit->count, &room))
			break;
		jit->lines[jit->count++] = line;
	}
}

/* ---- pieces ---------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void sort_cuts(struct gt_jit *jit)
{
	size_t kept = 0;

	for (size_t i = 0; i < jit->count; i++) {
		jit->cuts[2 * i] = jit->lines[i].start;
		jit->cuts[2 * i + 1] = jit->lines[i].end;
	}
	qsort(jit->cuts, 2 * jit->count, sizeof(*jit->cuts), by_value);
	for (size_t i = 0; i < 2 * jit->count; i++)
		if (!kept || jit->cuts[kept - 1] != jit->cuts[i])
			jit->cuts[kept++] = jit->cuts[i];
	jit->cut_count = kept;
}

/* The last cut that is not above; there is one. */
static size_t cut_of(const struct gt_jit *jit, uint64_t address)
{
	size_t low = 0, high = jit->cut_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (jit->cuts[middle] <= address)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* `next`: of a piece that is taken, one behind it that may be free. */
static size_t free_piece(uint32_t *next, size_t piece)
{
	while (next[piece] != piece) {
		next[piece] = next[next[piece]];
		piece = next[piece];
	}
	return piece;
}

static bool share_out(struct gt_jit *jit)
{
	uint32_t *next;

	jit->cuts = reallocarray(NULL, 2 * jit->count, sizeof(*jit->cuts));
	if (!jit->cuts)
		return false;
	sort_cuts(jit);
	jit->owner = calloc(jit->cut_count, sizeof(*jit->owner));
	next = reallocarray(NULL, jit->cut_count, sizeof(*next));
	for (size_t i = 0; next && i < jit->cut_count; i++)
		next[i] = (uint32_t)i;
	for (size_t i = jit->count; jit->owner && next && i-- > 0;) {
		size_t piece = free_piece(next, cut_of(jit, jit->lines[i].start));

		while (jit->cuts[piece] < jit->lines[i].end) {
			jit->owner[piece] = (uint32_t)(i + 1);
			next[piece] = (uint32_t)(piece + 1);
			piece = free_piece(next, piece);
		}
	}
	free(next);
	return jit->owner && next;
}

/* ---- names ----------------------------------------------------------------------------------------- */

static void copy(char *to, const char *from, size_t length)
{
	if (length > GT_NAME_MAX)
		length = GT_NAME_MAX;
	memcpy(to, from, length);
	to[length] = '\0';
}

static bool begins(const char **name, size_t *length, const char *with)
{
	size_t n = strlen(with);

	if (*length < n || memcmp(*name, with, n))
		return false;
	*name += n;
	*length -= n;
	return true;
}

/* CPython: "py::" has been read; NAME:FILE. */
static void split_py(const char *name, size_t length, struct gt_jit_function *function)
{
	const char *colon = memchr(name, ':', length);

	copy(function->name, name, colon ? (size_t)(colon - name) : length);
	if (colon)
		copy(function->file, colon + 1, length - (size_t)(colon - name) - 1);
}

/* Takes ":NUMBER" off the end. */
static bool take_number(const char *text, size_t *length, unsigned *number)
{
	size_t digits = 0;
	unsigned power = 1;

	*number = 0;
	for (; digits < 9 && digits < *length && text[*length - digits - 1] >= '0' &&
	       text[*length - digits - 1] <= '9'; digits++, power *= 10)
		*number += (unsigned)(text[*length - digits - 1] - '0') * power;
	if (!digits || digits == *length || text[*length - digits - 1] != ':')
		return false;
	*length -= digits + 1;
	return true;
}

/* V8: its kind of code and ':' have been read; [*~^+]NAME FILE:LINE:COLUMN, each part but one may be missing.
 * The mark says how well it was compiled, which is none of the function's own. */
static void split_js(const char *name, size_t length, struct gt_jit_function *function)
{
	const char *file = memchr(name, ' ', length);
	size_t rest = file ? length - (size_t)(file + 1 - name) : 0;
	unsigned column;

	if (length && strchr("*~^+", *name)) {
		name++;
		length--;
	}
	if (!file || !take_number(file + 1, &rest, &column) ||
	    !take_number(file + 1, &rest, &function->line)) {
		function->line = 0;
		copy(function->name, name, length);
		return;
	}
	copy(function->file, file + 1, rest);
	if (file > name)
		copy(function->name, name, (size_t)(file - name));
	else
		snprintf(function->name, sizeof(function->name), "(anonymous)");
}

static void name_function(const char *name, size_t length, struct gt_jit_function *function)
{
	function->file[0] = '\0';
	function->line = 0;
	if (begins(&name, &length, "py::"))
		split_py(name, length, function);
	else if (begins(&name, &length, "JS:") || begins(&name, &length, "LazyCompile:") ||
		 begins(&name, &length, "Function:") || begins(&name, &length, "Script:"))
		split_js(name, length, function);
	else
		copy(function->name, name, length);
}

bool gt_jit_find(const struct gt_jit *jit, uint64_t address, struct gt_jit_function *function)
{
	uint32_t owner = jit && address >= jit->cuts[0] ? jit->owner[cut_of(jit, address)] : 0;
	const struct line *line;

	if (!owner)
		return false;
	line = &jit->lines[owner - 1];
	name_function(jit->text + line->name, line->length, function);
	return true;
}

/* ---- the file -------------------------------------------------------------------------------------- */

static size_t read_text(int fd, char *text, size_t size)
{
	size_t bytes = 0;

	while (bytes < size) {
		ssize_t n = read(fd, text + bytes, size - bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		bytes += (size_t)n;
	}
	return bytes;
}

struct gt_jit *gt_jit_read(int fd)
{
	struct gt_jit *jit = calloc(1, sizeof(*jit));
	struct stat st;
	size_t size;

	if (!jit || fstat(fd, &st) || st.st_size <= 0)
		goto none;
	size = (uint64_t)st.st_size < BYTES_MOST ? (size_t)st.st_size : BYTES_MOST;
	jit->text = malloc(size);
	if (!jit->text || lseek(fd, st.st_size - (off_t)size, SEEK_SET) < 0)
		goto none;
	read_lines(jit, read_text(fd, jit->text, size));
	if (jit->count && share_out(jit))
		return jit;
none:
	gt_jit_free(jit);
	return NULL;
}

void gt_jit_free(struct gt_jit *jit)
{
	if (!jit)
		return;
	free(jit->text);
	free(jit->lines);
	free(jit->cuts);
	free(jit->owner);
	free(jit);
}

/* Was this the process's user, the owner of its folder? */
static bool is_owner(const struct gt_proc *proc, uid_t uid)
{
	int fd = gt_proc_open(proc);
	struct stat st;
	bool is = fd >= 0 && !fstat(fd, &st) && st.st_uid == uid;

	if (fd >= 0)
		close(fd);
	return is;
}

/*
 * Until when a killed process can have been there, by the clock of files: its last record's time, if its
 * counter is not faster than it says, or not slower than 1 GHz where it says nothing; and not later than now.
 */
static int64_t latest_end(const struct gt_proc *proc)
{
	const struct gt_proc_header *header = &proc->header;
	double hz = header->nominal_hz ? (double)header->nominal_hz : 1e9;
	double life = proc->end_tick > header->first.tick
			      ? 1e9 * (double)(proc->end_tick - header->first.tick) / hz : 0;
	struct timespec at;
	int64_t now;

	clock_gettime(CLOCK_REALTIME, &at);
	now = (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
	life += life / RATE_ERROR;
	return life < (double)(now - header->first.real_ns) ? header->first.real_ns + (int64_t)life : now;
}

/* Was it written last while the process was there? Earlier and later ones may have had its number. */
static bool in_its_life(const struct gt_proc *proc, const struct timespec *written)
{
	int64_t ns = (int64_t)written->tv_sec * 1000000000 + written->tv_nsec;
	const struct gt_proc_header *header = &proc->header;

	if (ns < header->first.real_ns - SLACK)
		return false;
	if (header->last.tick)
		return ns <= header->last.real_ns + SLACK;
	return gt_process_start_time(header->pid) == header->start_time || ns <= latest_end(proc) + SLACK;
}

static struct gt_jit *read_of(const struct gt_proc *proc)
{
	struct gt_jit *jit = NULL;
	char path[40];
	struct stat st;
	int fd;

	if (!gt_proc_same_boot(proc))
		return NULL;
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", proc->header.pid);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && is_owner(proc, st.st_uid) &&
	    in_its_life(proc, &st.st_mtim))
		jit = gt_jit_read(fd);
	close(fd);
	return jit;
}

/* NULL: there is none, or no memory. */
static const struct gt_jit *map_of(struct gt_jits *jits, const struct gt_proc *proc)
{
	const struct gt_lookup_entry *entry;
	struct gt_jit *jit;

	if (!jits->numbers.entries && gt_lookup_init(&jits->numbers))
		return NULL;
	entry = gt_lookup_find(&jits->numbers, (uintptr_t)proc);
	if (entry)
		return jits->maps[entry->value];
	if (!gt_array_has_room(jits->maps, jits->count, &jits->room) ||
	    !gt_lookup_put(&jits->numbers, (uintptr_t)proc, (uint32_t)jits->count, 0))
		return NULL;
	jit = read_of(proc);
	jits->maps[jits->count++] = jit;
	return jit;
}

bool gt_jits_find(struct gt_jits *jits, const struct gt_proc *proc, uint64_t address,
		  struct gt_jit_function *function)
{
	for (; proc; proc = proc->header.origin == 1 ? proc->parent : NULL)
		if (gt_jit_find(map_of(jits, proc), address, function))
			return true;
	return false;
}

void gt_jits_free(struct gt_jits *jits)
{
	for (size_t i = 0; i < jits->count; i++)
		gt_jit_free(jits->maps[i]);
	free(jits->maps);
	free(jits->numbers.entries);
}
