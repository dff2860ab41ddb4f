/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call-heavy program: reads, folds and evaluates formulas of a small language again and again,
 * in calls of some ten nanoseconds each. usage: calls ROUNDS
 *
 * Limits: one thread; the formulas are fixed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "calls.h"

static const char *const formulas[] = {
	"x = (a + 3) * (b - 2 * 4) + 17 * c",
	"a = a * 1103 + 12345 - (x < b) * 7",
	"b = (b + x) * 3 - (a - (c + 1) * (d + 2)) * 5",
	"c = c + 1 < 100000 - d",
	"d = ((((d + 1) * 2 + 1) * 2 + 1) - x * x) * (a < c) + speed",
	"speed = speed + total * 2 - count",
	"total = total + x + a + b + c + d",
	"count = count + 1",
};

int main(int argc, char **argv)
{
	static struct calls_session session;
	long rounds = argc > 1 ? atol(argv[1]) : 20000;
	double t0 = bench_now();
	int64_t total;

	for (long i = 0; i < rounds; i++) {
		for (size_t f = 0; f < sizeof(formulas) / sizeof(formulas[0]); f++) {
			struct calls_session *s = &session;
			int64_t value;
			int target;

			s->at = formulas[f];
			s->used = s->named = 0;
			target = calls_read_name(s);
			calls_next(s); /* the '=' */
			value = calls_evaluate(s, calls_fold(s, calls_parse(s)));
			calls_find(s, s->names[target])->value = value;
		}
	}
	total = calls_find(&session, "total")->value;
	printf("rounds=%ld total=%ld calls_s=%.4f", rounds, (long)total, bench_now() - t0);
	bench_end();
	return 0;
}
