/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/assemble/symbols*.c: programs are compiled in many ways and run; each says
 * what its functions are called and where they stand, and the lookup must agree.
 *
 * Limits: needs gcc or clang and binutils; tests of a compiler that is missing are skipped.
 */
#include "lib/assemble/names/symbols.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

enum { FACTS = 64, MAPS = 64 };

struct fact {
	char kind; /* F as show.h says; P address of lib_work; V of versioned */
	char name[512], file[512], sort[8];
	int line;
	uint64_t address;
};

struct map {
	struct gt_def_module module;
	char path[512];
};

struct run {
	struct fact facts[FACTS];
	struct map maps[MAPS];
	int fact_count, map_count;
};

enum expected { FULL, NO_LINES, STRIPPED };

static char dir[64];
static char source[512];

static void setup(void)
{
	const char *src = getenv("GT_SRC");
	const char *tmp = getenv("TMPDIR");
	char path[128];

	snprintf(source, sizeof(source), "%s/test/unit/symbols.src", src ? src : ".");
	snprintf(dir, sizeof(dir), "%.40s/gtsym.XXXXXX", tmp ? tmp : "/tmp");
	cr_assert(mkdtemp(dir));
	snprintf(path, sizeof(path), "file://%s/server", dir);
	setenv("DEBUGINFOD_URLS", path, 1);
	snprintf(path, sizeof(path), "%s/cache", dir);
	setenv("DEBUGINFOD_CACHE_PATH", path, 1);
}

/* libdw only loads the client of debuginfod if a server is named when the program starts: start again. */
__attribute__((constructor)) static void start_with_a_server(int argc, char **argv)
{
	(void)argc;
	if (!getenv("DEBUGINFOD_URLS") && !setenv("DEBUGINFOD_URLS", "file:///nowhere", 1))
		execv("/proc/self/exe", argv);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void teardown(void)
{
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

TestSuite(symbols, .init = setup, .fini = teardown, .timeout = 120);

__attribute__((format(printf, 1, 2)))
static bool shell(const char *format, ...)
{
	char text[4096], command[4400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(command, sizeof(command), "cd %s && { %s; } >log 2>&1", dir, text);
	return system(command) == 0;
}

#define SHELL(...) cr_assert(shell(__VA_ARGS__), "a command failed; line %d", __LINE__)

static bool have(const char *program)
{
	return shell("command -v %s", program);
}

/* Runs a program of test/unit/symbols.src and keeps what it says. */
static void run_program(struct run *run, const char *program)
{
	char command[256], line[8192], *p;
	FILE *out;

	memset(run, 0, sizeof(*run));
	snprintf(command, sizeof(command), "cd %s && ./%s", dir, program);
	out = popen(command, "r");
	cr_assert(out);
	while (fgets(line, sizeof(line), out)) {
		struct fact *f = &run->facts[run->fact_count];
		struct map *m = &run->maps[run->map_count];
		char perms[8];
		int at = 0;

		cr_assert(run->fact_count < FACTS && run->map_count < MAPS);
		f->kind = line[0];
		if (line[0] == 'F')
			run->fact_count +=
				sscanf(line, "F\t%511[^\t]\t%511[^\t]\t%d\t%7[^\t]\t%" SCNx64,
				       f->name, f->file, &f->line, f->sort, &f->address) == 5;
		else if (line[0] == 'P')
			run->fact_count +=
				sscanf(line, "P\t%511s\t%" SCNx64, f->name, &f->address) == 2;
		else if (line[0] == 'V')
			run->fact_count += sscanf(line, "V\t%" SCNx64, &f->address) == 1;
		else if (line[0] == 'M' &&
			 sscanf(line,
				"M\t%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n",
				&m->module.start, &m->module.end, perms, &m->module.offset,
				&m->module.dev_major, &m->module.dev_minor, &m->module.inode,
				&at) == 7 &&
			 perms[2] == 'x' && line[at] == '/') {
			struct stat st;

			p = strchr(line, '\n');
			if (p)
				*p = '\0';
			snprintf(m->path, sizeof(m->path), "%.511s", line + at);
			if (!stat(m->path, &st)) {
				m->module.size = (uint64_t)st.st_size;
				m->module.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 +
						     st.st_mtim.tv_nsec;
			}
			run->map_count++;
		}
	}
	cr_assert_eq(pclose(out), 0, "%s does not run", program);
	cr_assert(run->fact_count > 3 && run->map_count > 1, "%s says too little", program);
}

static const struct map *map_of(const struct run *run, uint64_t address)
{
	for (int i = 0; i < run->map_count; i++)
		if (address >= run->maps[i].module.start && address < run->maps[i].module.end)
			return &run->maps[i];
	return NULL;
}

static int look(struct gt_symbols *symbols, const struct run *run, uint64_t address,
		struct gt_symbol *out)
{
	const struct map *m = map_of(run, address);

	cr_assert(m, "%#" PRIx64 " is not mapped", address);
	return gt_symbols_lookup(symbols, &m->module, m->path, address, out);
}

static const char *base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/*
 * A sample inside of the function finds where it begins, also where it has no symbol; not that of assembler
 * (sort x), which has no description for unwinding.
 */
static void check_place(struct gt_symbols *symbols, const struct map *m, const struct fact *f,
			const char *how)
{
	struct gt_code code;

	gt_symbols_place(symbols, &m->module, m->path, f->address + 1, &code);
	cr_expect_eq(code.function, f->address, "%s: %s: %#" PRIx64 " is in %#" PRIx64, how, f->name,
		     f->address + 1, code.function);
}

/* In a C++ name, "std::__cxx11::" and the like depend on the library: compare without. */
static void check_facts(const struct run *run, const char *how, enum expected expected)
{
	struct gt_symbols *symbols = gt_symbols_new();
	struct gt_symbol s;
	char made_up[600];

	cr_assert(symbols);
	gt_symbols_debug_root(symbols, dir);
	for (int i = 0; i < run->fact_count; i++) {
		const struct fact *f = &run->facts[i];
		const struct map *m = map_of(run, f->address);
		int rc = look(symbols, run, f->address, &s);

		cr_assert(m && s.name && s.canonical);
		if (f->kind == 'P' || f->kind == 'V') {
			cr_expect_eq(rc, 0, "%s", how);
			cr_expect_str_eq(s.name, f->kind == 'P' ? "lib_work" : "new_impl", "%s",
					 how);
			continue;
		}
		if (f->sort[0] != 'x')
			check_place(symbols, m, f, how);
		if (expected == STRIPPED && strchr(f->sort, 's')) {
			snprintf(made_up, sizeof(made_up), "%s+0x", base(m->path));
			cr_expect_eq(rc, -ENOENT, "%s: %s", how, f->name);
			cr_expect(!s.exact && !s.file && !s.line, "%s: %s", how, f->name);
			cr_expect(!strncmp(s.name, made_up, strlen(made_up)), "%s: %s is %s", how,
				  f->name, s.name);
			continue;
		}
		cr_expect_eq(rc, 0, "%s: %s", how, f->name);
		cr_expect(s.exact);
		cr_expect_str_eq(s.name,
				 expected == STRIPPED && f->sort[0] == 'i' ? "twice" : f->name,
				 "%s", how);
		if (expected != FULL || f->sort[0] == 'x') {
			if (expected != FULL)
				cr_expect(!s.file && !s.line, "%s: %s", how, f->name);
			continue;
		}
		cr_expect(s.file && !strcmp(base(s.file), base(f->file)), "%s: %s is in %s, not %s",
			  how, f->name, f->file, s.file ? s.file : "nothing");
		cr_expect_eq(s.line, (unsigned)f->line, "%s: %s: line %u, not %d", how, f->name,
			     s.line, f->line);
	}
	gt_symbols_free(symbols);
}

static bool build(const char *cc, const char *flags)
{
	return shell("%s %s -fPIC -shared -o libx.so %s/lib.c -Wl,--version-script=%s/lib.map", cc,
		     flags, source, source) &&
	       shell("%s %s -rdynamic -o main %s/main.c %s/other.c ./libx.so", cc, flags, source,
		     source);
}

static void check_build(const char *cc, const char *flags, enum expected expected)
{
	char how[256];
	struct run run;

	snprintf(how, sizeof(how), "%s %s", cc, flags);
	cr_assert(build(cc, flags), "%s does not build", how);
	run_program(&run, "main");
	check_facts(&run, how, expected);
}

static void check_compiler(const char *cc)
{
	static const char *const ways[] = {
		"-g -O0 -pie -fPIE",
		"-g -O2 -pie -fPIE",
		"-g -O0 -no-pie -fno-pie",
		"-g -O2 -no-pie -fno-pie",
		"-g -O1 -gdwarf-4",
		"-g -O1 -gz",
		"-g -O2 -ffunction-sections -Wl,--gc-sections",
		"-g -O1 -gsplit-dwarf",
		/* Sources outside of the working directory, as CMake has them: the source is file 0. */
		"-g -O1 -fdebug-prefix-map=$PWD=/elsewhere/build",
	};

	if (!have(cc))
		cr_skip_test("%s is not installed", cc);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		check_build(cc, ways[i], FULL);
	check_build(cc, "-O2", NO_LINES);
	check_build(cc, "-O2 -s", STRIPPED);
}

Test(symbols, gcc)
{
	check_compiler("gcc");
}

Test(symbols, clang)
{
	check_compiler("clang");
}

static void check_cxx(const char *cxx)
{
	static const char *const ways[] = {"-g -O0", "-g -O2", "-g -O2 -no-pie"};
	struct gt_symbols *symbols;
	struct gt_symbol s;
	struct run run;

	if (!have(cxx))
		cr_skip_test("%s is not installed", cxx);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		bool mangled = false;

		cr_assert(shell("%s %s -o cxx %s/cxx.cc", cxx, ways[i], source));
		run_program(&run, "cxx");
		check_facts(&run, cxx, FULL);
		symbols = gt_symbols_new();
		for (int f = 0; f < run.fact_count; f++) {
			look(symbols, &run, run.facts[f].address, &s);
			cr_expect(!strncmp(s.canonical, "_Z", 2), "%s", s.canonical);
			mangled |= !strcmp(s.canonical, "_ZNK5OuterplEi");
		}
		cr_expect(mangled);
		gt_symbols_free(symbols);
	}
}

Test(symbols, gxx)
{
	check_cxx("g++");
}

Test(symbols, clangxx)
{
	check_cxx("clang++");
}

/* ---- separate debug files -------------------------------------------------------------------- */

static void check_links(const char *flags)
{
	struct run run;

	cr_assert(build("gcc", flags));
	SHELL("rm -rf .debug .$(pwd -P) *.debug");
	SHELL("for f in main libx.so; do objcopy --only-keep-debug $f $f.debug && strip $f && "
	      "objcopy --add-gnu-debuglink=$f.debug $f || exit 1; done");
	run_program(&run, "main");
	check_facts(&run, "debug link", FULL);
	SHELL("mkdir .debug && mv *.debug .debug/");
	check_facts(&run, "debug link in .debug", FULL);
	/* The debug root of these tests is the folder itself. */
	SHELL("p=$(pwd -P); mkdir -p .$p && mv .debug/* .$p/");
	check_facts(&run, "debug link below the root", FULL);
}

Test(symbols, debug_link)
{
	struct run run;

	if (!have("gcc") || !have("objcopy"))
		cr_skip_test("no gcc or objcopy");
	check_links("-g -O2 -Wl,--build-id=sha1");
	check_links("-g -O2 -Wl,--build-id=none");
	run_program(&run, "main");
	SHELL("p=$(pwd -P); for f in .$p/*.debug; do printf x >>$f || exit 1; done");
	check_facts(&run, "debug link with a wrong checksum", STRIPPED);
}

static bool has_client(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[8192];
	bool has = false;

	while (maps && fgets(line, sizeof(line), maps))
		has |= strstr(line, "libdebuginfod") != NULL;
	fclose(maps);
	return has;
}

/* Older libraries load it when the program starts. */
Test(symbols, no_client_for_servers)
{
	bool before = has_client();
	struct run run;

	if (!have("gcc"))
		cr_skip_test("no gcc");
	cr_assert(build("gcc", "-O2 -Wl,--build-id=sha1"));
	SHELL("strip main libx.so");
	run_program(&run, "main");
	check_facts(&run, "stripped", STRIPPED);
	cr_expect_eq(has_client(), before, "the client of debuginfod was loaded");
}

Test(symbols, build_id)
{
	struct run run;

	if (!have("gcc") || !have("objcopy"))
		cr_skip_test("no gcc or objcopy");
	cr_assert(build("gcc", "-g -O1 -Wl,--build-id=sha1"));
	SHELL("for f in main libx.so; do id=$(readelf -n $f | sed -n 's/.*Build ID: //p') && "
	      "d=.build-id/$(echo $id | cut -c1-2) && mkdir -p $d && "
	      "objcopy --only-keep-debug $f $d/$(echo $id | cut -c3-).debug && strip $f || exit 1; "
	      "done");
	run_program(&run, "main");
	check_facts(&run, "build-id", FULL);
	/* A file of another build at that place is not taken. */
	cr_assert(build("gcc", "-g -O2 -Wl,--build-id=sha1"));
	SHELL("for f in main libx.so; do for d in .build-id/*/*.debug; do "
	      "objcopy --only-keep-debug $f $d || exit 1; done; done; "
	      "gcc -O1 -g -Wl,--build-id=sha1 -s -rdynamic -o main %s/main.c %s/other.c ./libx.so; "
	      "strip libx.so main",
	      source, source);
	run_program(&run, "main");
	check_facts(&run, "build-id of another file", STRIPPED);
	/* The right one on a server is not fetched. */
	cr_assert(build("gcc", "-g -O3 -Wl,--build-id=sha1"));
	SHELL("for f in main libx.so; do id=$(readelf -n $f | sed -n 's/.*Build ID: //p') && "
	      "mkdir -p server/buildid/$id && cp $f server/buildid/$id/debuginfo && strip $f || exit 1; "
	      "done");
	run_program(&run, "main");
	check_facts(&run, "build-id that a server knows", STRIPPED);
}

/* Mini debug information as distributions make it: the symbols that .dynsym lacks, compressed. */
static void make_mini_symbols(void)
{
	SHELL("for f in main libx.so; do nm -D -f posix --defined-only $f | cut -d' ' -f1 | sort >dynamic; "
	      "nm -f posix --defined-only $f | awk '$2 ~ /^[Tti]$/ { print $1 }' | sort >all; "
	      "comm -13 dynamic all >keep; objcopy --only-keep-debug $f mini; "
	      "objcopy -S --remove-section .comment --keep-symbols=keep mini && xz -f mini && strip $f && "
	      "objcopy --add-section .gnu_debugdata=mini.xz $f || exit 1; done");
}

Test(symbols, gnu_debugdata)
{
	struct run run;

	if (!have("gcc") || !have("objcopy") || !have("xz"))
		cr_skip_test("no gcc, objcopy or xz");
	cr_assert(build("gcc", "-g -O2"));
	make_mini_symbols();
	run_program(&run, "main");
	check_facts(&run, "mini debug information", NO_LINES);
	/* Damaged, it is none. */
	SHELL("for f in main libx.so; do printf xx | dd of=mini.xz conv=notrunc bs=1 seek=99 && "
	      "objcopy --remove-section .gnu_debugdata $f && "
	      "objcopy --add-section .gnu_debugdata=mini.xz $f || exit 1; done");
	run_program(&run, "main");
	check_facts(&run, "damaged mini debug information", STRIPPED);
}

/* ---- files that are not what they were ------------------------------------------------------- */

static void expect_made_up(const struct run *run, const char *how)
{
	struct gt_symbols *symbols = gt_symbols_new();
	uint64_t address = run->facts[0].address;
	const struct map *m = map_of(run, address);
	char name[64];
	struct gt_symbol s;

	cr_expect_eq(look(symbols, run, address, &s), -ENOENT, "%s", how);
	snprintf(name, sizeof(name), "main+%#" PRIx64,
		 address - m->module.start + m->module.offset);
	cr_expect_str_eq(s.name, name, "%s", how);
	cr_expect_str_eq(s.canonical, name);
	cr_expect(!s.exact && !s.file && !s.line, "%s", how);
	gt_symbols_free(symbols);
}

Test(symbols, replaced)
{
	struct run run;

	if (!have("gcc"))
		cr_skip_test("no gcc");
	cr_assert(build("gcc", "-g -O1"));
	run_program(&run, "main");
	check_facts(&run, "as it was", FULL);
	SHELL("cp -p main copy && mv copy main");
	expect_made_up(&run, "another inode");
	run_program(&run, "main");
	check_facts(&run, "run again", FULL);
	SHELL("touch -d '1 hour ago' main");
	expect_made_up(&run, "another time");
	run_program(&run, "main");
	SHELL("touch -r main stamp; printf xx >>main; touch -r stamp main");
	expect_made_up(&run, "another size");
	SHELL("mv main gone");
	expect_made_up(&run, "no file");
	SHELL("mkdir main");
	expect_made_up(&run, "a folder");
	SHELL("rmdir main; mkfifo main");
	expect_made_up(&run, "a pipe");
}

Test(symbols, without_module)
{
	struct gt_symbols *symbols = gt_symbols_new();
	struct gt_def_module m = {.start = 0x1000, .end = 0x2000, .offset = 0x500};
	struct gt_symbol s;

	cr_expect_eq(gt_symbols_lookup(symbols, NULL, NULL, 0x7f001234, &s), -ENOENT);
	cr_expect_str_eq(s.name, "0x7f001234");
	cr_expect_eq(gt_symbols_lookup(symbols, &m, "[vdso]", 0x1010, &s), -ENOENT);
	cr_expect_str_eq(s.name, "[vdso]+0x510");
	cr_expect_eq(gt_symbols_lookup(symbols, &m, "/no/such/libx.so (deleted)", 0x1010, &s),
		     -ENOENT);
	cr_expect_str_eq(s.name, "libx.so+0x510");
	cr_expect_eq(gt_symbols_lookup(symbols, &m, "", 0x1010, &s), -ENOENT);
	cr_expect_str_eq(s.name, "+0x510");
	gt_symbols_free(symbols);
	gt_symbols_free(NULL);
}

/* A mapping that begins in the middle of a function, as one of several with different rights does. */
Test(symbols, mapping_within_a_function)
{
	struct gt_symbols *symbols = gt_symbols_new();
	struct gt_code code;
	struct gt_symbol s;
	struct run run;

	if (!have("gcc"))
		cr_skip_test("no gcc");
	cr_assert(build("gcc", "-g -O1"));
	run_program(&run, "main");
	const struct fact *f = &run.facts[0];
	struct map m = *map_of(&run, f->address);

	m.module.offset += f->address + 1 - m.module.start;
	m.module.start = f->address + 1;
	gt_symbols_place(symbols, &m.module, m.path, f->address + 1, &code);
	cr_expect_eq(code.function, f->address);
	cr_expect_eq(gt_symbols_lookup(symbols, &m.module, m.path, code.function, &s), 0);
	cr_expect_str_eq(s.name, f->name);
	gt_symbols_free(symbols);
}

/* Many libraries, with debug files of their own: no descriptor stays open, and the table of files grows. */
Test(symbols, many_files)
{
	struct gt_symbols *symbols = gt_symbols_new();
	struct gt_symbol s;
	struct run run;
	int before, after;

	if (!have("gcc"))
		cr_skip_test("no gcc");
	cr_assert(build("gcc", "-g -O1"));
	run_program(&run, "main");
	SHELL("objcopy --only-keep-debug main main.debug && strip main && "
	      "objcopy --add-gnu-debuglink=main.debug main");
	run_program(&run, "main");
	SHELL("i=0; while [ $i -lt 300 ]; do ln main main.$i || exit 1; i=$((i+1)); done");
	before = dup(0);
	close(before);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 300; i++) {
			struct map m = *map_of(&run, run.facts[0].address);
			size_t length = strlen(m.path);

			snprintf(m.path + length, sizeof(m.path) - length, ".%d", i);
			cr_assert_eq(gt_symbols_lookup(symbols, &m.module, m.path,
						       run.facts[0].address, &s),
				     0);
			cr_assert_str_eq(s.name, run.facts[0].name);
			cr_assert(s.line);
		}
	after = dup(0);
	close(after);
	cr_expect_eq(before, after, "%d descriptors stayed open", after - before);
	gt_symbols_free(symbols);
}

/* A C++ name longer than any that is kept. */
Test(symbols, long_names)
{
	struct gt_symbols *symbols = gt_symbols_new();
	struct gt_symbol s;
	struct run run;
	FILE *f;
	char path[128];

	if (!have("g++"))
		cr_skip_test("no g++");
	snprintf(path, sizeof(path), "%s/long.cc", dir);
	f = fopen(path, "w");
	fputs("#include <cstdio>\ntemplate <typename A, typename B> struct P {};\nstruct T0 {};\n",
	      f);
	for (int i = 1; i < 12; i++)
		fprintf(f, "typedef P<%s%d, %s%d> T%d;\n", "T", i - 1, "T", i - 1, i);
	fputs("__attribute__((noinline)) void taker(const T11 &) { puts(\"U\\t1\"); }\n"
	      "int main() { taker(T11()); for (int i = 0; i < 4; i++) "
	      "printf(\"F\\ttaker\\tlong.cc\\t1\\tg"
	      "\\t%p\\n\", (void *)taker);\n char l[4096]; FILE *m = fopen(\"/proc/self/maps\", "
	      "\"r\");\n"
	      "while (fgets(l, sizeof l, m)) printf(\"M\\t%s\", l); }\n",
	      f);
	fclose(f);
	SHELL("g++ -g -o long long.cc");
	run_program(&run, "long");
	cr_expect_eq(look(symbols, &run, run.facts[0].address, &s), 0);
	cr_expect_eq(strlen(s.name), GT_NAME_MAX);
	cr_expect(!strncmp(s.name, "taker(P<P<P<", 12));
	cr_expect(!strncmp(s.canonical, "_Z5takerRK1PIS", 14));
	gt_symbols_free(symbols);
}

/* ---- damage ---------------------------------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Whatever the file holds, the lookup comes back; a crash or a hang fails the test. */
static void damage_main(void)
{
	const char *rounds_text = getenv("GT_TEST_ROUNDS");
	const char *seed_text = getenv("GT_TEST_SEED");
	int rounds = rounds_text ? atoi(rounds_text) : 150;
	uint64_t seed = seed_text ? strtoull(seed_text, NULL, 0) : 20261121;
	struct run run;
	struct map *m;
	uint8_t *good, *bad;
	FILE *f;

	run_program(&run, "main");
	m = (struct map *)map_of(&run, run.facts[0].address);
	good = malloc(m->module.size);
	bad = malloc(m->module.size);
	f = fopen(m->path, "rb");
	cr_assert(f && fread(good, 1, m->module.size, f) == m->module.size);
	fclose(f);
	unlink(m->path);
	for (int round = 0; round < rounds; round++) {
		uint64_t state = (seed + (uint64_t)round) * UINT64_C(0x9e3779b97f4a7c15) | 1;
		int flips = 1 + (int)(next_random(&state) % (round % 3 ? 4 : 40));
		uint64_t size = m->module.size;
		struct gt_symbols *symbols = gt_symbols_new();
		struct gt_symbol s;
		struct stat st;

		memcpy(bad, good, size);
		for (int i = 0; i < flips; i++) {
			/* every second round in the headers, where it hurts most */
			uint64_t at = next_random(&state) % (round & 1 ? size : i & 1 ? 1024 : 64);

			if (i & 1 && !(round & 1))
				at = size - 1 - at % (64 * 40); /* section headers stand last */
			bad[at] = (uint8_t)next_random(&state);
		}
		if (round % 10 == 9)
			size = next_random(&state) % size;
		f = fopen(m->path, "wb");
		cr_assert(f && fwrite(bad, 1, size, f) == size);
		fclose(f);
		cr_assert_eq(stat(m->path, &st), 0);
		struct gt_def_module module = m->module;

		module.inode = st.st_ino;
		module.size = (uint64_t)st.st_size;
		module.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
		if (rounds_text)
			fprintf(stderr, "seed %" PRIu64 " round %d\n", seed, round);
		for (int i = 0; i < run.fact_count; i++) {
			gt_symbols_lookup(symbols, &module, m->path, run.facts[i].address, &s);
			cr_assert(s.name && s.canonical && strlen(s.name) <= GT_NAME_MAX);
		}
		for (uint64_t a = module.start; a < module.end; a += 97) {
			gt_symbols_lookup(symbols, &module, m->path, a, &s);
			cr_assert(s.name && s.canonical && strlen(s.name) <= GT_NAME_MAX);
		}
		gt_symbols_free(symbols);
	}
	free(good);
	free(bad);
}

Test(symbols, damaged)
{
	if (!have("gcc"))
		cr_skip_test("no gcc");
	cr_assert(build("gcc", "-g -O1"));
	damage_main();
}

Test(symbols, damaged_mini_symbols)
{
	if (!have("gcc") || !have("objcopy") || !have("xz"))
		cr_skip_test("no gcc, objcopy or xz");
	cr_assert(build("gcc", "-g -O1"));
	make_mini_symbols();
	damage_main();
}

/* ---- speed ----------------------------------------------------------------------------------- */

/* 1,000 C++ functions with debug information, as many as a proxy application has: names and lines
   of all in well under a tenth of a second. */
Test(symbols, fast)
{
	struct gt_symbols *symbols = gt_symbols_new();
	struct timespec a, b;
	struct gt_symbol s;
	struct run run;
	char path[128];
	double ms;
	FILE *f;

	if (!have("g++"))
		cr_skip_test("no g++");
	snprintf(path, sizeof(path), "%s/many.cc", dir);
	f = fopen(path, "w");
	fputs("#include <cstdio>\n#include <map>\n#include <string>\n#include <vector>\n", f);
	for (int i = 0; i < 1000; i++)
		fprintf(f,
			"namespace n%d { __attribute__((noinline)) int f%d(std::vector<int> &v, "
			"const std::map<int, std::string> &m) { return (int)v.size() + "
			"(int)m.size() + %d; } }\n",
			i % 17, i, i);
	fputs("int main() {\n", f);
	for (int i = 0; i < 8; i++)
		fprintf(f, "printf(\"F\\tx\\tx\\t1\\tg\\t%%p\\n\", (void *)n%d::f%d);\n",
			i * 120 % 17, i * 120);
	fputs("char l[4096]; FILE *m = fopen(\"/proc/self/maps\", \"r\");\n"
	      "while (fgets(l, sizeof l, m)) printf(\"M\\t%s\", l); }\n",
	      f);
	fclose(f);
	SHELL("g++ -g -O1 -fno-toplevel-reorder -o many many.cc");
	run_program(&run, "many");
	/* The functions lie one after the other: look at every 4th byte between the first and last.
	 */
	clock_gettime(CLOCK_MONOTONIC, &a);
	int found = 0, lines = 0;
	unsigned last = 0;

	for (uint64_t at = run.facts[0].address; at < run.facts[7].address; at += 4) {
		cr_assert_eq(look(symbols, &run, at, &s), 0, "%s", s.name);
		cr_assert(s.file && !strcmp(base(s.file), "many.cc"));
		found++;
		lines += s.line != last;
		last = s.line;
	}
	clock_gettime(CLOCK_MONOTONIC, &b);
	ms = (double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) / 1e6;
	fprintf(stderr, "%d lookups of %d functions: %.1f ms\n", found, lines, ms);
	cr_expect_eq(lines, 840, "%d lines", lines);
	cr_expect_lt(ms, 500.0, "%.1f ms", ms); /* 10 times what was measured: other work goes on */
	gt_symbols_free(symbols);
}

/* ---- names made short ----------------------------------------------------------------------------- */

static void is_brief(const char *name, const char *want)
{
	char *copy = strdup(name), text[GT_NAME_MAX + 1]; /* on the heap, where sanitizers see its end */

	cr_expect_str_eq(gt_brief_name(copy, text), want, "%s: %s", name, text);
	free(copy);
}

Test(symbols, brief_names)
{
	is_brief("_ZN6solver4AxpyIdE3runEi", "solver::Axpy::run");
	is_brief("_Z1x", "x");
	is_brief("_Zeta", "eta"); /* it was none */
	is_brief("void a::f<int>(int) const::{lambda(int)#2}", "a::f::lambda#2");
	is_brief("a::operator()(int) const", "a::operator()");
	is_brief("a::operator<(b<c>)", "a::operator<");
	is_brief("(anonymous namespace)::f(int (*)(int))", "f");
	is_brief("(lambda at /x/y/f.cc:12:5)", "lambda@f.cc:12");
	is_brief("(lambda at f.cc:12:5)", "lambda@f.cc:12");
	is_brief("A<(lambda at /x/f.cc:1:2)>/B<C/D>", "A/B");
	is_brief("__nv_dl_wrapper_t<__nv_dl_tag<int (*)(a<b, c>), &f<b, c>, 2u>, d>", "f::lambda#2");
	is_brief("__nv_dl_wrapper_t<__nv_dl_tag<int (*)(), &(a::f(b, c)), 2u>, d>", "a::f::lambda#2");
	is_brief("__nv_hdl_wrapper_t<false, __nv_dl_tag<void (*)(K::V<double*>, int), step, 3>, void(int)>",
		 "step::lambda#3"); /* as gcc spells it */
	is_brief("K::CombinedFunctorReducer<__nv_hdl_wrapper_t<false, __nv_dl_tag<double (*)(K::V<double*>), "
		 "solver::dot<K::V<double*>, int>, 1>, void(int, double&)>, int>",
		 "solver::dot::lambda#1");
	/* Nothing closes, or everything does. */
	is_brief("(lambda", "lambda");
	is_brief("(lambda at ", "lambda");
	is_brief("{lambda#", "lambda");
	is_brief("a<b<c", "a");
	is_brief(">)]}", ">)]}");
	is_brief("<>", "<>");
	is_brief("__nv_dl_tag<, &(", "::lambda");
	is_brief("__nv_dl_tag<, &f, ", "f::lambda#");
	is_brief("__nv_dl_tag<", "__nv_dl_tag");
	is_brief("__nv_dl_tag<a", "__nv_dl_tag");
	is_brief("x::CombinedFunctorReducer<", "x::CombinedFunctorReducer<");
	is_brief("", "");
}
