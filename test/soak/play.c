/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random program whose script is data: `play SCRIPT TRUTH` does what the lines of SCRIPT say, and counts
 * itself in the file TRUTH (struct truth) which calls of its instrumented functions it makes. One binary so
 * is as many programs as there are scripts; soak.py draws them. A line is "DEPTH ACT A B"; lines with
 * a larger depth below it are inside of it (a thread's steps, a child's).
 *
 *   play leaf STATUS TRUTH     what it executes: a few calls, and the end
 *
 * What it prints is the same each time, but for the order of threads and processes.
 *
 * Limits: each function counts itself first of all, when its enter is recorded. Where a thread is killed
 * or left between both, the script's act adds to truth->slack.
 */
#include "play.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

__thread struct actor self;
struct truth *truth;
enum { STEPS = 4000 };
struct step steps[STEPS];
int step_count, levels;
char *play_self, *play_truth;

/* ---- what is recorded -------------------------------------------------------------------------- */

static UNSEEN int body(int k, int depth);

#define FUNCTION(k)                   \
	CALLED int f##k(int depth);   \
	CALLED int f##k(int depth)    \
	{                             \
		int r = body(k, depth); \
				      \
		HERE();               \
		return r;             \
	}
FUNCTION(0)
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)
FUNCTION(6)
FUNCTION(7)
FUNCTION(8)
FUNCTION(9)
FUNCTION(10)
FUNCTION(11)
FUNCTION(12)
FUNCTION(13)
FUNCTION(14)
FUNCTION(15)

static UNSEEN int call(int k, int depth)
{
	static int (*const all[FUNCTIONS])(int) = { f0, f1, f2,  f3,  f4,  f5,  f6,  f7,
						    f8, f9, f10, f11, f12, f13, f14, f15 };

	return all[k](depth);
}

/* What a function does beside calling others. Not in handlers: doc/LIMITS.md, User API. */
static UNSEEN void aside(int k)
{
	static const char *const users[USERS] = { "u0", "u1", "u2", "u3", "u4", "u5" };
	char name[3] = { 'u', (char)('0' + k % USERS), 0 };
	void *memory;

	if (self.handler)
		return;
	switch (below(12)) {
	case 0: /* the name made at run time, or known to the place */
		VT_USER_START(users[k % USERS]);
		hit(U + k % USERS);
		self.fuel--;
		VT_USER_END(name);
		break;
	case 1:
		VT_USER_START("u5");
		hit(U + 5);
		VT_USER_END("u5");
		break;
	case 2:
		memory = malloc(1 + below(3000));
		memory = realloc(memory, 1 + below(9000));
		free(memory);
		break;
	}
}

static UNSEEN void bottom(void)
{
	if (self.bottom == JUMP)
		siglongjmp(self.back, 1);
	raise(SIGUSR2);
}

static UNSEEN int body(int k, int depth)
{
	unsigned n = depth > 0 ? below(4) : 0;

	hit(F + k);
	self.depth++;
	if (!self.off && !self.rewound)
		add(&truth->depth, self.depth);
	self.fuel--;
	aside(k);
	if (!n && self.bottom)
		bottom();
	while (n-- && self.fuel > 0)
		call((int)below(FUNCTIONS), depth - 1);
	self.depth--;
	return k;
}

UNSEEN void burst(int calls, int depth)
{
	int before = self.fuel;

	self.fuel = calls;
	while (self.fuel > 0)
		call((int)below(FUNCTIONS), depth);
	self.fuel = before;
}

/* ---- the script -------------------------------------------------------------------------------- */

static UNSEEN void (*find_act(const char *name))(int)
{
#define ACT(n) { #n, act_##n },
	static const struct {
		const char *name;
		void (*act)(int);
	} acts[] = { SOAK_ACTS(ACT) };

	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
		if (!strcmp(acts[i].name, name))
			return acts[i].act;
	return NULL;
}

static UNSEEN bool read_script(const char *path)
{
	FILE *file = fopen(path, "re");
	struct step *s = steps;
	char name[32];

	while (file && step_count < STEPS &&
	       fscanf(file, "%d %31s %d %d", &s->depth, name, &s->a, &s->b) == 4) {
		s->act = find_act(name);
		if (!s->act)
			bad(name);
		s++, step_count++;
	}
	if (file)
		fclose(file);
	for (int i = 0; i < step_count; i++) {
		steps[i].next = i + 1;
		while (steps[i].next < step_count && steps[steps[i].next].depth > steps[i].depth)
			steps[i].next++;
	}
	return step_count > 0;
}

UNSEEN void play_inner(int step)
{
	int end = step < 0 ? step_count : steps[step].next;

	for (int i = step + 1; i < end; i = steps[i].next)
		steps[i].act(i);
}

/* ---- the process ------------------------------------------------------------------------------- */

static UNSEEN bool open_truth(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	void *memory = MAP_FAILED;

	if (fd >= 0)
		memory = mmap(NULL, sizeof(*truth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	truth = memory;
	return memory != MAP_FAILED;
}

/* All processes write the same. */
static UNSEEN void name_all(void)
{
	static const char *const others[] = { "fibre", "thrower", "catcher", "plug", "compute" };

	for (int i = 0; i < FUNCTIONS; i++)
		snprintf(truth->of[F + i].name, sizeof(truth->of[0].name), "f%d", i);
	for (int i = 0; i < USERS; i++)
		snprintf(truth->of[U + i].name, sizeof(truth->of[0].name), "u%d", i);
	for (int i = NAME_FIBRE; i < NAMES; i++)
		snprintf(truth->of[i].name, sizeof(truth->of[0].name), "%s", others[i - NAME_FIBRE]);
}

UNSEEN int main(int argc, char **argv)
{
	struct rlimit none = { 0, 0 };
	bool leaf = argc == 4 && !strcmp(argv[1], "leaf");

	if (argc < 3 || !open_truth(argv[leaf ? 3 : 2]))
		return 99;
	add(&truth->processes, 1);
	play_self = realpath("/proc/self/exe", NULL);
	play_truth = realpath(argv[leaf ? 3 : 2], NULL);
	self.random = 1;
	name_all();
	setrlimit(RLIMIT_CORE, &none);
	if (leaf) {
		levels = 1;
		burst(20, 3);
		play_end(atoi(argv[2]) % 3, atoi(argv[2]));
	}
	if (!read_script(argv[1]))
		return 98;
	alarm(120);
	if (ranks_begin)
		ranks_begin(&argc, &argv);
	play_inner(-1);
	return 0;
}
