/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: a cubin and nvdisasm's listing of it, separated by a line "%%", for the reader of line tables.
 *
 * Limits: the listing is handed to the reader as it is; nvdisasm is not run. Line tables are libdw's, which
 * is not instrumented.
 *
 * fuzz-sources: lib/assemble/util/io.c
 * fuzz-flags: -ldw -lelf
 */
#include "report/source/cubin.c" /* for read_listing() */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[4096];
static int folder_fd = -1, file = -1;

static void leave(void)
{
	unlinkat(folder_fd, "0000000000000005.cubin", 0);
	rmdir(folder);
}

static void begin(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/fuzz-cubin.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(folder) || (folder_fd = open(folder, O_DIRECTORY | O_RDONLY)) < 0 ||
	    (file = openat(folder_fd, "0000000000000005.cubin", O_CREAT | O_RDWR, 0600)) < 0)
		abort();
	atexit(leave);
}

static void require(int holds, const char *what)
{
	if (!holds) {
		fprintf(stderr, "does not hold: %s\n", what);
		abort();
	}
}

/* Of any function of the cubin, and some that it has not. */
static void ask(struct gt_cubin *c)
{
	static const char *const names[] = { "k", "_Z4workPf", "" };
	struct gt_cubin_frame frames[GT_CUBIN_FRAMES];
	size_t length = 0;

	for (unsigned i = 0; i < 24; i++)
		for (uint64_t offset = 0; offset < 0x200; offset += 16) {
			size_t n = gt_cubin_frames(c, i, names[i % 3], offset, frames);
			const char *text = gt_cubin_text(c, names[i % 3], offset);

			require(n <= GT_CUBIN_FRAMES, "not more frames than there is room for");
			require(!n || gt_cubin_has_lines(c), "frames come of lines");
			for (size_t k = 0; k < n; k++)
				length += strlen(frames[k].file) +
					  (frames[k].function ? strlen(frames[k].function) : 0);
			length += text ? strlen(text) : 0;
		}
	require(length < SIZE_MAX / 2, "texts end");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *mark = size ? memmem(data, size, "\n%%\n", 4) : NULL;
	size_t bytes = mark ? (size_t)(mark - data) : size;
	struct gt_cubin *c;

	if (file < 0)
		begin();
	if (ftruncate(file, 0) || pwrite(file, data, bytes, 0) != (ssize_t)bytes)
		abort();
	c = gt_cubin_open(folder_fd, 5);
	if (!c)
		return 0;
	if (mark) {
		c->listing = strndup((const char *)mark + 4, size - bytes - 4);
		read_listing(c);
	}
	ask(c);
	gt_cubin_close(c);
	return 0;
}
