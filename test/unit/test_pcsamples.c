/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PC samples as text: several processes, periods that differ, launches, and lines that are none.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "report/source/samples.h"

static void parse(struct gt_pc_samples *s, const char *text)
{
	char *copy = strdup(text);

	gt_pc_samples_parse(s, copy);
	free(copy);
}

#define HEAD                                                                                       \
	"gputrace-pcsamples 1\nprocess 7 -1 host a\\x20program\nsampling x\ntotal 10 1 2 0\n"        \
	"reason 14 smsp__pcsamp_warps_issue_stalled_wait\n"                                          \
	"reason 15 smsp__pcsamp_warps_issue_stalled_wait_not_issued\n"                               \
	"reason 28 smsp__pcsamp_warps_issue_stalled_selected\n"

Test(pcsamples, one_process)
{
	struct gt_pc_samples s = { .period = 0 };

	parse(&s, HEAD "function ab 3 _Z4workPf\npc 10 1 16 0 14:5 15:3 28:1\npc 20 1 16 0 28:2\n");
	gt_pc_samples_finish(&s);
	cr_assert_eq(s.bad, 0);
	cr_assert_eq(s.all, 8, "what is not issued counts once");
	cr_assert_eq(s.function_count, 1);
	cr_assert_str_eq(s.functions[0].shown, "work(float*)");
	cr_assert_eq(s.functions[0].items[0].reasons[15], 3);
	cr_assert(s.reasons[15].not_issued);
	cr_assert_eq(s.reasons[15].base, 14);
	cr_assert_str_eq(s.reasons[14].name, "wait");
	cr_assert_str_eq(s.processes[0].program, "a program");
	cr_assert_eq(s.dropped, 1);
}

Test(pcsamples, processes_and_periods_are_added_up)
{
	struct gt_pc_samples s = { .period = 0 };

	parse(&s, HEAD "function ab 3 _Z4workPf\npc 20 1 16 0 14:5\n"
		       "function ab 4 other\npc 0 1 16 0 28:100\n");
	parse(&s, HEAD "function ab 3 _Z4workPf\npc 10 1 18 0 14:1\npc 20 1 18 0 14:2\n");
	gt_pc_samples_finish(&s);
	cr_assert_eq(s.bad, 0);
	cr_assert(s.mixed);
	cr_assert_eq(s.period, 16);
	cr_assert_str_eq(s.functions[0].name, "other", "most samples first");
	cr_assert_eq(s.functions[1].count, 2);
	cr_assert_eq(s.functions[1].items[0].offset, 0x10);
	cr_assert_eq(s.functions[1].items[0].all, 4, "a period four times as long");
	cr_assert_eq(s.functions[1].items[1].all, 5 + 8);
	cr_assert_eq(s.process_count, 2);
	cr_assert_eq(s.total, 20);
}

Test(pcsamples, launches)
{
	struct gt_pc_samples s = { .period = 0 };

	parse(&s, HEAD "function ab 3 small\npc 10 1 16 9 14:5 15:3\npc 20 1 16 9 28:1\npc 20 1 16 4 28:1\n"
		       "function ab 4 large\npc 0 1 16 9 28:100\n");
	gt_pc_samples_finish(&s);
	cr_assert_eq(s.launch_count, 3);
	cr_assert_eq(s.launches[0].correlation, 4);
	cr_assert_eq(s.launches[1].function, 0, "the larger one, which is first now");
	cr_assert_eq(s.launches[1].samples, 100);
	cr_assert_eq(s.launches[2].samples, 6);
}

Test(pcsamples, what_is_no_line_is_left_out)
{
	static const char *const lines[] = {
		"pc 10 1 16 0 14:5", "function zz 3 a", "function ab x a", "function ab 3", "reason 64 x",
		"reason -1 x", "total 1 2", "process", "process 99999999999 1 h p", "sampling",
		"what is this", " ", "\\x", "pc", "function ab 3 work\npc 10 1 16 0 99:5",
		"function ab 3 work\npc 10 1 16 0 14",
		"function ab 3 work\npc 10 1 4 0 14:5", "function ab 3 work\npc 10 1 32 0 14:5",
		"function ab 3 work\npc 10 1 16 0 14:99999999999999999999",
		"function ab 3 work\npc 10 1 16 0 14:-1",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct gt_pc_samples s = { .period = 0 };

		parse(&s, lines[i]);
		gt_pc_samples_finish(&s);
		cr_assert_eq(s.bad, 1, "%s", lines[i]);
		cr_assert_eq(s.all, 0, "%s", lines[i]);
	}
}
