/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that a filter may leave out, called very often, and what became of the program's code meanwhile:
 * each byte of its text is compared with its file's. Prints "TOTAL changed: FROM>TO COUNT ...", pages, and
 * "wrong" if a function returned something else than it should.
 *
 *   off             leaf, quiet and kept, 5,000 times each
 *   off threads     four threads in fib(), while others still find its calls for the first time
 *   off denied      after PR_SET_MDWE: "unknown" where the kernel has it not
 *   off fork        a child goes on where its parent was, and then calls what the parent did not
 *   off leak        a thread's calls are switched off again and again, and children look at what they inherit
 *   off inlined     in and out, which are inlined into either, 5,000 times each
 *   off vfork       a child that shares the memory calls leaf and quiet
 *   off handler     a signal handler does, on a stack of its own of 16 KiB
 *   off confined    after the program has forbidden itself to open or to read files
 *   off load FILE   loads FILE, calls its work() and unloads it, 60 times; text of FILE alone
 *
 * Limits: Linux on x86-64. The functions must not be inlined.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

#define NOINSTR __attribute__((no_instrument_function))
#ifdef __clang__
#define KEEP __attribute__((noinline))
#else
#define KEEP __attribute__((noinline, noclone))
#endif

int leaf(int x);
void quiet(int *x);
int kept(int x);
int fib(int n);
int late(int x);
void either(int *x, int which);

/* At the ends of both, gcc makes one call of the hook: with -Os, and with -O2 if they do the same. */
#ifndef OUT_ADDS
#define OUT_ADDS 1
#endif

static inline __attribute__((always_inline)) int in(const int *x)
{
	return *x + 1;
}

static inline __attribute__((always_inline)) int out(const int *x)
{
	return *x + OUT_ADDS;
}

KEEP void either(int *x, int which)
{
	if (which)
		*x = in(x);
	else
		*x = out(x);
}

KEEP int leaf(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

/* Its last act is to call the hook. */
KEEP void quiet(int *x)
{
	__asm__ volatile("" : : "r"(x) : "memory");
	*x += 2;
}

KEEP int kept(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 3;
}

KEEP int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

KEEP int late(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 4;
}

NOINSTR static void check(int is, int expected, const char *what)
{
	if (is != expected)
		printf("wrong: %s: %d, not %d\n", what, is, expected);
}

NOINSTR static void call_all(int calls)
{
	int x = 0;

	for (int i = 0; i < calls; i++) {
		x = leaf(x);
		quiet(&x);
		if (i % 5 == 0)
			x = kept(x);
	}
	check(x, calls * 3 + (calls + 4) / 5 * 3, "leaf, quiet, kept");
}

/* ---- what became of the code ----------------------------------------------------------------------- */

static unsigned changed[256][256];

NOINSTR static unsigned compare(const char *path, unsigned long from, unsigned long to, unsigned long offset)
{
	int file = open(path, O_RDONLY), differ = 0, pages = 0;
	unsigned char bytes[4096];

	for (; file >= 0 && from < to; from += sizeof(bytes), offset += sizeof(bytes), pages += differ) {
		const unsigned char *now = (const unsigned char *)from;
		ssize_t n = pread(file, bytes, sizeof(bytes), (off_t)offset);

		differ = 0;
		for (ssize_t i = 0; i < n && from + (unsigned long)i < to; i++)
			if (bytes[i] != now[i]) {
				changed[bytes[i]][now[i]]++;
				differ = 1;
			}
	}
	close(file);
	return (unsigned)pages;
}

/* Of the file with that name: how many bytes have changed. */
NOINSTR static unsigned look(const char *name, int print)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned total = 0, pages = 0;
	char line[4500], mode[8], path[4096];
	unsigned long from, to, offset;

	memset(changed, 0, sizeof(changed));
	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &from, &to, mode, &offset, path) == 5 &&
		    !strcmp(mode, "r-xp") && strstr(path, name))
			pages += compare(path, from, to, offset);
	if (maps)
		fclose(maps);
	for (unsigned i = 0; i < 65536; i++)
		total += changed[i >> 8][i & 255];
	if (!print)
		return total;
	printf("%u changed:", total);
	for (unsigned i = 0; i < 65536; i++)
		if (changed[i >> 8][i & 255])
			printf(" %02x>%02x %u", i >> 8, i & 255, changed[i >> 8][i & 255]);
	printf("\npages %u\n", pages);
	return total;
}

/* ---- modes ------------------------------------------------------------------------------------------- */

NOINSTR static void *in_thread(void *seed)
{
	int *x = seed;

	for (int i = 0; i < 30; i++)
		check(fib(15), 610, "fib");
	call_all(5000);
	*x += kept(1);
	return NULL;
}

NOINSTR static void threads(void)
{
	pthread_t thread[4];
	int x[4] = { 0 };

	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, in_thread, &x[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

NOINSTR static void forked(const char *self)
{
	unsigned before, after;
	int status = 1;
	pid_t pid;

	call_all(5000);
	before = look(self, 0);
	pid = fork();
	if (!pid) {
		check((int)look(self, 0), (int)before, "a child's code");
		call_all(5000);
		for (int i = 0; i < 5000; i++)
			check(late(i), i + 4, "late");
		after = look(self, 0);
		fflush(NULL);
		_exit(after <= before);
	}
	waitpid(pid, &status, 0);
	check(status, 0, "a child switches off what is its own");
	check((int)look(self, 0), (int)before, "the parent's code");
}

static volatile int leak_ends;

/* Each time the code is as it is in the file. */
NOINSTR static void *call_fresh(void *unused)
{
	uintptr_t page = (uintptr_t)leaf & ~(uintptr_t)4095;
	int x = 0;

	for (int i = 0; i < 1000; i++)
		x = leaf(x);
	while (!leak_ends) {
		madvise((void *)page, 4096, MADV_DONTNEED);
		x = leaf(x);
	}
	return unused;
}

/* Has it a process's memory open? */
NOINSTR static int inherits(void)
{
	char name[64], path[256];

	for (int fd = 3; fd < 64; fd++) {
		ssize_t n;

		snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
		n = readlink(name, path, sizeof(path));
		if (n > 4 && !memcmp(path + n - 4, "/mem", 4))
			return 1;
	}
	return 0;
}

NOINSTR static void leak(void)
{
	int status, bad = 0;
	pthread_t thread;

	pthread_create(&thread, NULL, call_fresh, NULL);
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(inherits());
		waitpid(pid, &status, 0);
		bad += status != 0;
	}
	leak_ends = 1;
	pthread_join(thread, NULL);
	check(bad, 0, "children with their parent's memory open");
}

/* Without a word to anybody, and without kept(). */
NOINSTR static int call_some(void)
{
	int x = 0;

	for (int i = 0; i < 5000; i++) {
		x = leaf(x);
		quiet(&x);
	}
	return x != 15000;
}

NOINSTR static void shared(void)
{
	int status = 1;
	pid_t pid = vfork();

	if (!pid)
		_exit(call_some());
	waitpid(pid, &status, 0);
	check(status, 0, "a child in the parent's memory");
}

static volatile int handled = 1;

NOINSTR static void handle(int signal)
{
	(void)signal;
	handled = call_some();
}

NOINSTR static void inlined(void)
{
	int x = 0;

	for (int i = 0; i < 10000; i++)
		either(&x, i & 1);
	check(x, 5000 + 5000 * OUT_ADDS, "either");
}

NOINSTR static void in_handler(void)
{
	static char stack[16384];
	stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };

	sigaltstack(&own, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	check(handled, 0, "in a handler");
}

/* Who opens or reads a file from now on is killed. */
NOINSTR static void confined(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pread64, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwrite64, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = { sizeof(rules) / sizeof(rules[0]), rules };
	unsigned char before[2][64];

	memcpy(before[0], (const void *)leaf, 64);
	memcpy(before[1], (const void *)quiet, 64);
	leaf(0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		printf("wrong: cannot confine itself\n");
	check(call_some(), 0, "confined");
	check(memcmp(before[0], (const void *)leaf, 64) || memcmp(before[1], (const void *)quiet, 64), 0,
	      "code after it was confined");
}

NOINSTR static void load(const char *file)
{
	for (int i = 0; i < 60; i++) {
		void *library = dlopen(file, RTLD_NOW);
		int (*work)(int) = library ? (int (*)(int))dlsym(library, "work") : NULL;

		if (!work) {
			printf("wrong: %s\n", dlerror());
			return;
		}
		check((int)look(file, 0), 0, "fresh code");
		for (int k = 0; k < 3000; k++)
			check(work(k), k + 7, "work");
		if (!i && look(file, 1) == 0)
			printf("untouched\n");
		dlclose(library);
	}
}

NOINSTR int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "", *self = strrchr(argv[0], '/');

	if (!strcmp(mode, "load")) {
		load(argv[2]);
		return 0;
	}
	if (!strcmp(mode, "confined")) {
		confined();
		return 0;
	}
	if (!strcmp(mode, "denied") && prctl(PR_SET_MDWE, 1L, 0L, 0L, 0L))
		printf("unknown\n");
	if (!strcmp(mode, "threads"))
		threads();
	else if (!strcmp(mode, "fork"))
		forked(self);
	else if (!strcmp(mode, "leak"))
		leak();
	else if (!strcmp(mode, "vfork"))
		shared();
	else if (!strcmp(mode, "handler"))
		in_handler();
	else if (!strcmp(mode, "inlined"))
		inlined();
	else
		call_all(5000);
	look(self, 1);
	return 0;
}
