/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a code address to a function (symbols.h): the files that were opened, and the names.
 *
 * Limits: keeps the symbol tables of every file it was asked about until gt_symbols_free().
 */
#include "config.h"

#include "gputrace/hash.h"
#include "lib/assemble/names/symbols.h"
#include "lib/common/demangle.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/assemble/names/symbols_priv.h"

#ifdef HAVE_CXA_DEMANGLE
/* From libstdc++; the header that declares it is C++. */
extern char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

static char *demangle(const char *mangled)
{
	int status;

	return __cxa_demangle(mangled, NULL, NULL, &status);
}
#else
/* Knows fewer expressions of templates (lib/common/demangle.h). */
static char *demangle(const char *mangled)
{
	char full[GT_DEMANGLE_MAX], plain[GT_DEMANGLE_MAX];

	return gt_demangle(mangled, full, plain) ? strdup(*full ? full : plain) : NULL;
}
#endif

struct file {
	char *path;
	uint64_t inode, size;
	int64_t mtime_ns;
	bool usable;
	struct gt_elf elf;
	struct gt_lines *lines;
};

struct gt_symbols {
	const char *debug_root;
	struct file **slots; /* hash table, open addressing; size is a power of two */
	size_t size, used;
	char name[GT_NAME_MAX + 1];
	char canonical[GT_NAME_MAX + 1];
};

struct gt_symbols *gt_symbols_new(void)
{
	struct gt_symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	unsetenv("DEBUGINFOD_URLS"); /* libdwfl asks the servers that are named there */
	symbols->size = 64;
	symbols->debug_root = "/usr/lib/debug";
	symbols->slots = calloc(symbols->size, sizeof(*symbols->slots));
	if (!symbols->slots) {
		free(symbols);
		return NULL;
	}
	return symbols;
}

static void free_file(struct file *file)
{
	gt_lines_free(file->lines);
	if (file->usable)
		gt_elf_close(&file->elf);
	free(file->path);
	free(file);
}

void gt_symbols_free(struct gt_symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->size; i++)
		if (symbols->slots[i])
			free_file(symbols->slots[i]);
	free(symbols->slots);
	free(symbols);
}

void gt_symbols_debug_root(struct gt_symbols *symbols, const char *path)
{
	symbols->debug_root = path;
}

/* ---- files ----------------------------------------------------------------------------------- */

static bool is_file(const struct file *f, const struct gt_def_module *m, const char *path)
{
	return f->inode == m->inode && f->size == m->size && f->mtime_ns == m->mtime_ns &&
	       !strcmp(f->path, path);
}

static size_t hash_of(const struct gt_def_module *m, const char *path)
{
	uint64_t hash = gt_hash_mix(gt_hash_text(GT_HASH_START, path), (uint64_t)m->mtime_ns);

	return (size_t)gt_hash_mix(gt_hash_mix(hash, m->inode), m->size);
}

static size_t slot_of(const struct gt_symbols *s, const struct gt_def_module *m, const char *path)
{
	size_t i = hash_of(m, path) & (s->size - 1);

	while (s->slots[i] && !is_file(s->slots[i], m, path))
		i = (i + 1) & (s->size - 1);
	return i;
}

static bool grow(struct gt_symbols *symbols)
{
	struct file **old = symbols->slots;
	size_t old_size = symbols->size;
	struct file **slots = calloc(old_size * 2, sizeof(*slots));

	if (!slots)
		return false;
	symbols->slots = slots;
	symbols->size = old_size * 2;
	for (size_t i = 0; i < old_size; i++) {
		struct file *f = old[i];

		if (!f)
			continue;
		const struct gt_def_module m = {
			.inode = f->inode, .size = f->size, .mtime_ns = f->mtime_ns};

		slots[slot_of(symbols, &m, f->path)] = f;
	}
	free(old);
	return true;
}

/* Everything that is needed later has been read: do not keep a descriptor for each file. */
static void forget_descriptors(struct gt_elf *elf)
{
	elf_cntl(elf->handle, ELF_C_FDDONE);
	close(elf->fd);
	elf->fd = -1;
	if (elf->debug_fd >= 0) {
		elf_cntl(elf->debug_handle, ELF_C_FDDONE);
		close(elf->debug_fd);
		elf->debug_fd = -1;
	}
}

static void open_file(struct gt_symbols *symbols, struct file *f, const struct gt_def_module *m)
{
	struct gt_elf *elf = &f->elf;

	f->usable = !gt_elf_open(elf, m, f->path, symbols->debug_root);
	if (!f->usable)
		return;
	gt_elf_read_frames(elf);
	if (elf->has_dwarf)
		f->lines = gt_lines_new(elf->handle, elf);
	if (!f->lines && elf->debug_handle)
		f->lines = gt_lines_new(elf->debug_handle, elf);
	forget_descriptors(elf);
}

/* The file as it was mapped, opened at its first use; NULL without memory. */
static struct file *file_of(struct gt_symbols *symbols, const struct gt_def_module *module,
			    const char *path)
{
	size_t slot = slot_of(symbols, module, path);
	struct file *f = symbols->slots[slot];

	if (f)
		return f;
	if (symbols->used * 2 >= symbols->size) {
		if (!grow(symbols))
			return NULL;
		slot = slot_of(symbols, module, path);
	}
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->path = strdup(path);
	if (!f->path) {
		free(f);
		return NULL;
	}
	f->inode = module->inode;
	f->size = module->size;
	f->mtime_ns = module->mtime_ns;
	open_file(symbols, f, module);
	symbols->slots[slot] = f;
	symbols->used++;
	return f;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Copies at most GT_NAME_MAX bytes, and no half of a UTF-8 character. */
static void copy_name(char *to, const char *from, size_t length)
{
	if (length > GT_NAME_MAX) {
		length = GT_NAME_MAX;
		while (length && ((unsigned char)from[length] & 0xc0) == 0x80)
			length--;
	}
	memcpy(to, from, length);
	to[length] = '\0';
}

bool gt_demangled(const char *canonical, char *name)
{
	char *demangled = NULL, module[GT_DEMANGLE_MAX];

	if (!strncmp(canonical, "_Z", 2) && strlen(canonical) < GT_NAME_MAX) /* longer ones were cut */
		demangled = demangle(canonical);
	if (!demangled && !gt_demangle_fortran(canonical, module))
		return false;
	copy_name(name, demangled ? demangled : module, strlen(demangled ? demangled : module));
	free(demangled);
	return true;
}

/* `raw` may end with the version that a symbol table writes there: "read@@GLIBC_2.2.5". */
static void name_function(struct gt_symbols *symbols, const char *raw, const char *shown,
			  struct gt_symbol *out)
{
	const char *version = strchr(raw, '@');
	size_t length = version && version > raw ? (size_t)(version - raw) : strlen(raw);

	copy_name(symbols->canonical, raw, length);
	if (!shown)
		shown = symbols->canonical;
	if (!gt_demangled(symbols->canonical, symbols->name))
		copy_name(symbols->name, shown, strlen(shown));
	out->name = symbols->name;
	out->canonical = symbols->canonical;
	out->exact = true;
}

/* "libx.so+0x1234", or "0x7f..." without a module. */
static int make_up(struct gt_symbols *symbols, const char *path, uint64_t number,
		   struct gt_symbol *out)
{
	static const char deleted[] = " (deleted)";
	const char *base = path ? strrchr(path, '/') : NULL;
	size_t length;

	base = base ? base + 1 : path;
	if (!base) {
		snprintf(symbols->name, sizeof(symbols->name), "0x%" PRIx64, number);
	} else {
		length = strlen(base);
		if (length > sizeof(deleted) - 1 &&
		    !strcmp(base + length - (sizeof(deleted) - 1), deleted))
			length -= sizeof(deleted) - 1;
		if (length > GT_NAME_MAX - 20)
			length = GT_NAME_MAX - 20;
		snprintf(symbols->name, sizeof(symbols->name), "%.*s+0x%" PRIx64, (int)length, base,
			 number);
	}
	*out = (struct gt_symbol){.name = symbols->name, .canonical = symbols->name};
	return -ENOENT;
}

/* `code`: file and line are those of the code at the address, not of its function. */
static int look_up(struct gt_symbols *symbols, const struct gt_def_module *module, const char *path,
		   uint64_t address, bool code, struct gt_symbol *out)
{
	const struct gt_elf_sym *sym;
	struct gt_line line = {.file = NULL};
	uint64_t offset, linked;
	struct file *f;

	if (!module || !path || address + module->offset < module->start)
		return make_up(symbols, NULL, address, out);
	offset = address - module->start + module->offset;
	f = file_of(symbols, module, path);
	if (!f || !f->usable || !gt_elf_address(&f->elf, offset, &linked))
		return make_up(symbols, path, offset, out);

	*out = (struct gt_symbol){.name = NULL};
	sym = gt_elf_find(&f->elf, linked);
	if (f->lines && gt_lines_find(f->lines, linked, &line)) {
		out->file = line.file;
		out->line = line.line;
	}
	if (sym)
		name_function(symbols, sym->name, NULL, out);
	else if (line.linkage || line.name)
		name_function(symbols, line.linkage ? line.linkage : line.name, line.name, out);
	else
		return make_up(symbols, path, linked, out);
	if (code && f->lines && gt_lines_code(f->lines, linked, &line)) {
		out->file = line.file;
		out->line = line.line;
	}
	return 0;
}

int gt_symbols_lookup(struct gt_symbols *symbols, const struct gt_def_module *module,
		      const char *path, uint64_t address, struct gt_symbol *out)
{
	return look_up(symbols, module, path, address, false, out);
}

int gt_symbols_code(struct gt_symbols *symbols, const struct gt_def_module *module, const char *path,
		    uint64_t address, struct gt_symbol *out)
{
	return look_up(symbols, module, path, address, true, out);
}

/* As linked; 0: not known. */
static uint64_t begin_of_function(struct file *f, uint64_t linked)
{
	const struct gt_elf_sym *sym = gt_elf_find(&f->elf, linked);
	struct gt_line line;

	if (sym)
		return sym->address;
	if (f->lines && gt_lines_find(f->lines, linked, &line) && line.low)
		return line.low;
	return gt_elf_frame(&f->elf, linked);
}

void gt_symbols_place(struct gt_symbols *symbols, const struct gt_def_module *module, const char *path,
		      uint64_t address, struct gt_code *out)
{
	uint64_t linked, begin;
	struct gt_line line;
	struct file *f = file_of(symbols, module, path);

	out->function = 0;
	out->file = NULL;
	out->line = out->inlined_count = 0;
	if (!f || !f->usable || address < module->start ||
	    !gt_elf_address(&f->elf, address - module->start + module->offset, &linked))
		return;
	begin = begin_of_function(f, linked);
	if (begin)
		out->function = address - (linked - begin);
	if (!f->lines)
		return;
	if (gt_lines_code(f->lines, linked, &line)) {
		out->file = line.file;
		out->line = line.line;
	}
	out->inlined_count = gt_lines_inlined(f->lines, linked, out->inlined);
}

const char *gt_symbols_variable(struct gt_symbols *symbols, const struct gt_def_module *module,
				const char *path, uint64_t address)
{
	struct file *f = file_of(symbols, module, path);

	for (size_t i = 0; f && f->usable && i < f->elf.segment_count; i++) {
		const struct gt_elf_segment *s = &f->elf.segments[i];

		if (s->executable && s->offset < module->offset + (module->end - module->start) &&
		    module->offset < s->offset + s->size)
			return gt_elf_variable(&f->elf, address - module->start + module->offset - s->offset +
							s->address);
	}
	return NULL;
}
