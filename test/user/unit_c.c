/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of the user API in C against a stand-in for the core: what each macro asks of it, and
 * what wrong calls come to. Limits: nothing about the trace (see user.test).
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#define VTRACE
#include "vt_user.h"
#include "double.h"
#include "instrument/user.h"
#include "lib/format.h"

#define EXPECT(text) cr_expect_str_eq(double_log(), text)
#define REGION(name) "region \"" name "\" group=Application file=" __FILE__ " line="

/* ---- regions ------------------------------------------------------------------------------------ */

Test(region, literal_is_defined_once)
{
	char want[512];

	for (int i = 0; i < 3; i++) {
		VT_USER_START("work");
		VT_USER_END("work");
		snprintf(want, sizeof(want), REGION("work") "%d,%d role=4 paradigm=1\n%s",
			 __LINE__ - 3, __LINE__ - 3, "enter work\nleave work\n");
		cr_expect_str_eq(double_log(), i ? "enter work\nleave work\n" : want);
	}
}

Test(region, same_name_at_other_sites_is_one_region)
{
	VT_USER_START("work");
	VT_USER_END("work");
	double_log();
	VT_USER_START("work");
	VT_USER_END("work");
	EXPECT("enter work\nleave work\n");
	cr_expect_eq(double_definitions, 1);
}

static void named(const char *name)
{
	VT_USER_START(name);
	VT_USER_END(name);
}

Test(region, reused_buffer_with_other_text)
{
	char name[24];

	for (int turn = 0; turn < 3; turn++)
		for (int i = 0; i < 3; i++) {
			char want[128];

			snprintf(name, sizeof(name), "iteration %d", i);
			named(name);
			snprintf(want, sizeof(want), "enter %s\nleave %s\n", name, name);
			cr_expect(strstr(double_log(), want));
		}
	cr_expect_eq(double_definitions, 3);
}

/* With optimisation the literals of the callers arrive at one site. */
static inline __attribute__((always_inline)) void inlined(const char *name)
{
	VT_USER_START(name);
	VT_USER_END(name);
}

Test(region, literals_through_an_inlined_function)
{
	for (int i = 0; i < 3; i++) {
		inlined("one");
		inlined("two");
		double_log();
	}
	inlined("one");
	inlined("two");
	EXPECT("enter one\nleave one\nenter two\nleave two\n");
	cr_expect_eq(double_definitions, 2);
}

/* The compiler decides what is constant; the library has to be right whatever it says. */
Test(region, a_site_with_several_names)
{
	static struct vt_user_site site;
	static const char first[] = "first", second[] = "second";

	for (int i = 0; i < 3; i++) {
		vt_user_enter(&site, first, NULL, 0);
		vt_user_leave(&site, first);
		vt_user_enter(&site, second, NULL, 0);
		vt_user_leave(&site, second);
		cr_expect(strstr(double_log(), "enter second\nleave second\n"));
	}
	cr_expect_eq(double_definitions, 2);
}

Test(region, long_names_are_cut_not_mixed_up)
{
	char a[6000], b[6000];

	memset(a, 'x', sizeof(a));
	a[sizeof(a) - 1] = '\0';
	memcpy(b, a, sizeof(b));
	b[0] = 'y';
	double_quiet = true;
	named(a);
	named(b);
	cr_expect_eq(double_definitions, 2);
	a[5000] = 'z'; /* beyond what is kept */
	named(a);
	cr_expect_eq(double_definitions, 2);
	cr_expect_eq(double_enters, 3);
	cr_expect_eq(double_leaves, 3);
}

Test(region, with_id)
{
	unsigned int id = VT_USER_DEF("solve", "Solver", "solve.c", 12);

	EXPECT(""); /* the core is asked when it is needed */
	for (int i = 0; i < 2; i++) {
		VT_USER_START2(id);
		VT_USER_END2(id);
	}
	EXPECT("region \"solve\" group=Solver file=solve.c line=12,12 role=4 paradigm=1\n"
	       "enter solve\nleave solve\nenter solve\nleave solve\n");
	cr_expect_neq(id, 0);
	cr_expect_eq(id, VT_USER_DEF("solve", "Solver", "solve.c", 12));
	cr_expect_neq(id, VT_USER_DEF("solve", "Solver", "solve.c", 13));
	cr_expect_neq(id, VT_USER_DEF("solve", "Other", "solve.c", 12));
	cr_expect_neq(id, VT_USER_DEF("solve", "Solver", "other.c", 12));
	cr_expect_neq(id, VT_USER_DEF("solve", NULL, "solve.c", 12));
}

Test(region, definition_without_group_and_place)
{
	unsigned int id = VT_USER_DEF("bare", NULL, NULL, -1);

	VT_USER_START2(id);
	VT_USER_END2(id);
	EXPECT("region \"bare\" group=Application file=- line=0,0 role=4 paradigm=1\n"
	       "enter bare\nleave bare\n");
	cr_expect_eq(id, VT_USER_DEF("bare", "", "", 0));
}

Test(region, filtered)
{
	double_filter = "hidden";
	for (int i = 0; i < 100; i++) {
		VT_USER_START("hidden");
		VT_USER_START("shown");
		VT_USER_END("shown");
		VT_USER_END("hidden");
	}
	cr_expect_eq(double_enters, 100);
	cr_expect_eq(double_leaves, 100);
	cr_expect_leq(double_definitions, GT_USER_TRIES + 1, "the filter is not asked for ever");
	cr_expect_null(strstr(double_log(), "enter hidden"));
}

Test(region, refused_for_a_moment)
{
	VT_USER_START("outer");
	double_refuse = 2;
	for (int i = 0; i < 4; i++) {
		VT_USER_START("late");
		VT_USER_END("late");
	}
	VT_USER_END("outer");
	cr_expect_eq(double_enters, 3);
	cr_expect_eq(double_leaves, 3, "no leave for an enter that was not recorded");
}

Test(region, begun_while_off_ends_without_a_record)
{
	VT_USER_START("seen");
	VT_OFF();
	VT_USER_START("unseen");
	double_log();
	VT_ON();
	VT_USER_END("unseen");
	VT_USER_END("seen");
	EXPECT("message 1: VT_OFF was called inside 1 user regions, VT_ON inside 2: the regions "
	       "between will look too long or be missing\nswitch on\nleave seen\n");
}

Test(region, before_the_core_is_ready)
{
	unsigned int id;

	double_active = false;
	id = VT_USER_DEF("early", NULL, NULL, 0);
	VT_USER_START2(id);
	VT_USER_END2(id);
	EXPECT("");
	double_active = true;
	VT_USER_START2(id);
	VT_USER_END2(id);
	EXPECT("region \"early\" group=Application file=- line=0,0 role=4 paradigm=1\n"
	       "enter early\nleave early\n");
}

/* ---- nesting ------------------------------------------------------------------------------------ */

Test(nesting, leave_of_an_outer_region)
{
	double_quiet = true;
	VT_USER_START("a");
	VT_USER_START("b");
	VT_USER_START("c");
	VT_USER_END("c");
	VT_USER_END("b");
	VT_USER_END("a");
	double_quiet = false;
	for (int i = 0; i < 2; i++) {
		VT_USER_START("a");
		VT_USER_START("b");
		VT_USER_START("c");
		VT_USER_END("a");
	}
	EXPECT("enter a\nenter b\nenter c\n"
	       "message 2: VT_USER_END(a): 2 regions inside it were still open and are closed, "
	       "too\nleave a\n"
	       "enter a\nenter b\nenter c\nleave a\n");
	VT_USER_END("b");
	EXPECT("message 2: VT_USER_END: the region is not open on this thread; the call is ignored\n");
	VT_USER_END("never seen");
	EXPECT("");
}

Test(nesting, deeper_than_the_stack)
{
	char name[32];

	double_quiet = true;
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "level %d", i);
		VT_USER_START(name);
	}
	for (int i = 500; i--;) {
		snprintf(name, sizeof(name), "level %d", i);
		VT_USER_END(name);
	}
	double_quiet = false;
	cr_expect_eq(double_enters, 500);
	cr_expect_eq(double_leaves, 500);
	VT_USER_END("level 0");
	EXPECT("message 2: VT_USER_END: the region is not open on this thread; the call is ignored\n");
}

/* ---- wrong calls -------------------------------------------------------------------------------- */

Test(wrong, names)
{
	char empty[] = "", *none = NULL;

	VT_USER_START("around");
	double_log();
	VT_USER_START(none);
	VT_USER_END(none);
	VT_USER_START(empty);
	VT_USER_END(empty);
	cr_expect_eq(VT_USER_DEF(NULL, NULL, NULL, 0), 0);
	cr_expect_eq(VT_COUNT_GROUP_DEF(NULL), 0);
	cr_expect_eq(VT_COUNT_DEF(NULL, NULL, VT_COUNT_TYPE_SIGNED, VT_COUNT_DEFGROUP), 0);
	cr_expect_eq(VT_MARKER_DEF(NULL, VT_MARKER_TYPE_HINT), 0);
	cr_expect_eq(VT_MSG_COMM_DEF(NULL), 0);
	VT_COMMENT_DEF(NULL);
	VT_COMMENT(NULL);
	VT_USER_END("around");
	EXPECT("message 1: VT_USER_START: no name given; the call is ignored\nleave around\n");
	double_end();
	EXPECT("message 1: 9 calls of the user API were ignored: 9 without a name, 0 with an unknown "
	       "id, 0 of a wrong type, 0 for too many definitions\n");
}

Test(wrong, ids)
{
	unsigned int region = VT_USER_DEF("r", NULL, NULL, 0);
	unsigned int group = VT_COUNT_GROUP_DEF("g");
	unsigned int marker = VT_MARKER_DEF("m", VT_MARKER_TYPE_HINT);
	const unsigned int wrong[] = { 0, 77, 65535, 65536, 0x7fffffff, 0xfffffffe, 0xffffffff };
	unsigned long calls = 0;

	double_quiet = true;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		VT_USER_START2(wrong[i]);
		VT_USER_END2(wrong[i]);
		VT_COUNT_SIGNED_VAL(wrong[i], 1);
		VT_MARKER(wrong[i], "x");
		calls += 4;
		if (wrong[i] == (unsigned int)VT_MSG_DEFCOMM)
			continue;
		VT_MSG_SEND(wrong[i], 1, 1);
		VT_MSG_RECV(wrong[i], 1, 1);
		calls += 2;
	}
	double_quiet = false;
	VT_USER_START2(group);
	VT_USER_END2(group);
	VT_COUNT_DOUBLE_VAL(region, 1);
	VT_MARKER(group, "x");
	VT_MSG_SEND(marker, 1, 1);
	calls += 5;
	EXPECT("");
	double_end();
	{
		char want[200];

		snprintf(want, sizeof(want), "message 1: %lu calls of the user API were ignored: "
			 "0 without a name, %lu with an unknown id, 0 of a wrong type, 0 for too many "
			 "definitions\n", calls, calls);
		EXPECT(want);
	}
}

Test(wrong, types)
{
	unsigned int count = VT_COUNT_DEF("c", "1", VT_COUNT_TYPE_UNSIGNED, VT_COUNT_DEFGROUP);
	unsigned int other = VT_COUNT_DEF("d", "1", VT_COUNT_TYPE_FLOAT, VT_COUNT_DEFGROUP);

	VT_COUNT_DOUBLE_VAL(count, 1.5);
	EXPECT("message 1: VT_COUNT_DOUBLE_VAL: wrong type; the call is ignored\n");
	VT_COUNT_SIGNED_VAL(count, -1);
	VT_COUNT_SIGNED_VAL(other, 1);
	cr_expect_eq(VT_COUNT_DEF("e", "1", 0, VT_COUNT_DEFGROUP), 0);
	cr_expect_eq(VT_COUNT_DEF("e", "1", 5, VT_COUNT_DEFGROUP), 0);
	cr_expect_eq(VT_COUNT_DEF("e", "1", 14, VT_COUNT_DEFGROUP), 0);
	cr_expect_eq(VT_COUNT_DEF("e", "1", -1, VT_COUNT_DEFGROUP), 0);
	cr_expect_eq(VT_MARKER_DEF("m", 0), 0);
	cr_expect_eq(VT_MARKER_DEF("m", 4), 0);
	EXPECT("");
	double_end();
	EXPECT("message 1: 9 calls of the user API were ignored: 0 without a name, 0 with an unknown "
	       "id, 9 of a wrong type, 0 for too many definitions\n");
}

Test(wrong, too_many_definitions)
{
	char name[32];

	double_quiet = true;
	VT_USER_START("first");
	for (unsigned i = 0; i < GT_USER_MAX + 100; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		VT_USER_START(name);
		VT_USER_END(name);
	}
	VT_USER_END("first");
	cr_expect_eq(double_enters, GT_USER_MAX);
	cr_expect_eq(double_leaves, GT_USER_MAX);
	cr_expect_eq(double_lost[GT_LOSS_DEFINITION], 2 * 101, "an enter and a leave each");
	VT_USER_START("n7");
	VT_USER_END("n7");
	cr_expect_eq(double_leaves, GT_USER_MAX + 1, "what is known still works");
	double_quiet = false;
	double_end();
	EXPECT("message 1: 101 calls of the user API were ignored: 0 without a name, 0 with an unknown "
	       "id, 0 of a wrong type, 101 for too many definitions\n");
}

Test(wrong, too_much_text)
{
	char name[4000];
	unsigned i;

	double_quiet = true;
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "%u", i);
		name[strlen(name)] = 'x';
		if (!VT_USER_DEF(name, NULL, NULL, 0))
			break;
	}
	cr_expect_geq(i, GT_USER_TEXT_BYTES / 4096);
	cr_expect_lt(i, 2000);
	cr_expect_eq(VT_USER_DEF("small", NULL, NULL, 0), 0);
}

Test(wrong, child_counts_its_own)
{
	VT_USER_START2(0);
	VT_USER_END2(0);
	double_log();
	double_fork_child();
	double_end();
	EXPECT("");
}

Test(fork, regions_of_the_parent_end_without_a_record)
{
	VT_USER_START("of the parent");
	double_fork_child();
	VT_USER_START("of the child");
	VT_USER_END("of the child");
	double_log();
	VT_USER_END("of the parent");
	EXPECT("");
	VT_USER_START("of the parent");
	VT_USER_END("of the parent");
	EXPECT("enter of the parent\nleave of the parent\n");
}

/* ---- control ------------------------------------------------------------------------------------ */

Test(control, all)
{
	cr_expect_eq(VT_IS_ON(), 1);
	VT_OFF();
	cr_expect_eq(VT_IS_ON(), 0);
	VT_ON();
	VT_BUFFER_FLUSH();
	VT_TIMESYNC();
	VT_UPDATE_COUNTER();
	VT_SET_REWIND_MARK();
	VT_REWIND();
	EXPECT("switch off\nswitch on\nflush\nupdate\nrewind mark\nrewind\n");
}

static void off_then_on(void)
{
	VT_OFF();
	VT_USER_START("x");
	VT_ON();
	VT_USER_END("x");
}

Test(control, unbalanced_is_told_once)
{
	off_then_on();
	off_then_on();
	EXPECT("switch off\nmessage 1: VT_OFF was called inside 0 user regions, VT_ON inside 1: "
	       "the regions between will look too long or be missing\nswitch on\n"
	       "switch off\nswitch on\n");
}

Test(control, unbalanced_unchecked)
{
	double_balance = "no";
	off_then_on();
	EXPECT("switch off\nswitch on\n");
}

Test(control, on_without_off)
{
	VT_USER_START("x");
	double_log();
	VT_ON();
	VT_ON();
	VT_USER_END("x");
	EXPECT("switch on\nswitch on\nleave x\n");
}

/* ---- counters, markers, messages, comments ------------------------------------------------------ */

Test(counter, all_types)
{
	unsigned int group = VT_COUNT_GROUP_DEF("Solver");
	unsigned int s = VT_COUNT_DEF("s", "bytes", VT_COUNT_TYPE_SIGNED, group);
	unsigned int u = VT_COUNT_DEF("u", "", VT_COUNT_TYPE_UNSIGNED, group);
	unsigned int f = VT_COUNT_DEF("f", "m/s", VT_COUNT_TYPE_FLOAT, VT_COUNT_DEFGROUP);
	unsigned int d = VT_COUNT_DEF("d", NULL, VT_COUNT_TYPE_DOUBLE, VT_COUNT_DEFGROUP);

	VT_COUNT_SIGNED_VAL(s, -5);
	VT_COUNT_SIGNED_VAL(s, -9223372036854775807LL);
	EXPECT("metric \"s\" unit=bytes group=Solver type=8 mode=17 scope=0\n"
	       "value s int -5\nvalue s int -9223372036854775807\n");
	VT_COUNT_UNSIGNED_VAL(u, 18446744073709551615ULL);
	EXPECT("metric \"u\" unit= group=Solver type=4 mode=17 scope=0\n"
	       "value u uint 18446744073709551615\n");
	VT_COUNT_FLOAT_VAL(f, 0.5f);
	EXPECT("metric \"f\" unit=m/s group=User type=10 mode=17 scope=0\nvalue f double 0.5\n");
	VT_COUNT_DOUBLE_VAL(d, 2.25);
	VT_COUNT_FLOAT_VAL(d, 3);
	EXPECT("metric \"d\" unit=- group=User type=10 mode=17 scope=0\n"
	       "value d double 2.25\nvalue d double 3\n");
	cr_expect_eq(s, VT_COUNT_DEF("s", "bytes", VT_COUNT_TYPE_SIGNED, group));
	cr_expect_neq(s, VT_COUNT_DEF("s", "bytes", VT_COUNT_TYPE_SIGNED, VT_COUNT_DEFGROUP));
	VT_OFF();
	VT_COUNT_SIGNED_VAL(s, 1);
	EXPECT("switch off\n");
}

Test(counter, unknown_group)
{
	unsigned int c = VT_COUNT_DEF("c", "1", VT_COUNT_TYPE_SIGNED, 4711);

	VT_COUNT_SIGNED_VAL(c, 1);
	EXPECT("message 1: VT_COUNT_DEF: no such id; the call is ignored\n"
	       "metric \"c\" unit=1 group=User type=8 mode=17 scope=0\nvalue c int 1\n");
}

Test(marker, all_types)
{
	unsigned int e = VT_MARKER_DEF("e", VT_MARKER_TYPE_ERROR);
	unsigned int w = VT_MARKER_DEF("w", VT_MARKER_TYPE_WARNING);
	unsigned int h = VT_MARKER_DEF("h", VT_MARKER_TYPE_HINT);

	VT_MARKER(e, "one");
	VT_MARKER(w, "two");
	VT_MARKER(h, NULL);
	VT_MARKER(h, "again");
	EXPECT("marker \"e\" group=Application severity=1\nmark e \"one\"\n"
	       "marker \"w\" group=Application severity=2\nmark w \"two\"\n"
	       "marker \"h\" group=Application severity=3\nmark h \"\"\nmark h \"again\"\n");
}

Test(message, all)
{
	unsigned int comm = VT_MSG_COMM_DEF("ring");

	cr_expect_eq(comm, VT_COMM_DEF("ring"));
	VT_MSG_SEND(comm, 7, 1024);
	VT_MSG_RECV(comm, 7, 1024);
	EXPECT("comm \"ring\" parent=0 paradigm=1 key=0\n"
	       "send ring tag=7 bytes=1024 extra=1\nrecv ring tag=7 bytes=1024 extra=1\n");
	VT_SEND(VT_COMM_WORLD, 0xffffffffu, 1ULL << 40);
	VT_RECV(VT_MSG_DEFCOMM, 8, 0);
	EXPECT("comm \"VT_COMM_WORLD\" parent=0 paradigm=1 key=0\n"
	       "send VT_COMM_WORLD tag=4294967295 bytes=1099511627776 extra=1\n"
	       "recv VT_COMM_WORLD tag=8 bytes=0 extra=1\n");
}

Test(comment, both)
{
	VT_COMMENT_DEF("about the run");
	VT_COMMENT("now");
	EXPECT("property comment=about the run\n"
	       "string \"now\"\ncomment \"now\" low=0 extra=1 0\n");
}

/* ---- the shape of the macros -------------------------------------------------------------------- */

Test(shape, single_statements_and_commas)
{
	unsigned int id = VT_USER_DEF("id", NULL, NULL, 0);
	int n = 0;

	if (n)
		VT_USER_START("a");
	else
		VT_USER_START("b");
	if (n)
		VT_USER_END("a");
	else
		VT_USER_END("b");
	for (n = 0; n < 2; n++, VT_USER_END2(id))
		VT_USER_START2(id);
	(VT_USER_START("c"), n++, VT_USER_END("c"));
	n > 0 ? VT_ON() : VT_OFF();
	cr_expect_eq(double_enters, 4);
	cr_expect_eq(double_leaves, 4);
}

/* ---- threads and signals ------------------------------------------------------------------------ */

#define THREADS 4
#define TURNS   20000

static void *define_and_use(void *arg)
{
	char name[32];

	(void)arg;
	for (int i = 0; i < TURNS; i++) {
		snprintf(name, sizeof(name), "t%d", i % 500);
		VT_USER_START("shared");
		VT_USER_START(name);
		VT_USER_END(name);
		VT_USER_END("shared");
	}
	return NULL;
}

Test(threads, same_names_at_once)
{
	pthread_t threads[THREADS];

	double_quiet = true;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, define_and_use, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	cr_expect_eq(double_enters, 2ul * THREADS * TURNS);
	cr_expect_eq(double_leaves, 2ul * THREADS * TURNS);
	cr_expect_geq(double_definitions, 501);
	cr_expect_leq(double_definitions, 501 * THREADS);
	double_quiet = false;
	double_end();
	EXPECT("");
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	char name[] = "handler 0";

	(void)sig;
	name[8] = (char)('0' + alarms % 10);
	VT_USER_START("handler");
	VT_USER_START(name);
	VT_USER_END(name);
	VT_USER_END("handler");
	alarms++;
}

Test(signals, handler_interrupts_the_api)
{
	struct itimerval every = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	char name[32];
	unsigned long own = 0;

	double_quiet = true;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; alarms < 2000; i++, own += 2) {
		snprintf(name, sizeof(name), "s%d", i % 5000);
		VT_USER_START("main");
		VT_USER_START(name);
		VT_USER_END(name);
		VT_USER_END("main");
	}
	setitimer(ITIMER_REAL, &never, NULL);
	cr_expect_eq(double_enters, own + 2ul * (unsigned long)alarms);
	cr_expect_eq(double_leaves, double_enters);
	double_quiet = false;
	double_end();
	EXPECT("");
}
