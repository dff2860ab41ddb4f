/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looks at a program file before it is run (tools/binary.h).
 *
 * Limits: 4,096 dynamic entries and 8 scripts deep are looked at; whatever lies beyond is taken for
 * harmless.
 */
#include "config.h"
#include "tools/binary.h"

#include <fcntl.h>
#include <gelf.h>
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

#define MAX_DYNAMIC 4096
#define MAX_SCRIPTS 8

static bool same_machine(const GElf_Ehdr *h)
{
	static GElf_Ehdr own;
	static bool asked;
	int fd;

	if (!asked) {
		asked = true;
		fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
		Elf *self = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);

		if (!self || !gelf_getehdr(self, &own))
			own = *h;
		elf_end(self);
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

/* The data at an address of the loaded program, to the end of its segment; NULL if none is there. */
static Elf_Data *data_at(Elf *elf, size_t segments, uint64_t address, Elf_Type type)
{
	GElf_Phdr seg;

	for (size_t i = 0; i < segments; i++)
		if (gelf_getphdr(elf, (int)i, &seg) && seg.p_type == PT_LOAD && address >= seg.p_vaddr &&
		    address - seg.p_vaddr < seg.p_filesz)
			return elf_getdata_rawchunk(elf, (int64_t)(address - seg.p_vaddr + seg.p_offset),
						    seg.p_filesz - (address - seg.p_vaddr), type);
	return NULL;
}

/* A sanitizer's runtime insists on being first; it does not when it is linked in (clang). */
static bool is_runtime(const char *needed)
{
	static const char *const names[] = {"libasan.so", "libtsan.so", "liblsan.so", "libhwasan.so",
					    "libclang_rt.asan", "libclang_rt.tsan"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(needed, names[i], strlen(names[i])))
			return true;
	return false;
}

static void find_runtime(Elf *elf, size_t segments, const GElf_Phdr *dynamic, char *runtime, size_t size)
{
	Elf_Data *entries = elf_getdata_rawchunk(elf, (int64_t)dynamic->p_offset, dynamic->p_filesz,
						 ELF_T_DYN);
	Elf_Data *names = NULL;
	GElf_Dyn d;

	for (int i = 0; i < MAX_DYNAMIC && entries && gelf_getdyn(entries, i, &d) && d.d_tag; i++)
		if (d.d_tag == DT_STRTAB)
			names = data_at(elf, segments, d.d_un.d_ptr, ELF_T_BYTE);
	for (int i = 0; i < MAX_DYNAMIC && names && gelf_getdyn(entries, i, &d) && d.d_tag; i++) {
		const char *needed = (const char *)names->d_buf + d.d_un.d_val;

		if (d.d_tag == DT_NEEDED && d.d_un.d_val < names->d_size &&
		    memchr(needed, '\0', names->d_size - d.d_un.d_val) && is_runtime(needed))
			snprintf(runtime, size, "%s", needed);
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

static void look_at_segments(Elf *elf, int fd, const char *path, struct gt_binary *b)
{
	GElf_Phdr seg, loader = {.p_type = PT_NULL}, dynamic = {.p_type = PT_NULL};
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		if (!gelf_getphdr(elf, (int)i, &seg))
			return;
		if (seg.p_type == PT_INTERP)
			loader = seg;
		if (seg.p_type == PT_DYNAMIC)
			dynamic = seg;
	}
	if (loader.p_type == PT_NULL) {
		/* The loader itself, called by hand (ld.so ./program), obeys LD_PRELOAD. */
		bool ld = !strncmp(base(path), "ld-", 3) || !strncmp(base(path), "ld.so", 5);

		b->kind = ld && dynamic.p_type == PT_DYNAMIC ? GT_BINARY_FINE : GT_BINARY_STATIC;
		return;
	}
	if (loader.p_filesz < sizeof(b->interpreter) && loader.p_offset < INT64_MAX &&
	    pread(fd, b->interpreter, loader.p_filesz, (off_t)loader.p_offset) < 0)
		b->interpreter[0] = '\0';
	b->kind = GT_BINARY_FINE;
	if (own_loader()[0] && strcmp(base(own_loader()), base(b->interpreter)))
		b->kind = GT_BINARY_LIBC;
	if (dynamic.p_type == PT_DYNAMIC)
		find_runtime(elf, n, &dynamic, b->runtime, sizeof(b->runtime));
}

static void look_at_elf(int fd, const char *path, struct gt_binary *b)
{
	Elf *elf;
	GElf_Ehdr h;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || !gelf_getehdr(elf, &h) || !same_machine(&h))
		b->kind = GT_BINARY_FOREIGN;
	else
		look_at_segments(elf, fd, path, b);
	elf_end(elf);
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
	char head[512] = "";
	ssize_t n;
	int fd;

	memset(b, 0, sizeof(*b));
	b->kind = GT_BINARY_UNKNOWN;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) /* executable but not readable: ask the kernel for the file's modes only */
		fd = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return;
	n = pread(fd, head, sizeof(head) - 1, 0);
	if (n >= SELFMAG && !memcmp(head, ELFMAG, SELFMAG))
		look_at_elf(fd, path, b);
	else if (n >= 2 && head[0] == '#' && head[1] == '!')
		look_at_script(head, b);
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
