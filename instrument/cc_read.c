/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a compiler's command line: is something compiled, is something linked, for whom?
 *
 * Limits: where options of compilers contradict each other, gcc's and clang's meaning counts. A word
 * that is unknown is taken for an option without argument, as every build system expects.
 */
#include "config.h"
#include "instrument/cc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESPONSE_DEPTH 8
#define RESPONSE_BYTES (4 << 20)

#if defined(__x86_64__)
#define NATIVE "x86_64-"
#elif defined(__aarch64__)
#define NATIVE "aarch64-"
#elif defined(__powerpc64__)
#define NATIVE "powerpc64le-"
#elif defined(__riscv)
#define NATIVE "riscv64-"
#else
#define NATIVE ""
#endif

enum pending { NOTHING, SKIP, OUTPUT, LANGUAGE, LIBRARY, TARGET };
enum kind { BY_NAME, SOURCE, PREPROCESSED, ASSEMBLER, HEADER, OBJECT };

static bool is(const char *a, const char *b)
{
	return !strcmp(a, b);
}

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool in(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (is(word, *list))
			return true;
	return false;
}

/* ---- experiments of build systems ------------------------------------------------------------ */

#define DIGITS "0123456789"
#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/*
 * One component of a path. `last`: it is the file, not a folder. Names as the build systems make them, to
 * the last letter: a user's own file must not be taken for an experiment because it begins alike.
 */
static bool probe_component(const char *name, size_t n, bool last)
{
	static const struct {
		const char *begin, *letters; /* then `count` of these letters (0: any number of them) */
		unsigned count;
		bool file, more;             /* of files only; something with a point may follow */
	} names[] = {
		{"CMakeScratch", "", 0, false, false},
		{"CMakeTmp", "", 0, false, false},
		{"CompilerIdC", "", 0, false, false},
		{"CompilerIdCXX", "", 0, false, false},
		{"CompilerIdCUDA", "", 0, false, false},
		{"CompilerIdHIP", "", 0, false, false},
		{"CompilerIdOBJC", "", 0, false, false},
		{"CompilerIdOBJCXX", "", 0, false, false},
		{"CompilerIdFortran", "", 0, false, false},
		{"cmTC_", DIGITS "abcdef", 0, false, true},
		{"CMakeCCompilerId", "", 0, true, true},
		{"CMakeCXXCompilerId", "", 0, true, true},
		{"CMakeFortranCompilerId", "", 0, true, true},
		{"meson-private", "", 0, false, false},
		{".sconf_temp", "", 0, false, false},
		{".conf_check_", DIGITS "abcdef", 0, false, false},
		{"config.tests", "", 0, false, false},
		{"ffconf.", DIGITS LOWER UPPER, 8, false, true},
		{"_configtest", "", 0, true, true},
		{"conftest", "", 0, true, true},
		{"conftst", "", 0, true, true},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i].begin), letters;

		if ((names[i].file && !last) || n < length || strncmp(name, names[i].begin, length))
			continue;
		letters = strspn(name + length, names[i].letters);
		if (names[i].count && letters != names[i].count)
			continue;
		length += letters;
		if (n == length || (names[i].more && n > length && name[length] == '.'))
			return true;
	}
	return false;
}

bool gt_cc_is_probe(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n && probe_component(path, n, path[n] == '\0'))
			return true;
		path += n + (path[n] == '/');
	}
	return false;
}

/*
 * Programs that are made of one file in one go and are called like it: nginx's configure makes
 * objs/autotest of objs/autotest.c, zlib's ztest<process id> of ztest<process id>.c.
 */
static bool is_try(const struct gt_cc_job *job)
{
	const char *file = job->files[0], *output = job->output;
	size_t n = output ? strlen(output) : 0;
	const char *base;

	if (job->inputs != 1 || job->sources != 1 || job->stops_early || !n ||
	    strncmp(file, output, n) || !is(file + n, ".c"))
		return false;
	base = strrchr(output, '/');
	if (base)
		return is(base, "/autotest");
	return begins(output, "ztest") && n > 5 && strspn(output + 5, DIGITS) == n - 5;
}

static void look_for_probe(struct gt_cc_job *job, const char *path)
{
	if (!job->probe && gt_cc_is_probe(path))
		job->probe = path;
}

static void take_output(struct gt_cc_job *job, const char *path)
{
	look_for_probe(job, path);
	job->output = path;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

static enum kind kind_of_suffix(const char *file)
{
	static const char *const source[] = {
		"c", "C", "cc", "cp", "cxx", "cpp", "c++", "CPP", "m", "mm", "M", "cu", "hip", "cppm",
		"ixx", "F", "FOR", "FPP", "fpp", "F90", "F95", "F03", "F08", "FTN", "d", "adb", "go",
		NULL};
	static const char *const done[] = {"i", "ii", "mi", "mii", "f", "for", "ftn", "f90", "f95",
					   "f03", "f08", NULL};
	static const char *const header[] = {"h", "hh", "hp", "hxx", "hpp", "h++", "H", "HPP", "tcc",
					     NULL};
	static const char *const assembler[] = {"s", "S", "sx", "asm", "ll", "bc", NULL};
	const char *slash = strrchr(file, '/');
	const char *dot = strrchr(slash ? slash : file, '.');

	if (!dot)
		return OBJECT;
	dot++;
	return in(dot, source)	      ? SOURCE
	       : in(dot, done)	      ? PREPROCESSED
	       : in(dot, header)      ? HEADER
	       : in(dot, assembler)   ? ASSEMBLER
				      : OBJECT;
}

static enum kind kind_of_language(const char *language)
{
	if (is(language, "none"))
		return BY_NAME;
	if (strstr(language, "cpp-output"))
		return PREPROCESSED;
	if (strstr(language, "-header"))
		return HEADER;
	if (begins(language, "assembler") || is(language, "ir"))
		return ASSEMBLER;
	if (is(language, "f77") || is(language, "f95"))
		return PREPROCESSED;
	return SOURCE;
}

static void take_input(struct gt_cc_job *job, const char *file)
{
	enum kind kind = job->language != BY_NAME ? (enum kind)job->language : kind_of_suffix(file);

	job->inputs++;
	look_for_probe(job, file);
	job->headers += kind == HEADER;
	if (kind != SOURCE && kind != PREPROCESSED && kind != HEADER)
		return;
	if (job->sources < sizeof(job->files) / sizeof(job->files[0]))
		job->files[job->sources] = file;
	job->sources++;
	job->raw += kind != PREPROCESSED;
}

/* ---- options --------------------------------------------------------------------------------- */

static bool foreign_target(const char *triple)
{
	return !begins(triple, NATIVE) || !strstr(triple, "linux");
}

/* -xc, but not Intel's -xHost. */
static bool is_language(const char *text)
{
	static const char *const languages[] = {"c", "c++", "objective-c", "objective-c++", "cuda",
						"hip", "f77", "f95", "none", "ir", "assembler", NULL};

	return in(text, languages) || begins(text, "assembler-") || strstr(text, "cpp-") ||
	       strstr(text, "-header");
}

static bool asks_for_information(const char *word)
{
	static const char *const words[] = {"--version",   "-dumpversion", "-dumpfullversion",
					    "-dumpmachine", "-dumpspecs",  "-help",
					    "--target-help", "-qversion",  "-version", NULL};

	return in(word, words) || begins(word, "-print-") || begins(word, "--print-") ||
	       begins(word, "--help");
}

/* What the next word is, for options that take it as their argument. */
static enum pending argument_of(const char *word)
{
	static const char *const skip[] = {
		"-I", "-L", "-D", "-U", "-A", "-T", "-u", "-z", "-e", "-B", "-F", "-G", "-J", "-h",
		"-include", "-imacros", "-isystem", "-idirafter", "-iprefix", "-iwithprefix",
		"-iwithprefixbefore", "-iquote", "-isysroot", "-imultilib", "-iframework",
		"-iwithsysroot", "-cxx-isystem", "-c-isystem", "-ivfsoverlay", "-stdlib++-isystem",
		"-MF", "-MT", "-MQ", "-MJ", "-dumpdir", "-dumpbase", "-dumpbase-ext", "-auxbase",
		"-auxbase-strip", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-Xflang",
		"-Xanalyzer", "-Xopenmp-target", "-Xcuda-ptxas", "-Xcuda-fatbinary", "-Xarch_host",
		"-Xarch_device", "-mllvm", "-mthread-model", "-arch", "-gcc-toolchain", "--sysroot",
		"-wrapper", "--param", "-framework", "-rpath", "-Tbss", "-Tdata", "-Ttext",
		"-resource-dir", "-working-directory", "-dynamic-linker", "-install_name",
		"-serialize-diagnostics", "--serialize-diagnostics", "-module", NULL};

	if (is(word, "-o"))
		return OUTPUT;
	if (is(word, "-x"))
		return LANGUAGE;
	if (is(word, "-l"))
		return LIBRARY;
	if (is(word, "-target"))
		return TARGET;
	return in(word, skip) ? SKIP : NOTHING;
}

static void take_option(struct gt_cc_job *job, const char *word)
{
	static const char *const preprocess[] = {"-E", "-M", "-MM", "--preprocess", NULL};
	static const char *const early[] = {"-c", "-S", "-fsyntax-only", "--compile", "--assemble",
					    "-emit-ast", "--analyze", "--precompile",
					    "-emit-interface-stubs", NULL};
	static const char *const relocatable[] = {"-r", "-Wl,-r", "-Wl,--relocatable", "-Wl,-i", NULL};
	static const char *const fixed[] = {"-static", "--static", "-static-pie", NULL};
	static const char *const freestanding[] = {"-ffreestanding", "-fno-hosted", "-mkernel",
						   "-fapple-kext", "-mcmodel=kernel", "-D__KERNEL__",
						   "-fcuda-is-device", NULL};
	static const char *const width[] = {"-m32", "-mx32", "-m16", "-m31", NULL};

	job->pending = argument_of(word);
	if (job->pending)
		return;
	job->information |= asks_for_information(word);
	job->only_preprocess |= in(word, preprocess);
	job->stops_early |= in(word, early) || in(word, preprocess);
	job->relocatable |= in(word, relocatable);
	job->shared |= is(word, "-shared") || is(word, "--shared");
	job->fixed |= in(word, fixed);
	job->no_libraries |= is(word, "-nostdlib") || is(word, "-nodefaultlibs");
	job->names_libc |= is(word, "-lc");
	job->freestanding |= in(word, freestanding);
	job->instruments |= begins(word, "-finstrument-functions") ||
			    is(word, "-fno-instrument-functions");
	job->other_target |= (in(word, width) && sizeof(void *) == 8) ||
			     (begins(word, "--target=") && foreign_target(word + 9));
	if (begins(word, "-o"))
		take_output(job, word + 2);
	if (begins(word, "-x") && is_language(word + 2))
		job->language = kind_of_language(word + 2);
}

/* ---- words, also from response files --------------------------------------------------------- */

static void take(struct gt_cc_job *job, const char *word);

/* gcc's rules: blanks separate, both quotes hold together, a backslash takes the next letter. */
static void take_words_of(struct gt_cc_job *job, const char *text)
{
	while (*text) {
		size_t length = strlen(text), n = 0;
		char quote = '\0', *word;

		text += strspn(text, " \t\r\n\f\v");
		if (!*text)
			return;
		word = malloc(length + 1); /* kept: the job points to names of files */
		if (!word)
			return;
		for (; *text && (quote || !strchr(" \t\r\n\f\v", *text)); text++) {
			if (*text == '\\' && text[1])
				word[n++] = *++text;
			else if (quote ? *text == quote : (*text == '"' || *text == '\''))
				quote = quote ? '\0' : *text;
			else
				word[n++] = *text;
		}
		word[n] = '\0';
		take(job, word);
	}
}

/* False if there is no such file: then the word is a name, as it is for the compiler. */
static bool take_response_file(struct gt_cc_job *job, const char *name)
{
	int fd = job->depth < RESPONSE_DEPTH ? open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct stat st;
	char *text = NULL;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	/* A pipe can be read only once, and that is for the compiler. */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size < RESPONSE_BYTES)
		text = malloc((size_t)st.st_size + 1);
	if (text)
		n = read(fd, text, (size_t)st.st_size);
	close(fd);
	if (n >= 0) {
		text[n] = '\0';
		job->depth++;
		take_words_of(job, text);
		job->depth--;
	}
	free(text);
	return true;
}

static void take(struct gt_cc_job *job, const char *word)
{
	int pending = job->pending;

	job->pending = NOTHING;
	switch (pending) {
	case SKIP:
		return;
	case OUTPUT:
		take_output(job, word);
		return;
	case LANGUAGE:
		job->language = kind_of_language(word);
		return;
	case LIBRARY:
		job->names_libc |= is(word, "c");
		return;
	case TARGET:
		job->other_target |= foreign_target(word);
		return;
	}
	if (word[0] == '@' && take_response_file(job, word + 1))
		return;
	if (word[0] == '-' && word[1])
		take_option(job, word);
	else
		take_input(job, word);
}

void gt_cc_read(struct gt_cc_job *job, char *const *words)
{
	char *here = getcwd(NULL, 0);
	size_t n = here ? strlen(here) : 0;

	memset(job, 0, sizeof(*job));
	for (; *words; words++)
		take(job, *words);
	if (!job->probe && is_try(job))
		job->probe = job->output;
	/* A slash at the end: the working directory's last component is a folder, not a file. */
	if (here && !job->probe) {
		char *folder = malloc(n + 2);

		if (folder) {
			memcpy(folder, here, n);
			strcpy(folder + n, "/");
			job->probe = gt_cc_is_probe(folder) ? "the working directory" : NULL;
			free(folder);
		}
	}
	free(here);
}
