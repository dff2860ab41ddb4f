/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at a program file before it is run (tools/binary.h).
 *
 * Limits: 64 program headers, 4,096 dynamic entries and 8 scripts deep are looked at; whatever lies
 * beyond is taken for harmless.
 */
#include "config.h"
#include "tools/binary.h"

#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tools/paths.h"

#define MAX_HEADERS 64
#define MAX_DYNAMIC 4096
#define MAX_SCRIPTS 8

/* Our own word size: a file of another one is never read further than its first bytes. */
typedef ElfW(Ehdr) elf_header;
typedef ElfW(Phdr) elf_segment;
typedef ElfW(Dyn) elf_dynamic;

static bool read_at(int fd, void *buffer, size_t size, uint64_t offset)
{
	return offset < INT64_MAX && pread(fd, buffer, size, (off_t)offset) == (ssize_t)size;
}

static bool read_text(int fd, char *buffer, size_t size, uint64_t offset)
{
	ssize_t n = offset < INT64_MAX ? pread(fd, buffer, size - 1, (off_t)offset) : -1;

	buffer[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool same_machine(const elf_header *h)
{
	static elf_header own;
	int fd;

	if (!own.e_machine) {
		fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			return true;
		if (!read_at(fd, &own, sizeof(own), 0))
			own.e_machine = h->e_machine;
		close(fd);
	}
	return h->e_ident[EI_CLASS] == own.e_ident[EI_CLASS] &&
	       h->e_ident[EI_DATA] == own.e_ident[EI_DATA] && h->e_machine == own.e_machine;
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Files start in memory at `vaddr` and on disk at `offset`: turns one into the other. */
static uint64_t file_offset(const elf_segment *seg, unsigned n, uint64_t address)
{
	for (unsigned i = 0; i < n; i++)
		if (seg[i].p_type == PT_LOAD && address >= seg[i].p_vaddr &&
		    address - seg[i].p_vaddr < seg[i].p_filesz)
			return address - seg[i].p_vaddr + seg[i].p_offset;
	return UINT64_MAX;
}

/* A sanitizer's runtime insists on being first; it does not when it is linked in (clang). */
static void find_runtime(int fd, const elf_segment *seg, unsigned n, const elf_segment *dynamic,
			 char *runtime, size_t size)
{
	static const char *const names[] = {"libasan.so", "libtsan.so", "liblsan.so", "libhwasan.so",
					    "libclang_rt.asan", "libclang_rt.tsan"};
	uint64_t names_at = UINT64_MAX;
	elf_dynamic d;

	for (unsigned pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < MAX_DYNAMIC && i < dynamic->p_filesz / sizeof(d); i++) {
			char needed[64];

			if (!read_at(fd, &d, sizeof(d), dynamic->p_offset + i * sizeof(d)) ||
			    d.d_tag == DT_NULL)
				break;
			if (pass == 0 && d.d_tag == DT_STRTAB)
				names_at = file_offset(seg, n, d.d_un.d_ptr);
			if (pass == 0 || d.d_tag != DT_NEEDED || names_at == UINT64_MAX ||
			    !read_text(fd, needed, sizeof(needed), names_at + d.d_un.d_val))
				continue;
			for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
				if (!strncmp(needed, names[k], strlen(names[k])))
					snprintf(runtime, size, "%s", needed);
		}
	}
}

static const char *own_loader(void)
{
	static char name[PATH_MAX];
	static bool asked;
	struct gt_binary self;

	if (!asked) {
		asked = true; /* before the call below, which comes back here */
		gt_binary_look("/proc/self/exe", &self);
		snprintf(name, sizeof(name), "%s", self.interpreter);
	}
	return name;
}

static void look_at_elf(int fd, const char *path, const elf_header *h, struct gt_binary *b)
{
	elf_segment seg[MAX_HEADERS];
	const elf_segment *loader = NULL, *dynamic = NULL;
	unsigned n = h->e_phnum < MAX_HEADERS ? h->e_phnum : MAX_HEADERS;

	if (!same_machine(h)) {
		b->kind = GT_BINARY_FOREIGN;
		return;
	}
	if (h->e_phentsize != sizeof(seg[0]) || !read_at(fd, seg, n * sizeof(seg[0]), h->e_phoff)) {
		b->kind = GT_BINARY_UNKNOWN;
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		if (seg[i].p_type == PT_INTERP)
			loader = &seg[i];
		if (seg[i].p_type == PT_DYNAMIC)
			dynamic = &seg[i];
	}
	if (!loader) {
		/* The loader itself, called by hand (ld.so ./program), obeys LD_PRELOAD. */
		bool ld = !strncmp(base(path), "ld-", 3) || !strncmp(base(path), "ld.so", 5);

		b->kind = ld && dynamic ? GT_BINARY_FINE : GT_BINARY_STATIC;
		return;
	}
	read_text(fd, b->interpreter,
		  loader->p_filesz < sizeof(b->interpreter) ? loader->p_filesz + 1
							    : sizeof(b->interpreter),
		  loader->p_offset);
	b->kind = GT_BINARY_FINE;
	if (own_loader()[0] && strcmp(base(own_loader()), base(b->interpreter)))
		b->kind = GT_BINARY_LIBC;
	if (dynamic)
		find_runtime(fd, seg, n, dynamic, b->runtime, sizeof(b->runtime));
}

/* "#! /usr/bin/env -S python3 -u": the program, and the rest in one piece, as the kernel does. */
static void look_at_script(char *line, struct gt_binary *b)
{
	char *end;

	line[strcspn(line, "\n")] = '\0';
	line += 2 + strspn(line + 2, " \t");
	end = line + strcspn(line, " \t");
	snprintf(b->interpreter, sizeof(b->interpreter), "%.*s", (int)(end - line), line);
	end += strspn(end, " \t");
	snprintf(b->argument, sizeof(b->argument), "%s", end);
	b->kind = b->interpreter[0] ? GT_BINARY_SCRIPT : GT_BINARY_TEXT;
}

/* Will the kernel start it in secure mode, where the loader ignores what we ask for? */
static bool changes_privileges(int fd, const char *path)
{
	struct statvfs fs;
	struct stat st;
	bool by_mode, by_capabilities;

	if (fstat(fd, &st) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return false;
	by_mode = ((st.st_mode & S_ISUID) && st.st_uid != getuid()) ||
		  ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) && st.st_gid != getgid());
	by_capabilities = getuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
	return (by_mode || by_capabilities) && (fstatvfs(fd, &fs) || !(fs.f_flag & ST_NOSUID));
}

void gt_binary_look(const char *path, struct gt_binary *b)
{
	union {
		char text[512];
		elf_header elf;
	} head;
	ssize_t n;
	int fd;

	memset(b, 0, sizeof(*b));
	memset(&head, 0, sizeof(head));
	b->kind = GT_BINARY_UNKNOWN;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) /* executable but not readable: ask the kernel for the file's modes only */
		fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return;
	n = pread(fd, head.text, sizeof(head.text) - 1, 0);
	if (n >= (ssize_t)sizeof(head.elf) && !memcmp(head.text, ELFMAG, SELFMAG))
		look_at_elf(fd, path, &head.elf, b);
	else if (n >= SELFMAG && !memcmp(head.text, ELFMAG, SELFMAG))
		b->kind = GT_BINARY_FOREIGN;
	else if (n >= 2 && head.text[0] == '#' && head.text[1] == '!')
		look_at_script(head.text, b);
	else if (n >= 0)
		b->kind = GT_BINARY_TEXT;
	/* The kernel ignores these bits on scripts. */
	if (b->kind != GT_BINARY_SCRIPT && b->kind != GT_BINARY_TEXT && changes_privileges(fd, path))
		b->kind = GT_BINARY_SETID;
	close(fd);
}

/* The command that env(1) would run: the first word that is no option and no NAME=VALUE. */
static bool env_command(const char *argument, char *path, size_t size)
{
	char words[256], *rest, *word;

	snprintf(words, sizeof(words), "%s", argument);
	for (word = strtok_r(words, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
		if (word[0] != '-' && !strchr(word, '='))
			return gt_path_command(word, path, size) == 0;
	return false;
}

void gt_binary_follow(char *path, size_t size, struct gt_binary *b)
{
	for (unsigned i = 0; i < MAX_SCRIPTS; i++) {
		gt_binary_look(path, b);
		if (b->kind == GT_BINARY_TEXT) {
			snprintf(path, size, "/bin/sh");
		} else if (b->kind != GT_BINARY_SCRIPT) {
			return;
		} else if (strcmp(base(b->interpreter), "env") ||
			   !env_command(b->argument, path, size)) {
			snprintf(path, size, "%s", b->interpreter);
		}
	}
	b->kind = GT_BINARY_UNKNOWN;
}
