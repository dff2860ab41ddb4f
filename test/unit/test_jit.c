/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/assemble/names/jit.c: maps of code that JIT compilers have made, as these write them and
 * as nobody would.
 */
#include "lib/assemble/names/jit.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A map with this text. */
static struct gt_jit *read_map(const char *text, size_t bytes)
{
	FILE *file = tmpfile();
	struct gt_jit *jit;

	cr_assert(file != NULL);
	cr_assert(eq(sz, fwrite(text, 1, bytes, file), bytes));
	cr_assert(eq(int, fflush(file), 0));
	rewind(file);
	jit = gt_jit_read(fileno(file));
	fclose(file);
	return jit;
}

/* "name file:line" of an address; "-": nothing. Valid until the next one. */
static const char *at(const struct gt_jit *jit, uint64_t address)
{
	static char text[2 * GT_NAME_MAX + 64];
	struct gt_jit_function function;

	if (!gt_jit_find(jit, address, &function))
		return "-";
	snprintf(text, sizeof(text), "%s %s:%u", function.name, function.file, function.line);
	return text;
}

static void expect_name(const char *name, const char *wanted)
{
	char line[4096];
	struct gt_jit *jit;

	snprintf(line, sizeof(line), "1000 10 %s\n", name);
	jit = read_map(line, strlen(line));
	cr_expect(eq(str, (char *)at(jit, 0x1008), (char *)wanted), "of %s", name);
	gt_jit_free(jit);
}

Test(jit, names)
{
	expect_name("int Main.alpha(int, long)", "int Main.alpha(int, long) :0");
	expect_name("py::C.method:/src/a b.py", "C.method /src/a b.py:0");
	expect_name("py::<listcomp>", "<listcomp> :0");
	expect_name("JS:*hot file:///src/a b.js:12:7", "hot file:///src/a b.js:12");
	expect_name("LazyCompile:~hot /src/a.js:3:1", "hot /src/a.js:3");
	expect_name("JS:^ /src/a.js:3:1", "(anonymous) /src/a.js:3");
	expect_name("JS:* /src/a.js:3:1", "(anonymous) /src/a.js:3");
	expect_name("JS:hot", "hot :0");
	expect_name("JS:", " :0");
	expect_name("JS:*", " :0");
	expect_name("JS:f :1:2", "f :1");
	expect_name("JS:f 1:2", "f 1:2 :0");
	expect_name("JS:f a:99999999999:2", "f a:99999999999:2 :0");
	expect_name("BytecodeHandler:Ldar", "BytecodeHandler:Ldar :0");
	expect_name("\033[31m\001\377red", "\033[31m\001\377red :0");
}

Test(jit, lines)
{
	static const char text[] =
		"1000 10 first\n2000 10\n2000 10 \n2000\n\n \nabc\n2000 0 none\n2000 -1 none\n"
		"fffffffffff0 f last\nfffffffffff0 10 beyond\nffffffffffffffff 2 around\n"
		"10000000000001000 10 long\n  3000   0x20  spaces\n0x4000 10 0x\n5000 10 a\0b\n6000 10 cut";
	struct gt_jit *jit = read_map(text, sizeof(text) - 1);

	cr_expect(eq(str, (char *)at(jit, 0xfff), "-"));
	cr_expect(eq(str, (char *)at(jit, 0), "-"));
	cr_expect(eq(str, (char *)at(jit, 0x1000), "first :0"));
	cr_expect(eq(str, (char *)at(jit, 0x100f), "first :0"));
	cr_expect(eq(str, (char *)at(jit, 0x1010), "-"));
	cr_expect(eq(str, (char *)at(jit, 0x2000), "-"));
	cr_expect(eq(str, (char *)at(jit, 0xfffffffffffe), "last :0"));
	cr_expect(eq(str, (char *)at(jit, 0xffffffffffff), "-"));
	cr_expect(eq(str, (char *)at(jit, UINT64_MAX), "-"));
	cr_expect(eq(str, (char *)at(jit, 0x301f), " spaces :0"));
	cr_expect(eq(str, (char *)at(jit, 0x4000), "0x :0"));
	cr_expect(eq(str, (char *)at(jit, 0x5000), "a :0"));
	cr_expect(eq(str, (char *)at(jit, 0x6000), "-"));
	gt_jit_free(jit);
	cr_expect(read_map("", 0) == NULL);
	cr_expect(read_map("nothing\nof use\n", 15) == NULL);
	cr_expect(eq(str, (char *)at(NULL, 1), "-"));
}

/* A name of a megabyte is cut. */
Test(jit, long_name)
{
	size_t bytes = 1 << 20;
	char *text = malloc(bytes);
	struct gt_jit_function function;
	struct gt_jit *jit;

	cr_assert(text != NULL);
	memset(text, 'x', bytes);
	memcpy(text, "1000 10 ", 8);
	text[bytes - 1] = '\n';
	jit = read_map(text, bytes);
	cr_assert(gt_jit_find(jit, 0x1000, &function));
	cr_expect(eq(sz, strlen(function.name), GT_NAME_MAX));
	gt_jit_free(jit);
	free(text);
}

enum { SPACE = 4096, RANGES = 300 };

/* Ranges in any way in each other: of each address the last one has it. */
Test(jit, later_lines_win)
{
	unsigned owner[SPACE];

	srand(1);
	for (int round = 0; round < 50; round++) {
		char *text = NULL;
		size_t bytes = 0;
		FILE *out = open_memstream(&text, &bytes);
		struct gt_jit *jit;

		memset(owner, 0, sizeof(owner));
		for (unsigned i = 1; i <= RANGES; i++) {
			unsigned start = (unsigned)rand() % SPACE;
			unsigned size = 1 + (unsigned)rand() % (rand() % 4 ? 32 : SPACE);

			fprintf(out, "%x %x %u\n", start, size, i);
			for (unsigned k = start; k < start + size && k < SPACE; k++)
				owner[k] = i;
		}
		fclose(out);
		jit = read_map(text, bytes);
		for (unsigned k = 0; k < SPACE; k++) {
			char wanted[32] = "-";

			if (owner[k])
				snprintf(wanted, sizeof(wanted), "%u :0", owner[k]);
			cr_assert(eq(str, (char *)at(jit, k), wanted), "round %d, address %u", round, k);
		}
		gt_jit_free(jit);
		free(text);
	}
}

/* A million lines, each of which covers all before it, are read in a moment. */
Test(jit, many_lines, .timeout = 60)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	struct gt_jit *jit;

	for (unsigned i = 0; i < 1000000; i++)
		fprintf(out, "%x %x f%u\n", 0x1000000 - i, 2 * i + 1, i);
	fclose(out);
	jit = read_map(text, bytes);
	cr_expect(eq(str, (char *)at(jit, 0x1000000), "f999999 :0"));
	gt_jit_free(jit);
	free(text);
}

/* What processes that were forked from this one ask of its map, after somebody has removed it. */
Test(jit, of_several_children)
{
	char folder[] = "/tmp/gputrace-jit.XXXXXX", map[40];
	struct gt_root root = { .fd = -1 };
	struct gt_proc parent = { .root = &root, .folder = "." }, children[2] = { parent, parent };
	struct gt_jit_function function;
	struct gt_jits jits = { .count = 0 };
	struct timespec now;
	FILE *file;

	snprintf(map, sizeof(map), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(map, "w");
	cr_assert(file && fputs("1000 10 alpha\n", file) > 0 && !fclose(file));
	file = fopen("/proc/sys/kernel/random/boot_id", "r");
	cr_assert(file && fread(root.run.boot_id, 1, 36, file) == 36 && !fclose(file));
	cr_assert(mkdtemp(folder) && !clock_gettime(CLOCK_REALTIME, &now));
	root.fd = open(folder, O_RDONLY | O_DIRECTORY);
	parent.header.pid = (uint32_t)getpid();
	parent.header.first.real_ns = parent.header.last.real_ns = now.tv_sec * 1000000000LL + now.tv_nsec;
	parent.header.last.tick = 1;
	for (uint32_t i = 0; i < 2; i++) {
		children[i].parent = &parent;
		children[i].header = parent.header;
		children[i].header.origin = 1;
		children[i].header.pid = UINT32_MAX - i; /* nobody has it */
		cr_expect(gt_jits_find(&jits, &children[i], 0x1008, &function), "child %u", i);
		cr_expect(eq(str, function.name, "alpha"));
		cr_expect(not(gt_jits_find(&jits, &children[i], 0x1010, &function)));
		unlink(map);
	}
	gt_jits_free(&jits);
	close(root.fd);
	rmdir(folder);
}
