/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run's clock: the processor's time-stamp counter where the kernel itself keeps time with it, else
 * CLOCK_MONOTONIC; and simultaneous readings of both, from which the assembly computes nanoseconds. If a
 * program forbids itself the counter, the vDSO no longer works either: from then on the time comes from a
 * system call and is scaled to the counter's rate.
 *
 * Limits: no conversion of time here.
 */
#include "lib/record/record.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

GT_HIDDEN uint32_t gt_clock_kind = GT_CLOCK_MONOTONIC;

#if defined(__x86_64__)
#include <cpuid.h>

#define FAST_CLOCK GT_CLOCK_TSC

/* The kernel has tested the counter on all processors before it calls it its clock source. */
static bool fast_clock_trusted(void)
{
	char name[16];
	unsigned a, b, c, d;

	if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8)) /* invariant TSC */
		return false;
	gt_sys_read_text("/sys/devices/system/clocksource/clocksource0/current_clocksource", name,
			 sizeof(name));
	return !strncmp(name, "tsc", 3);
}

/* Has a process that became this one forbidden it? It would be a SIGSEGV. */
static bool fast_clock_forbidden(void)
{
	int mode = 0;

	return !GT_SYS2(SYS_prctl, PR_GET_TSC, &mode) && mode == PR_TSC_SIGSEGV;
}

/* Nominal frequency if the processor tells it, else 0. */
static uint64_t fast_clock_hz(void)
{
	unsigned a, b, c, d;

	if (__get_cpuid(0x15, &a, &b, &c, &d) && a && b && c)
		return (uint64_t)c * b / a;
	return 0;
}
#elif defined(__aarch64__)
#define FAST_CLOCK GT_CLOCK_CNTVCT

static bool fast_clock_trusted(void)
{
	return true; /* the architected counter */
}

static bool fast_clock_forbidden(void)
{
	return false;
}

static uint64_t fast_clock_hz(void)
{
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}
#else
#define FAST_CLOCK GT_CLOCK_MONOTONIC

static bool fast_clock_trusted(void)
{
	return false;
}

static bool fast_clock_forbidden(void)
{
	return false;
}

static uint64_t fast_clock_hz(void)
{
	return 0;
}
#endif

/* VT_TEST_HOST: how far this host's clocks are off, and how fast they run away. */
static int64_t skew_ns, skew_ppm;

static int64_t parse_number(const char **at)
{
	bool minus = **at == '-';
	int64_t value = 0;

	*at += minus;
	for (; **at >= '0' && **at <= '9' && value < INT64_MAX / 100; ++*at)
		value = value * 10 + (**at - '0');
	return minus ? -value : value;
}

static void read_skew(const char *text)
{
	text = strchr(text, ':');
	if (!text)
		return;
	text++;
	skew_ns = parse_number(&text);
	if (*text == ':') {
		text++;
		skew_ppm = parse_number(&text);
	}
}

/*
 * The kernel's own code for its clocks. clock_gettime by its name may be somebody else's, who shows the
 * program another time, and may not be called any more when the process ends.
 */
#if defined(__aarch64__)
#define VDSO_CLOCK "__kernel_clock_gettime"
#else
#define VDSO_CLOCK "__vdso_clock_gettime"
#endif
static int (*vdso_clock)(clockid_t, struct timespec *); /* NULL: none, or not looked for yet */

struct vdso {
	const char *base; /* what addresses in it are relative to */
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *gnu_hash;
	const ElfW(Word) *hash;
};

static bool vdso_open(struct vdso *v)
{
	const ElfW(Ehdr) *elf = (const void *)getauxval(AT_SYSINFO_EHDR);
	const ElfW(Phdr) *part = elf ? (const void *)((const char *)elf + elf->e_phoff) : NULL;
	const ElfW(Dyn) *d = NULL;

	for (int i = 0; elf && i < elf->e_phnum; i++) {
		if (part[i].p_type == PT_LOAD && !v->base)
			v->base = (const char *)elf + part[i].p_offset - part[i].p_vaddr;
		if (part[i].p_type == PT_DYNAMIC)
			d = (const void *)((const char *)elf + part[i].p_offset);
	}
	for (; v->base && d && d->d_tag != DT_NULL; d++) {
		const void *at = v->base + d->d_un.d_ptr;

		if (d->d_tag == DT_SYMTAB)
			v->symbols = at;
		else if (d->d_tag == DT_STRTAB)
			v->strings = at;
		else if (d->d_tag == DT_GNU_HASH)
			v->gnu_hash = at;
		else if (d->d_tag == DT_HASH)
			v->hash = at;
	}
	return v->symbols && v->strings;
}

/* How many symbols there are: what the last chain of its table of hashes ends with. */
static uint32_t vdso_count(const struct vdso *v)
{
	const uint32_t *buckets, *chains;
	uint32_t last = 0;

	if (v->hash)
		return v->hash[1];
	if (!v->gnu_hash)
		return 0;
	buckets = v->gnu_hash + 4 + v->gnu_hash[2] * (sizeof(ElfW(Addr)) / 4);
	chains = buckets + v->gnu_hash[0];
	for (uint32_t i = 0; i < v->gnu_hash[0]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	if (last < v->gnu_hash[1])
		return 0;
	while (!(chains[last - v->gnu_hash[1]] & 1))
		last++;
	return last + 1;
}

/* Since the counter may not be read: where it was, and how many of its ticks are so many nanoseconds. */
static struct {
	uint32_t on; /* atomic */
	struct gt_calib since;
	uint64_t ticks, ns;
} forbidden;

static inline bool is_forbidden(void)
{
	return gt_unlikely(__atomic_load_n(&forbidden.on, __ATOMIC_ACQUIRE));
}

static void find_vdso_clock(void)
{
	struct vdso v = { 0 };
	uint32_t n = vdso_open(&v) ? vdso_count(&v) : 0;

	for (uint32_t i = 0; i < n; i++)
		if (v.symbols[i].st_shndx && !strcmp(v.strings + v.symbols[i].st_name, VDSO_CLOCK))
			vdso_clock = (int (*)(clockid_t, struct timespec *))(uintptr_t)(
				v.base + v.symbols[i].st_value);
}

/* In a process that has confined itself the time stands still where it is a system call. */
static int64_t true_ns(clockid_t id)
{
	static int64_t latest; /* of CLOCK_MONOTONIC, without a vDSO */
	struct timespec ts;
	int64_t ns;

	if ((is_forbidden() || !vdso_clock || vdso_clock(id, &ts)) && gt_sys_clock(id, &ts))
		return __atomic_load_n(&latest, __ATOMIC_RELAXED);
	ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	if (gt_unlikely(!vdso_clock) && id == CLOCK_MONOTONIC)
		__atomic_store_n(&latest, ns, __ATOMIC_RELAXED);
	return GT_TEST_CLOCK(id, ns);
}

uint64_t gt_monotonic(void)
{
	return (uint64_t)true_ns(CLOCK_MONOTONIC);
}

static int64_t read_ns(clockid_t id)
{
	int64_t ns = true_ns(id), since = ns;

	if (gt_likely(!(skew_ns | skew_ppm)))
		return ns;
	if (id != CLOCK_MONOTONIC)
		since = true_ns(CLOCK_MONOTONIC);
	return ns + skew_ns + (int64_t)((__int128)since * skew_ppm / 1000000);
}

/* Added to the counter after it has gone back, because the machine was suspended or migrated. */
static uint64_t gone_back;

static uint64_t without_counter(void)
{
	int64_t passed = read_ns(CLOCK_MONOTONIC) - forbidden.since.mono_ns;

	return forbidden.since.tick +
	       (uint64_t)((__int128)(passed > 0 ? passed : 0) * forbidden.ticks / forbidden.ns);
}

uint64_t gt_clock_read(void)
{
	if (gt_clock_kind == GT_CLOCK_MONOTONIC)
		return (uint64_t)read_ns(CLOCK_MONOTONIC);
	if (is_forbidden())
		return without_counter();
	return gt_hot_ticks() + __atomic_load_n(&gone_back, __ATOMIC_RELAXED);
}

/* Readings that the counter is checked with, by one thread at a time. */
static struct {
	uint32_t busy;
	unsigned wanted;                 /* so many more are kept in any case */
	struct gt_def_calib first, from; /* the first, and the last that is in the journal */
	struct gt_def_calib latest;
} check;

static bool chosen;

void gt_clock_now(struct gt_moment *moment)
{
	memset(&check, 0, sizeof(check)); /* of a parent, where another thread may have been at it */
	if (!chosen)
		forbidden.on = fast_clock_forbidden();
	find_vdso_clock();
	read_skew(gt_settings.test_host);
	moment->tick = forbidden.on ? 0 : gt_hot_ticks();
	moment->mono_ns = read_ns(CLOCK_MONOTONIC);
}

/*
 * Is the counter to be trusted, and its frequency? Found out once on each host of the run: in a virtual
 * machine the processor's answers take 30 us each.
 */
static bool ask_processor(uint64_t *hz)
{
	enum { UNKNOWN, NO, YES };
	uint32_t known = __atomic_load_n(&gt_run->counter, __ATOMIC_ACQUIRE); /* pairs with the release */
	bool trusted = known == YES;

	*hz = gt_run->counter_hz;
	if (known != UNKNOWN)
		return trusted;
	trusted = fast_clock_trusted();
	*hz = trusted ? fast_clock_hz() : 0;
	gt_run->counter_hz = *hz;
	/* Pairs with the acquire in this function. */
	__atomic_store_n(&gt_run->counter, trusted ? YES : NO, __ATOMIC_RELEASE);
	return trusted;
}

uint64_t gt_clock_setup(const struct gt_moment *begin)
{
	static bool fast;
	static uint64_t hz; /* asked once: a program may forbid that, too (ARCH_SET_CPUID) */

	/* A forked child has its parent's clock: its ids and times go on from there. */
	if (!chosen) {
		fast = gt_settings.clock != GT_CLOCK_SET_MONOTONIC && !forbidden.on && ask_processor(&hz);
		hz = fast ? hz : 1000000000u;
	}
	chosen = true;
	if (gt_settings.clock == GT_CLOCK_SET_TSC && !fast)
		gt_message(1, "VT_CLOCK=tsc: the kernel does not trust this processor's counter; "
			      "CLOCK_MONOTONIC is used");
	gt_clock_kind = fast ? FAST_CLOCK : GT_CLOCK_MONOTONIC;
	gt_proc->clock = gt_clock_kind;
	gt_proc->nominal_hz = hz;
	if (!fast || forbidden.on)
		gt_attention_set(GT_ATT_CLOCK);
	return fast ? begin->tick + gone_back : (uint64_t)begin->mono_ns;
}

/* Another clock, at the time of a reading. */
static int64_t beside(clockid_t id, int64_t mono_ns)
{
	int64_t before = read_ns(CLOCK_MONOTONIC);
	int64_t other = read_ns(id);
	int64_t after = read_ns(CLOCK_MONOTONIC);

	return other - (before + (after - before) / 2) + mono_ns;
}

static void read_clocks(struct gt_def_calib *reading)
{
	struct gt_calib *best = &reading->at;

	best->width = UINT64_MAX;
	/* The best of a few: the pair with the least time between the counter's two readings. */
	for (int i = 0; i < 6; i++) {
		uint64_t before = gt_clock_read();
		int64_t mono = read_ns(CLOCK_MONOTONIC);
		uint64_t after = gt_clock_read();

		if (after - before < best->width) {
			best->tick = before + (after - before) / 2;
			best->width = after - before;
			best->mono_ns = mono;
		}
	}
	best->real_ns = beside(CLOCK_REALTIME, best->mono_ns);
	reading->boot_ns = beside(CLOCK_BOOTTIME, best->mono_ns);
}

static void store(struct gt_calib *to, const struct gt_calib *calib)
{
	__atomic_store_n(&to->tick, 0, __ATOMIC_RELAXED); /* 0: being changed */
	__atomic_thread_fence(__ATOMIC_ACQ_REL);
	to->width = calib->width;
	to->mono_ns = calib->mono_ns;
	to->real_ns = calib->real_ns;
	__atomic_store_n(&to->tick, calib->tick, __ATOMIC_RELEASE);
}

void gt_clock_calibrate(struct gt_calib *calib)
{
	struct gt_def_calib reading;

	read_clocks(&reading);
	store(calib, &reading.at);
}

static void keep(const struct gt_def_calib *reading)
{
	if (reading->at.tick == check.from.at.tick)
		return;
	if (!check.from.at.tick && reading != &check.first)
		keep(&check.first);
	gt_journal_put(GT_D_CALIB, 0, &(struct gt_piece){ reading, sizeof(*reading) }, 1);
	check.from = *reading;
}

#define STRAIGHT_NS 1000   /* a line may miss a reading by so much */
#define SLEPT_NS    100000 /* the kernel's clocks part when the machine is suspended */
#define MOST_PPM    500    /* what the kernel corrects CLOCK_MONOTONIC by */

static int64_t magnitude(int64_t value)
{
	return value < 0 ? -value : value;
}

/* By how much CLOCK_MONOTONIC misses the line through the readings before, at the least. */
static int64_t deviation(const struct gt_def_calib *now)
{
	const struct gt_calib *a = check.from.at.tick ? &check.from.at : &check.first.at;
	const struct gt_calib *b = &check.latest.at, *c = &now->at;
	__int128 ticks = (__int128)b->tick - a->tick, more = (__int128)c->tick - b->tick, off, width;

	if (ticks <= 0 || more < 0)
		return 0;
	off = c->mono_ns - b->mono_ns - more * (b->mono_ns - a->mono_ns) / ticks;
	width = b->width + c->width + (a->width + b->width) * more / ticks;
	width = width * (b->mono_ns - a->mono_ns) / ticks;
	off = magnitude((int64_t)off) - width / 2;
	return off > 0 ? (int64_t)off : 0;
}

/* Keeps the readings where the counter's rate has changed: small changes are segments, others breaks. */
static void compare(const struct gt_def_calib *now)
{
	int64_t off = deviation(now), passed = now->at.mono_ns - check.latest.at.mono_ns;
	int64_t slept = now->boot_ns - check.latest.boot_ns - passed;
	bool breaks = off > STRAIGHT_NS && off / MOST_PPM > passed / 1000000;

	breaks = breaks || magnitude(slept) > SLEPT_NS;
	if (breaks || off > STRAIGHT_NS)
		keep(&check.latest);
	if (breaks)
		check.wanted = 3; /* this one, and those from which the new rate is known */
	if (check.wanted) {
		check.wanted--;
		keep(now);
	}
	check.latest = *now;
}

/* It goes on from where CLOCK_MONOTONIC says, and no longer as the hot path reads it. */
static void step_over(struct gt_def_calib *now)
{
	const struct gt_calib *a = &check.first.at, *b = &check.latest.at;
	int64_t ns = b->mono_ns - a->mono_ns;
	__int128 ticks = now->at.mono_ns - b->mono_ns;
	uint64_t add;

	if (ns > 0)
		ticks = ticks * (int64_t)(b->tick - a->tick) / ns;
	add = b->tick + (uint64_t)(ticks > 0 ? ticks : 0) - now->at.tick;
	now->at.tick += add;
	__atomic_store_n(&gone_back, gone_back + add, __ATOMIC_RELAXED);
	gt_attention_set(GT_ATT_CLOCK);
}

/* One more reading, beside those before. */
static void look(struct gt_def_calib *now)
{
	read_clocks(now);
	if (gt_clock_kind == GT_CLOCK_MONOTONIC)
		return;
	if (now->at.tick < check.latest.at.tick)
		step_over(now);
	compare(now);
}

void gt_clock_begin(void)
{
	read_clocks(&check.first);
	check.latest = check.first;
	store(&gt_proc->first, &check.first.at);
}

#define RATE_PPM    250  /* the counter's rate must be known as well as this to go on with it */
#define RATE_NAP_US 50
#define RATE_NAPS   40

/* Both readings may be wrong by their widths. */
static bool rate_is_known(const struct gt_def_calib *now)
{
	uint64_t width = now->at.width + check.first.at.width;

	return now->at.tick - check.first.at.tick >= width * (1000000 / RATE_PPM);
}

/* The program waits for this, but only if it does so in its first few hundred microseconds. */
static void forbid(void)
{
	struct gt_def_calib now;

	look(&now);
	for (int i = 0; i < RATE_NAPS && !rate_is_known(&now); i++) {
		gt_sys_sleep_us(RATE_NAP_US);
		look(&now);
	}
	forbidden.since = now.at;
	forbidden.ticks = now.at.tick - check.first.at.tick;
	forbidden.ns = (uint64_t)(now.at.mono_ns - check.first.at.mono_ns);
	if (now.at.mono_ns <= check.first.at.mono_ns) /* a clock that stands still: in a confined process */
		forbidden.ticks = forbidden.ns = 1;
	if (gt_clock_kind != GT_CLOCK_MONOTONIC)
		keep(&now);
}

void gt_clock_forbid(void)
{
	uint64_t mask;

	if (is_forbidden())
		return;
	mask = gt_signals_block();
	for (int i = 0; i < 1000 && __atomic_exchange_n(&check.busy, 1, __ATOMIC_ACQUIRE); i++)
		gt_sys_sleep_us(10); /* another thread compares clocks */
	if (!is_forbidden()) /* or was another thread first? */
		forbid();
	__atomic_store_n(&forbidden.on, 1, __ATOMIC_RELEASE); /* pairs with is_forbidden() */
	gt_attention_set(GT_ATT_CLOCK);
	__atomic_store_n(&check.busy, 0, __ATOMIC_RELEASE); /* pairs with note() */
	gt_signals_restore(mask);
}

static void note(struct gt_calib *where)
{
	struct gt_def_calib now;

	if (__atomic_exchange_n(&check.busy, 1, __ATOMIC_ACQUIRE))
		return; /* another thread is at it */
	look(&now);
	if (where)
		store(where, &now.at);
	__atomic_store_n(&check.busy, 0, __ATOMIC_RELEASE); /* pairs with gt_clock_forbid() */
}

void gt_clock_check(void)
{
	note(NULL);
}

void gt_clock_note(void)
{
	note(&gt_proc->last);
}
