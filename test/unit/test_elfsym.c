/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/record/elfsym.c: its own program's functions, and damaged files.
 *
 * Limits: files of this machine only.
 */
#include "lib/record/elfsym.h"

#include <criterion/criterion.h>
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int elfsym_visible(int x);
__attribute__((noinline, visibility("default"))) int elfsym_visible(int x)
{
	return x * 3;
}

static __attribute__((noinline)) int elfsym_hidden(int x)
{
	return x * 5;
}

int elfsym_alias(int x)
	__attribute__((weak, visibility("default"), alias("elfsym_visible")));

/* The offset in our file of something in our memory. */
static uint64_t offset_of(const void *address)
{
	char line[512];
	uint64_t result = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	while (fgets(line, sizeof(line), maps)) {
		unsigned long from, to, offset;

		if (sscanf(line, "%lx-%lx %*s %lx", &from, &to, &offset) == 3 &&
		    (uintptr_t)address >= from && (uintptr_t)address < to)
			result = (uintptr_t)address - from + offset;
	}
	fclose(maps);
	return result;
}

Test(elfsym, own_functions)
{
	struct gt_elfsym elf;
	uint64_t at = offset_of((void *)elfsym_visible);

	cr_assert_eq(gt_elfsym_open(&elf, "/proc/self/exe"), 0);
	cr_expect_gt(elf.count, 20);
	cr_expect_str_eq(gt_elfsym_find(&elf, at), "elfsym_visible");
	cr_expect_str_eq(gt_elfsym_find(&elf, at + 3), "elfsym_visible");
	cr_expect_str_eq(gt_elfsym_find(&elf, offset_of((void *)elfsym_hidden)), "elfsym_hidden");
	cr_expect_null(gt_elfsym_find(&elf, 0));
	cr_expect_null(gt_elfsym_find(&elf, UINT64_MAX));
	gt_elfsym_close(&elf);
	cr_expect_null(gt_elfsym_find(&elf, at));
	cr_expect_eq(elfsym_visible(elfsym_hidden(elfsym_alias(1))), 45);
}

Test(elfsym, sorted_and_unique)
{
	struct gt_elfsym elf;

	cr_assert_eq(gt_elfsym_open(&elf, "/proc/self/exe"), 0);
	for (uint32_t i = 1; i < elf.count; i++)
		cr_assert_lt(elf.functions[i - 1].value, elf.functions[i].value);
	gt_elfsym_close(&elf);
}

/* A stripped library still has its dynamic symbols. */
Test(elfsym, dynamic_symbols)
{
	Dl_info info;
	struct gt_elfsym elf;
	const char *name;

	cr_assert(dladdr((void *)getenv, &info));
	cr_assert_eq(gt_elfsym_open(&elf, info.dli_fname), 0);
	name = gt_elfsym_find(&elf, offset_of(info.dli_saddr));
	cr_assert(name);
	cr_expect_str_eq(name, "getenv");
	gt_elfsym_close(&elf);
}

Test(elfsym, not_elf)
{
	struct gt_elfsym elf;

	cr_expect_eq(gt_elfsym_open(&elf, "/nonexistent"), -ENOENT);
	cr_expect_eq(gt_elfsym_open(&elf, "/dev/null"), -ENOEXEC);
	cr_expect_eq(gt_elfsym_open(&elf, "/"), -ENOEXEC);
	cr_expect_eq(gt_elfsym_open(&elf, "/proc/self/maps"), -ENOEXEC);
	cr_expect_null(gt_elfsym_find(&elf, 0));
	gt_elfsym_close(&elf);
}

/* ---- damaged copies of ourselves ------------------------------------------------------------- */

static unsigned char *image;
static size_t image_size;
static char copy_path[] = "/tmp/gt-elfsym-XXXXXX";

static void read_image(void)
{
	struct stat st;
	int fd = open("/proc/self/exe", O_RDONLY);

	fstat(fd, &st);
	image_size = (size_t)st.st_size;
	image = malloc(image_size);
	cr_assert_eq(read(fd, image, image_size), (ssize_t)image_size);
	close(fd);
	close(mkstemp(copy_path));
}

static void write_copy(size_t size)
{
	int fd = open(copy_path, O_WRONLY | O_TRUNC);

	cr_assert_eq(write(fd, image, size), (ssize_t)size);
	close(fd);
}

/* Opens the copy and asks it everywhere; what comes back must be readable text. */
static int probe(void)
{
	struct gt_elfsym elf;
	int ret = gt_elfsym_open(&elf, copy_path);
	size_t bytes = 0;

	for (uint64_t at = 0; at < image_size; at += 97) {
		const char *name = gt_elfsym_find(&elf, at);

		bytes += name ? strlen(name) : 0;
	}
	gt_elfsym_close(&elf);
	return ret ? ret : bytes > 0;
}

Test(elfsym, cut_files)
{
	read_image();
	for (size_t size = 0; size < image_size; size += 1 + image_size / 97) {
		write_copy(size);
		cr_expect_lt(probe(), 1, "cut to %zu bytes it still has all its sections", size);
	}
	write_copy(image_size);
	cr_expect_eq(probe(), 1);
	unlink(copy_path);
}

/* Every byte of the headers, one after the other, at its extremes. */
Test(elfsym, damaged_headers, .timeout = 60)
{
	ElfW(Ehdr) *header;
	size_t places[4096], count = 0;

	read_image();
	header = (ElfW(Ehdr) *)image;
	for (size_t i = 0; i < sizeof(*header); i++)
		places[count++] = i;
	for (unsigned s = 0; s < header->e_shnum && count < 3000; s++) {
		ElfW(Shdr) *section = (ElfW(Shdr) *)(image + header->e_shoff) + s;

		if (section->sh_type != SHT_SYMTAB && section->sh_type != SHT_STRTAB)
			continue;
		for (size_t i = 0; i < sizeof(*section); i++)
			places[count++] = (size_t)((unsigned char *)section - image) + i;
		for (size_t i = 0; i < 48 && section->sh_size >= 48; i++)
			places[count++] = section->sh_offset + section->sh_size - 1 - i;
	}
	for (size_t i = 0; i < count; i++) {
		static const unsigned char bytes[] = { 0x00, 0xff, 0x80 };
		unsigned char saved = image[places[i]];

		for (size_t b = 0; b < sizeof(bytes); b++) {
			int fd = open(copy_path, O_WRONLY);

			if (!i && !b)
				write_copy(image_size);
			image[places[i]] = bytes[b];
			cr_assert_eq(pwrite(fd, &bytes[b], 1, (off_t)places[i]), 1);
			probe();
			cr_assert_eq(pwrite(fd, &saved, 1, (off_t)places[i]), 1);
			close(fd);
		}
		image[places[i]] = saved;
	}
	cr_expect_eq(probe(), 1);
	unlink(copy_path);
}
